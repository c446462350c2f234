/* Which helper kernels a solution needs. See helper.h. */
#include "kernel/helper.h"

#include <string.h>

/* "Cijk_S", with _GB for arrays of pointers. */
static void base_name(const ProblemType *pt, Buf *b)
{
    buf_putc(b, 'C');
    for (int32_t i = 0; i < pt->NumIndicesC; i++) buf_putc(b, (char)('i' + i));
    buf_printf(b, "_%s%s", type_letter((DataType)pt->DestDataType), pt->StridedBatched ? "" : "_GB");
}

static Err add(Arena *a, Buf *name, bool post_gsu, bool ga, HelperKernel *out, size_t *n)
{
    TRY(buf_check(name));
    if (*n == HELPERS_MAX) FAIL(ERR_FAILED, "more than %d helper kernels for one solution", HELPERS_MAX);
    HelperKernel h = {arena_dup(a, buf_view(name)), post_gsu, ga};
    TRY_ALLOC(h.symbol.s);
    out[(*n)++] = h;
    return ERR_OK;
}

/* Names by the rule of Tensile's launcher, which looks at the compute type: unrolled by GSU where it is
 * known, one or two elements, one or more reducers. */
static Err post_gsu(Arena *a, const Solution *s, Buf *b, HelperKernel *out, size_t *n)
{
    const ProblemType *pt = s->pt;
    bool wide = pt->ComputeDataType == TYPE_S || pt->ComputeDataType == TYPE_D;
    bool unrolled = s->GlobalAccumulation == GACC_MULTIPLE && wide;
    int gsu = s->GlobalSplitU;
    for (int r = 1; r <= 4; r *= 2) {
        bool power = (gsu & (gsu - 1)) == 0;
        if (r > 1 && (!unrolled || !power || gsu < 32 * r)) continue;
        if (r == 2 && pt->ComputeDataType == TYPE_S) continue;
        int unit = 16 * r, mod = gsu % unit ? gsu % unit : unit;
        for (int vw = 1; vw <= (wide ? 2 : 1); vw++) {
            buf_reset(b);
            base_name(pt, b);
            buf_puts(b, "_PostGSU");
            if (unrolled) buf_printf(b, "%d", mod);
            if (unrolled && gsu > unit) buf_printf(b, "_mod%d", unit);
            if (vw > 1) buf_puts(b, "_VW2");
            if (r > 1) buf_printf(b, "_R%d", r);
            TRY(add(a, b, true, false, out, n));
        }
    }
    return ERR_OK;
}

static Err helpers(Arena *a, const Solution *s, Buf *b, HelperKernel *out, size_t *n)
{
    if (s->GlobalAccumulation != GACC_MULTIPLE) {
        bool ga = s->GlobalAccumulation == GACC_SINGLE;
        base_name(s->pt, b);
        if (ga) buf_puts(b, "_GA");
        TRY(add(a, b, false, ga, out, n));
    }
    if (s->GlobalAccumulation == GACC_SINGLE || s->GlobalAccumulation == GACC_MULTIPLE)
        return post_gsu(a, s, b, out, n);
    return ERR_OK;
}

Err kernel_helpers(Arena *a, const Solution *s, HelperKernel out[HELPERS_MAX], size_t *n)
{
    *n = 0;
    if (s->GlobalSplitU <= 1 && !(s->StreamK && s->StreamKAtomic)) return ERR_OK;
    Buf b;
    buf_init(&b);
    Err e = helpers(a, s, &b, out, n);
    buf_fini(&b);
    return e;
}

Err kernel_emit_helper(const ProblemType *pt, const Target *t, const HelperKernel *h, Buf *out)
{
    if (h->post_gsu) return kernel_emit_post_gsu(pt, t, h->symbol, out);
    return kernel_emit_beta_only(pt, t, h->ga, h->symbol, out);
}

bool helper_is_for_both(const ProblemType *pt, const Target *t, Str symbol)
{
    static const char end[] = "_PostGSU";
    const size_t n = sizeof end - 1;
    if (t->family == TARGET_NVPTX || pt->DestDataType != TYPE_H) return false;
    return symbol.n > n && memcmp(symbol.s + symbol.n - n, end, n) == 0;
}

bool helper_serves(const ProblemType *made_for, const ProblemType *pt, const Target *t, Str symbol)
{
    return made_for->ComputeDataType == pt->ComputeDataType || helper_is_for_both(pt, t, symbol);
}

int64_t helper_symbol_number(Str symbol, const char *part)
{
    size_t n = strlen(part);
    int64_t value = 1;
    for (size_t i = 0; i + n < symbol.n; i++) {
        if (memcmp(symbol.s + i, part, n)) continue;
        size_t end = str_find(symbol, '_', i + 1);
        if (str_to_i64(str_sub(symbol, i + n, end), &value) && value > 0) return value;
    }
    return 1;
}
