/* Packing: copies a block of A or B into panels as wide as the register tile, converting to the compute type,
 * with zeros behind the edge; panel after panel, and in a panel one row of width elements per k (complex A:
 * real parts, then imaginary parts; complex B: pairs). This is the host's load_tile from global into local
 * memory.
 */
#include "kernel/host/plan.h"

#include <stdio.h>

typedef struct {
    const HostPlan *p;
    bool b;     /* operand */
    int width;  /* of a panel */
    bool along; /* the panel's side is contiguous in memory, else k is */
    Buf *out;
} Pack;

/* Statement that stores element x (C text) of the current k from index expression at. */
static void pack_element(const Pack *k, const char *indent, const char *x, const char *at, bool zero)
{
    const HostPlan *p = k->p;
    if (p->parts == 1) {
        if (zero)
            buf_printf(k->out, "%so[%s] = 0;\n", indent, x);
        else
            buf_printf(k->out, "%so[%s] = @in(%s);\n", indent, x, at);
        return;
    }
    const char *minus = p->conj[k->b] ? "-" : "";
    for (int part = 0; part < 2; part++) {
        if (k->b)
            buf_printf(k->out, "%so[2 * (%s) + %d] = ", indent, x, part);
        else
            buf_printf(k->out, "%so[%s + %d] = ", indent, x, part * k->width);
        if (zero)
            buf_puts(k->out, "0;\n");
        else
            buf_printf(k->out, "%s(%s)[%d];\n", part ? minus : "", at, part);
    }
}

static void full_along(const Pack *k)
{
    const HostPlan *p = k->p;
    int row = k->width * p->parts;
    buf_printf(k->out,
               "            for (int64_t q = 0; q < k; q++, o += %d) {\n"
               "                const @TI *r = p + q * ld * %d;\n",
               row, p->parts);
    if (p->parts == 1 && k->width % p->vl == 0) {
        for (int x = 0; x < k->width; x += p->vl)
            buf_printf(k->out, "                @store(o + %d, @load_in(r + %d));\n", x, x);
    } else {
        buf_printf(k->out, "                for (int64_t x = 0; x < %d; x++) {\n", k->width);
        pack_element(k, "                    ", "x", p->parts == 2 ? "r + 2 * x" : "r[x]", false);
        buf_puts(k->out, "                }\n");
    }
    buf_puts(k->out, "            }\n");
}

/* k is contiguous: reads STRIPE rows of memory side by side, so that few streams are open at a time. */
static void full_across(const Pack *k)
{
    enum { STRIPE = 8 };
    const HostPlan *p = k->p;
    char x[24], at[64];
    for (int x0 = 0; x0 < k->width; x0 += STRIPE) {
        int n = k->width - x0 < STRIPE ? k->width - x0 : STRIPE;
        buf_printf(k->out,
                   "            {\n                @TC *const first = o;\n"
                   "                const @TI *r = p + %d * ld;\n"
                   "                for (int64_t q = 0; q < k; q++, o += %d) {\n",
                   x0 * p->parts, k->width * p->parts);
        for (int i = 0; i < n; i++) {
            snprintf(x, sizeof x, "%d", x0 + i);
            if (p->parts == 2)
                snprintf(at, sizeof at, "r + 2 * (q + %d * ld)", i);
            else
                snprintf(at, sizeof at, "r[q + %d * ld]", i);
            pack_element(k, "                    ", x, at, false);
        }
        buf_printf(k->out, "                }\n%s            }\n",
                   x0 + STRIPE < k->width ? "                o = first;\n"
                                          : "                (void)first;\n");
    }
}

static void partial_panel(const Pack *k)
{
    const HostPlan *p = k->p;
    const char *at = k->along ? (p->parts == 2 ? "p + 2 * (x + q * ld)" : "p[x + q * ld]")
                              : (p->parts == 2 ? "p + 2 * (q + x * ld)" : "p[q + x * ld]");
    buf_printf(k->out,
               "            for (int64_t q = 0; q < k; q++, o += %d) {\n"
               "                for (int64_t x = 0; x < w; x++) {\n",
               k->width * p->parts);
    pack_element(k, "                    ", "x", at, false);
    buf_printf(k->out, "                }\n                for (int64_t x = w; x < %d; x++) {\n", k->width);
    pack_element(k, "                    ", "x", "", true);
    buf_puts(k->out, "                }\n            }\n");
}

static void pack(const HostPlan *p, bool b, Buf *out)
{
    Pack k = {p, b, b ? p->nr : p->mr, b ? p->trans[1] : !p->trans[0], out};
    buf_printf(out,
               "\n/* %c: %s is contiguous in memory. */\n"
               "static void @pack_%c(const @TI *s, int64_t ld, int64_t n, int64_t k, @TC *restrict o)\n{\n"
               "    for (int64_t i = 0; i < n; i += %d) {\n"
               "        const int64_t w = n - i;\n"
               "        const @TI *p = s + i * %s%s;\n"
               "        if (w >= %d) {\n",
               b ? 'B' : 'A', k.along ? (b ? "N" : "M") : "K", b ? 'b' : 'a', k.width, k.along ? "" : "ld * ",
               p->parts == 2 ? "2" : "1", k.width);
    if (k.along)
        full_along(&k);
    else
        full_across(&k);
    buf_puts(out, "        } else {\n");
    partial_panel(&k);
    buf_puts(out, "        }\n    }\n}\n");
}

void host_packs(const HostPlan *p, Buf *out)
{
    if (p->pack[0]) pack(p, false, out);
    if (p->pack[1]) pack(p, true, out);
}
