/* Min and full names, hashes, file names. ShortNames are in naming_serial.c. */
#include "model/naming.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

bool param_in_names(const Param *p)
{
    return p->group == GROUP_FORK || p->group == GROUP_EXTRA || p->group == GROUP_HOST;
}

/* Always in front, or of no meaning for names. */
static bool never_in_min(int id)
{
    return id == PARAM_DepthU || id == PARAM_LdcEqualsLdd || id == PARAM_MatrixInstruction ||
           id == PARAM_CustomKernelName || id == PARAM_Fp16AltImpl || id == PARAM_Fp16AltImplRound;
}

/* Tensile leaves the name out for MACInstruction, as MatrixInstruction has the same letters. */
static void abbreviate(const Param *p, char out[ABBREVIATION_MAX])
{
    size_t n = 0;
    if (p->id == PARAM_MACInstruction) {
        out[0] = 0;
        return;
    }
    for (const char *c = p->name; *c && n + 1 < ABBREVIATION_MAX; c++)
        if (!islower((unsigned char)*c)) out[n++] = *c;
    out[n] = 0;
}

void namer_init(Namer *n, const ProblemType *pt)
{
    ParamId sorted[PARAM_COUNT];
    Buf b;
    memset(n, 0, sizeof *n);
    buf_init(&b);
    problem_type_name(pt, &b);
    buf_putc(&b, '_');
    size_t len = b.n < sizeof n->prefix ? b.n : sizeof n->prefix - 1;
    memcpy(n->prefix, buf_cstr(&b), len);
    buf_fini(&b);
    params_sorted(sorted);
    n->kernel_at = -1;
    for (int i = 0; i < PARAM_COUNT; i++) {
        const Param *p = param_at(sorted[i]);
        if (!param_in_names(p)) continue;
        if (n->kernel_at < 0 && strcmp(p->name, "Kernel") > 0) n->kernel_at = n->n_order;
        abbreviate(p, n->abbreviation[n->n_order]);
        n->order[n->n_order++] = sorted[i];
    }
}

void namer_note(Namer *n, const Solution *s)
{
    if (s->CustomKernelName.n) return;
    if (!n->has_first) {
        n->first = *s;
        n->has_first = true;
        return;
    }
    for (int i = 0; i < n->n_order; i++) {
        ParamId id = n->order[i];
        if (n->shown[id >> 6] >> (id & 63) & 1 || never_in_min((int)id) || !solution_has(&n->first, id))
            continue;
        if (!solution_has(s, id) || !param_equal(param_at(id), &n->first, s))
            n->shown[id >> 6] |= UINT64_C(1) << (id & 63);
    }
}

void namer_show_all(Namer *n)
{
    for (int i = 0; i < n->n_order; i++)
        if (n->order[i] != PARAM_CustomKernelName)
            n->shown[n->order[i] >> 6] |= UINT64_C(1) << (n->order[i] & 63);
}

static void put_int(Buf *out, int32_t v)
{
    if (v < 0) buf_putc(out, 'n');
    char digit[12];
    size_t n = sizeof digit;
    for (uint32_t u = v < 0 ? 0u - (uint32_t)v : (uint32_t)v; n == sizeof digit || u; u /= 10)
        digit[--n] = (char)('0' + u % 10);
    buf_add(out, digit + n, sizeof digit - n);
}

static void put_upper(Buf *out, Str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (isupper((unsigned char)s.s[i])) buf_putc(out, s.s[i]);
}

static void put_hundredths(Buf *out, int32_t v)
{
    if (v % 100 == 0) {
        put_int(out, v / 100);
        return;
    }
    buf_i64(out, v / 100);
    if (v > 0) buf_printf(out, "p%02d", v % 100);
}

static void put_list(Buf *out, const Param *p, const IntList *list)
{
    if (p->id == PARAM_ISA) {
        buf_printf(out, "%d%d%x", list->v[0], list->v[1], (unsigned)list->v[2]);
        return;
    }
    for (int32_t i = 0; i < list->n; i++) {
        if (i) buf_putc(out, '_');
        put_int(out, list->v[i]);
    }
}

static void put_value(Buf *out, const Param *p, const Solution *s)
{
    const void *f = solution_field_const(s, p);
    const IntMap *map = f;
    switch ((ParamKind)p->kind) {
    case KIND_BOOL:
        put_int(out, *(const int32_t *)f);
        break;
    case KIND_INT:
        if (*(const int32_t *)f == 0 && param_is_load_width(p))
            put_hundredths(out, 400 / type_bytes((DataType)s->pt->DataType));
        else
            put_int(out, *(const int32_t *)f);
        break;
    case KIND_FLOAT:
        put_hundredths(out, *(const int32_t *)f);
        break;
    case KIND_ENUM:
        if (p->id == PARAM_ForceStoreSC1 && *(const int32_t *)f != SC1_AUTO)
            put_int(out, *(const int32_t *)f);
        else
            put_upper(out, param_enum_name(p, *(const int32_t *)f));
        break;
    case KIND_LIST:
    case KIND_CHARS:
        put_list(out, p, f);
        break;
    case KIND_MAP:
        for (int32_t i = 0; i < map->n; i++) buf_printf(out, "%s%d%d", i ? "_" : "", map->key[i], map->v[i]);
        break;
    case KIND_STR:
        put_upper(out, *(const Str *)f);
        break;
    }
}

static void put_front(const Namer *n, const Solution *s, Buf *out)
{
    buf_puts(out, n->prefix);
    buf_puts(out, "MT");
    put_int(out, s->MacroTile0);
    buf_putc(out, 'x');
    put_int(out, s->MacroTile1);
    buf_putc(out, 'x');
    put_int(out, s->DepthU);
    buf_putc(out, '_');
    if (solution_has(s, PARAM_MatrixInstM)) {
        const int32_t v[4] = {s->MatrixInstM, s->MatrixInstN, s->MatrixInstK, s->MatrixInstB};
        for (int i = 0; i < 4; i++) {
            buf_puts(out, i ? "x" : "MI");
            put_int(out, v[i]);
        }
        buf_putc(out, '_');
    }
    if (solution_has(s, PARAM_LdcEqualsLdd)) buf_puts(out, s->LdcEqualsLdd ? "SE_" : "SN_");
}

void solution_name(const Namer *n, const Solution *s, NameKind kind, Buf *out)
{
    bool first = true;
    if (s->CustomKernelName.n) {
        buf_str(out, s->CustomKernelName);
        return;
    }
    put_front(n, s, out);
    for (int i = 0; i <= n->n_order; i++) {
        if (i == n->kernel_at && kind == NAME_KERNEL) {
            buf_puts(out, first ? "K1" : "_K1");
            first = false;
        }
        if (i == n->n_order) break;
        ParamId id = n->order[i];
        if (!(n->shown[id >> 6] >> (id & 63) & 1) || !solution_has(s, id)) continue;
        if (!first) buf_putc(out, '_');
        first = false;
        buf_puts(out, n->abbreviation[i]);
        put_value(out, param_at(id), s);
    }
}

void solution_name_full(const Solution *s, Buf *out)
{
    Namer n;
    namer_init(&n, s->pt);
    namer_show_all(&n);
    solution_name(&n, s, NAME_SOLUTION, out);
}

/* The rows of names are neighbours in Solution: FORK, EXTRA and the first of STATE; HOST rows are apart. Text
 * is hashed by content. */
Hash128 solution_hash(const Solution *s)
{
    enum {
        FROM = offsetof(Solution, LoopDoWhile),
        NAME = offsetof(Solution, CustomKernelName),
        REST = offsetof(Solution, NoReject),
        TO = offsetof(Solution, MatrixInstBM),
        HOST = offsetof(Solution, HostRepeatM),
        END = offsetof(Solution, HostPackB) + sizeof(int32_t)
    };
    _Static_assert(REST > NAME && NAME > FROM && TO > REST && HOST > TO, "order of params.def");
    _Static_assert(PARAM_HostPackB == PARAM_COUNT - 1, "order of params.def");
    const char *bytes = (const char *)s;
    struct {
        Hash128 head, rest, host, name;
    } all;
    memset(&all, 0, sizeof all);
    all.head = hash128((Str){bytes + FROM, NAME - FROM});
    all.rest = hash128((Str){bytes + REST, TO - REST});
    if (solution_has(s, PARAM_HostRepeatM)) all.host = hash128((Str){bytes + HOST, END - HOST});
    if (s->CustomKernelName.n) all.name = hash128(s->CustomKernelName);
    return hash128((Str){(const char *)&all, sizeof all});
}

void kernel_file_base(Str name, size_t max, Buf *out)
{
    char hash[45];
    if (name.n <= max) {
        buf_str(out, name);
        return;
    }
    size_t keep = max * 3 / 4;
    sha256_base64(str_sub(name, keep, name.n), hash);
    buf_str(out, str_sub(name, 0, keep));
    buf_puts(out, hash);
}
