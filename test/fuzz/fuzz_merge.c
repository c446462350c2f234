/* Fuzz target of merge and convert: the input is two logic files with a NUL between them (one: it is merged
 * with itself), and its first byte chooses policy and options. What merges must read again, merge with its
 * increment to itself (best, newer), and convert to efficiency and back without a fault. */
#include <stdlib.h>

#include "logic/convert.h"
#include "logic/merge.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static Str text_of(const Logic *l, Buf *b)
{
    buf_init(b);
    if (logic_emit(l, b)) abort();
    return buf_view(b);
}

static bool merge_texts(Arena *a, Str x, Str y, const MergeOptions *o, Buf *out)
{
    Logic lx, ly, merged;
    MergeReport r;
    Buf said;
    buf_init(&said);
    bool ok = !logic_parse(a, "x", x, NULL, &lx) && !logic_parse(a, "y", y, NULL, &ly) &&
              !logic_merge(a, &lx, &ly, o, &merged, &r, &said);
    buf_fini(&said);
    if (!ok) return false;
    if (r.changed)
        (void)text_of(&merged, out);
    else
        buf_init(out), buf_str(out, x);
    return true;
}

static void convert_text(Arena *a, Str text, unsigned choice)
{
    Logic l;
    ConvertReport r;
    Buf b;
    ConvertOptions o = {.to = choice & 1 ? UNIT_EFFICIENCY : UNIT_GFLOPS,
                        .sclk_mhz = 1000,
                        .n_cu = choice & 2 ? 60 : 0,
                        .flops_per_cycle = choice & 4 ? 128 : 0,
                        .trim = choice & 8,
                        .remove_unused = choice & 16,
                        .reindex = choice & 32};
    if (size_predicate_parse(STR("m>=2,k%2==0"), choice & 64 ? &o.keep : &o.remove)) abort();
    if (logic_parse(a, "c", text, NULL, &l)) abort();
    if (logic_convert(a, &l, &o, &r)) return;
    Str out = text_of(&l, &b);
    if (logic_parse(a, "converted", out, NULL, &l)) abort();
    buf_fini(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena a;
    Buf one, two;
    if (size < 2) return 0;
    unsigned choice = data[0];
    Str whole = {(const char *)data + 1, size - 1}, x = whole, y = whole;
    for (size_t i = 0; i < whole.n && y.n == whole.n; i++)
        if (!whole.s[i]) x = str_sub(whole, 0, i), y = str_sub(whole, i + 1, whole.n);
    MergeOptions o = {.policy = (MergePolicy)(choice % 3), .keep_long = choice & 4, .tags = choice & 8};
    o.same_units = true;
    o.verbosity = 2;
    arena_init(&a, (size_t)512 << 20);
    if (merge_texts(&a, x, y, &o, &one)) {
        if (!merge_texts(&a, buf_view(&one), y, &o, &two)) abort();
        if (o.policy != MERGE_TENSILE && !str_eq(buf_view(&one), buf_view(&two))) abort();
        convert_text(&a, buf_view(&one), (unsigned)data[size - 1]);
        buf_fini(&one);
        buf_fini(&two);
    }
    arena_fini(&a);
    return 0;
}
