/* NonTemporal's bits as cache hints of nvptx. On AMD bit 0 (glc) passes the compute unit's cache by and bit 1
 * (slc) streams through the L2; the same here:
 *
 *     1   L1::no_allocate                        no line of L1
 *     2   cs                                     first to be evicted, from L1 and L2
 *     3   L1::no_allocate, L2::cache_hint with a policy of evict_first
 *
 * (PTX ISA 9.7.9, ld and st.) Loads and stores of whole vectors have them; those of edges, which are element
 * by element and few, and sums that are added in place are plain.
 */
#include "kernel/nvptx/hint.h"
#include "kernel/text.h"

static const struct {
    const char *how, *policy; /* policy: behind the address */
} hints[] = {{"", ""}, {"L1::no_allocate", ""}, {"cs", ""}, {"L1::no_allocate.L2::cache_hint", ", policy"}};
enum { N_HINTS = sizeof hints / sizeof *hints };

/* Vectors of 4 to 16 bytes, then what is narrower than a register of the asm statement's. */
static const struct {
    int bytes, words;
    const char *type, *text;
} sizes[] = {
    {16, 4, "v4.b32", "{%0, %1, %2, %3}"},
    {8, 2, "v2.b32", "{%0, %1}"},
    {4, 1, "b32", "%0"},
    {2, 0, "b16", "%0"},
    {1, 0, "b8", "%0"},
};
enum { N_SIZES = sizeof sizes / sizeof *sizes };

static void policy(int h, Buf *out)
{
    if (*hints[h].policy)
        buf_puts(
            out,
            "        unsigned long long policy;\n        asm(\"createpolicy.fractional.L2::evict_first.b64 "
            "%0, 1.0;\" : \"=l\"(policy));\n");
}

/* Operands of size i, from operand 0 on: "=r"(x.v[0]), ... */
static void operands(int i, const char *mode, Buf *out)
{
    for (int k = 0; k < sizes[i].words; k++) buf_printf(out, "%s\"%sr\"(x.v[%d])", k ? ", " : "", mode, k);
    if (!sizes[i].words) buf_printf(out, "\"%sh\"(h)", mode);
}

static void load(int h, int i, Buf *out)
{
    int n = sizes[i].words ? sizes[i].words : 1;
    buf_printf(out, "    static @DEV void load(@Raw<%d> &x, const void *p)\n    {\n", sizes[i].bytes);
    policy(h, out);
    if (!sizes[i].words) buf_puts(out, "        unsigned short h;\n");
    buf_printf(out, "        asm(\"ld.global.%s.%s %s, [%%%d]", hints[h].how, sizes[i].type, sizes[i].text,
               n);
    if (*hints[h].policy) buf_printf(out, ", %%%d", n + 1);
    buf_puts(out, ";\" : ");
    operands(i, "=", out);
    buf_printf(out, " : \"l\"(p)%s);\n", *hints[h].policy ? ", \"l\"(policy)" : "");
    if (!sizes[i].words) buf_puts(out, "        x.v[0] = h;\n");
    buf_puts(out, "    }\n");
}

static void store(int h, int i, Buf *out)
{
    int n = sizes[i].words ? sizes[i].words : 1;
    buf_printf(out, "    static @DEV void store(void *p, const @Raw<%d> &x)\n    {\n", sizes[i].bytes);
    policy(h, out);
    if (!sizes[i].words) buf_puts(out, "        const unsigned short h = x.v[0];\n");
    buf_printf(out, "        asm(\"st.global.%s.%s [%%%d]", hints[h].how, sizes[i].type, n);
    buf_printf(out, ", %s", sizes[i].text);
    if (*hints[h].policy) buf_printf(out, ", %%%d", n + 1);
    buf_puts(out, ";\" :: ");
    operands(i, "", out);
    buf_printf(out, ", \"l\"(p)%s : \"memory\");\n    }\n", *hints[h].policy ? ", \"l\"(policy)" : "");
}

void nvptx_hints(const GpuPlan *p, Buf *out)
{
    if (!p->main) return;
    const int given[] = {p->op[0].hint, p->op[1].hint, p->hint_c, p->hint_d};
    bool used[N_HINTS] = {false}, any = false;
    for (int i = 0; i < 4; i++) {
        int h = given[i] % N_HINTS;
        used[h] = true;
        any = any || h;
    }
    if (!any) return;
    buf_puts(out, "template <int BYTES> struct @Raw { unsigned v[BYTES / 4]; };\n"
                  "template <> struct @Raw<2> { unsigned short v[1]; };\n"
                  "template <> struct @Raw<1> { unsigned char v[1]; };\n"
                  "template <int HINT> struct @Hint;\n");
    for (int h = 1; h < N_HINTS; h++) {
        if (!used[h]) continue;
        buf_printf(out, "template <> struct @Hint<%d> {\n", h);
        for (int i = 0; i < N_SIZES; i++) load(h, i, out);
        for (int i = 0; i < N_SIZES; i++) store(h, i, out);
        buf_puts(out, "};\n");
    }
    /* a type's alignment says how much of it one instruction can move */
    kernel_text_put("nvptx/hints.cuh", out);
}
