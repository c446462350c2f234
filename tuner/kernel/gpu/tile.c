/* What all threads of a work-group share: struct @Tile, and where the tile's rows and columns are when it
 * overhangs D. */
#include "kernel/gpu/gpu.h"
#include "kernel/text.h"

/* Vectors of so many elements that straddle the edge were read from the edge back (GpuOperand.shift). */
static void near(const GpuPlan *p, int i, Buf *out)
{
    const char *name = i ? "col" : "row";
    char size = i ? 'n' : 'm';
    int shift = p->op[i].shift;
    buf_printf(out, "@DEV unsigned @near_%s(const @Tile &t, unsigned r)\n{\n", name);
    if (shift > 1)
        buf_printf(out,
                   "    const unsigned vector = t.%c0 + r / %d * %d, last = t.%c - %d;\n"
                   "    if (!t.slow && vector < t.%c && vector > last) return last + r %% %d;\n",
                   size, shift, shift, size, shift, size, shift);
    buf_printf(out, "    return t.%c0 + r < t.%c ? t.%c0 + r : t.%c - 1;\n}\n", size, size, size, size);
}

static void edge(const GpuPlan *p, int i, Buf *out)
{
    const char *name = i ? "col" : "row";
    char size = i ? 'n' : 'm';
    int shift = p->op[i].shift;
    buf_printf(out, "@DEV unsigned @edge_%s(const @Tile &t, unsigned r)\n{\n", name);
    if (shift > 1)
        buf_printf(out,
                   "    const unsigned vector = t.%c0 + r / %d * %d, last = t.%c - %d;\n"
                   "    if (!t.slow && vector < t.%c && vector > last)\n"
                   "        return last + r %% %d >= vector ? last + r %% %d : ~0u;\n",
                   size, shift, shift, size, shift, size, shift, shift);
    buf_printf(out, "    return t.%c0 + r < t.%c ? t.%c0 + r : ~0u;\n}\n", size, size, size);
}

void gpu_tile(const GpuPlan *p, Buf *out)
{
    kernel_text_put("gpu/tile.h", out);
    for (int i = 0; i < 2; i++) {
        near(p, i, out);
        edge(p, i, out);
    }
}
