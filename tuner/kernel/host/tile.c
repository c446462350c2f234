/* Register tiles: one function per shape that multiplies a stripe of A with a stripe of B over k and stores
 * the result. Lowers the innermost ops of the program: init_tile, the loop over k with its loads, prefetches
 * and tile_mma, epilogue.
 *
 * direct tiles hold D's own type in vector registers and are written in full and masked shapes, so edges cost
 * no copies. staged tiles (16-bit D, complex) put their sums in memory and a scalar epilogue converts; panels
 * are padded there, so one shape is enough.
 */
#include "kernel/host/plan.h"

#include <stdio.h>

typedef struct {
    const HostPlan *p;
    const Op *loop; /* over k */
    int mv, nr, split, unroll, distance;
    bool masked;
    Buf *out;
} TileText;

static const char *const part_name[2] = {"r", "i"};
enum { NAME_BYTES = 64 }; /* of a C variable */

/* Accumulator of split l, column j, vector i; complex: part. */
static void acc(const TileText *t, int l, int i, int j, int part, char name[NAME_BYTES])
{
    snprintf(name, NAME_BYTES, "c%s%d_%d_%d", t->p->parts == 2 ? part_name[part] : "", l, i, j);
}

static void init_tile(const TileText *t)
{
    char c[NAME_BYTES];
    for (int l = 0; l < t->split; l++)
        for (int j = 0; j < t->nr; j++) {
            buf_puts(t->out, "    @V ");
            for (int i = 0; i < t->mv; i++)
                for (int part = 0; part < t->p->parts; part++) {
                    acc(t, l, i, j, part, c);
                    buf_printf(t->out, "%s%s = {0}", i + part ? ", " : "", c);
                }
            buf_puts(t->out, ";\n");
        }
    if (t->p->pack[1] || t->p->trans[1]) return;
    for (int j = 4; j < t->nr; j += 4) buf_printf(t->out, "    const @TC *b%d = b + %d * ldb;\n", j, j);
}

/* Element j of B at step s. */
static void b_element(const TileText *t, int s, int j, int part, char text[64])
{
    const HostPlan *p = t->p;
    if (p->pack[1])
        snprintf(text, 64, "b[%d]", (s * p->nr + j) * p->parts + part);
    else if (p->trans[1] && s)
        snprintf(text, 64, "b[%d * ldb + %d]", s, j);
    else if (p->trans[1])
        snprintf(text, 64, "b[%d]", j);
    else {
        char base[16] = "b", col[24] = "";
        if (j >= 4) snprintf(base, sizeof base, "b%d", j / 4 * 4);
        if (j % 4) snprintf(col, sizeof col, " + %d * ldb", j % 4);
        snprintf(text, 64, "%s[%d%s]", base, s, col);
    }
}

static void load_a(const TileText *t, int s)
{
    const HostPlan *p = t->p;
    for (int i = 0; i < t->mv; i++)
        for (int part = 0; part < p->parts; part++) {
            const char *name = p->parts == 2 ? part_name[part] : "";
            buf_printf(t->out, "            const @V a%s%d = ", name, i);
            if (p->pack[0])
                buf_printf(t->out, "@load(a + %d);\n", s * p->mr * p->parts + part * p->mr + i * p->vl);
            else if (t->masked && i == t->mv - 1)
                buf_printf(t->out, "@load_n(a + %d * lda + %d, w);\n", s, i * p->vl);
            else
                buf_printf(t->out, "@load(a + %d * lda + %d);\n", s, i * p->vl);
        }
}

static void mma(const TileText *t, int l, int s)
{
    const HostPlan *p = t->p;
    char b[64], c[NAME_BYTES], ci[NAME_BYTES];
    for (int j = 0; j < t->nr; j++) {
        buf_puts(t->out, "            {\n");
        for (int part = 0; part < p->parts; part++) {
            b_element(t, s, j, part, b);
            buf_printf(t->out, "                const @V b%s = @set(%s);\n",
                       p->parts == 2 ? part_name[part] : "_", b);
        }
        for (int i = 0; i < t->mv; i++) {
            acc(t, l, i, j, 0, c);
            if (p->parts == 1) {
                buf_printf(t->out, "                %s = @fma(a%d, b_, %s);\n", c, i, c);
                continue;
            }
            acc(t, l, i, j, 1, ci);
            buf_printf(t->out,
                       "                %s = @fnma(ai%d, bi, @fma(ar%d, br, %s));\n"
                       "                %s = @fma(ar%d, bi, @fma(ai%d, br, %s));\n",
                       c, i, i, c, ci, i, i, ci);
        }
        buf_puts(t->out, "            }\n");
    }
}

/* The program's update_tile_offset: n steps of k further. */
static void advance(const TileText *t, int n)
{
    const HostPlan *p = t->p;
    if (p->pack[0])
        buf_printf(t->out, "        a += %d;\n", n * p->mr * p->parts);
    else
        buf_printf(t->out, "        a += %d * lda;\n", n);
    if (p->pack[1])
        buf_printf(t->out, "        b += %d;\n", n * p->nr * p->parts);
    else if (p->trans[1])
        buf_printf(t->out, "        b += %d * ldb;\n", n);
    else {
        buf_printf(t->out, "        b += %d;\n", n);
        for (int j = 4; j < t->nr; j += 4) buf_printf(t->out, "        b%d += %d;\n", j, n);
    }
}

static void prefetch_a(const TileText *t, int s)
{
    const HostPlan *p = t->p;
    if (!t->distance) return;
    int line = 64 / p->compute.bytes, row = t->mv * p->vl * p->parts;
    for (int x = 0; x < row; x += line) {
        if (p->pack[0])
            buf_printf(t->out, "            __builtin_prefetch(a + %d);\n",
                       (s + t->distance) * p->mr * p->parts + x);
        else
            buf_printf(t->out, "            __builtin_prefetch(a + %d * lda + %d);\n", s + t->distance, x);
    }
}

static void k_loop(const TileText *t)
{
    int steps = t->split * t->unroll;
    if (steps > 1) {
        buf_printf(t->out, "    for (; k >= %d; k -= %d) {\n", steps, steps);
        for (int s = 0; s < steps; s++) {
            buf_puts(t->out, "        {\n");
            prefetch_a(t, s);
            load_a(t, s);
            mma(t, s % t->split, s);
            buf_puts(t->out, "        }\n");
        }
        advance(t, steps);
        buf_puts(t->out, "    }\n");
    }
    buf_puts(t->out, "    for (; k > 0; k--) {\n        {\n");
    prefetch_a(t, 0);
    load_a(t, 0);
    mma(t, 0, 0);
    buf_puts(t->out, "        }\n");
    advance(t, 1);
    buf_puts(t->out, "    }\n");
    char c[NAME_BYTES], cl[NAME_BYTES];
    for (int l = 1; l < t->split; l++)
        for (int j = 0; j < t->nr; j++)
            for (int i = 0; i < t->mv; i++)
                for (int part = 0; part < t->p->parts; part++) {
                    acc(t, 0, i, j, part, c);
                    acc(t, l, i, j, part, cl);
                    buf_printf(t->out, "    %s += %s;\n", c, cl);
                }
}

static void prefetch_c(const TileText *t)
{
    const HostPlan *p = t->p;
    int line = 64 / p->compute.bytes, rows = t->mv * p->vl;
    for (int j = 0; j < t->nr; j++)
        for (int x = 0; x < rows; x += line)
            buf_printf(t->out, "    __builtin_prefetch(d + %d * ldd + %d, 1);\n", j, x);
}

static void epilogue_direct(const TileText *t)
{
    const HostPlan *p = t->p;
    char c[NAME_BYTES];
    buf_puts(t->out, "    const @V alpha = @set(ab[0]), beta = @set(ab[1]);\n");
    for (int reads_c = 0; reads_c < 2; reads_c++) {
        buf_puts(t->out, reads_c ? "    } else {\n" : "    if (ab[1] == 0) {\n");
        for (int j = 0; j < t->nr; j++)
            for (int i = 0; i < t->mv; i++) {
                bool part = t->masked && i == t->mv - 1;
                acc(t, 0, i, j, 0, c);
                buf_printf(t->out, "        %s(d + %d * ldd + %d, ", part ? "@store_n" : "@store", j,
                           i * p->vl);
                if (reads_c)
                    buf_printf(t->out, "@fma(beta, %s(c + %d * ldc + %d%s), alpha * %s)",
                               part ? "@load_n" : "@load", j, i * p->vl, part ? ", w" : "", c);
                else
                    buf_printf(t->out, "alpha * %s", c);
                buf_puts(t->out, part ? ", w);\n" : ");\n");
            }
    }
    buf_puts(t->out, "    }\n");
}

/* Sums of a staged tile go to s, column by column (complex: real part, then imaginary part of a column). */
static void store_staged(const TileText *t)
{
    const HostPlan *p = t->p;
    char c[NAME_BYTES];
    for (int j = 0; j < t->nr; j++)
        for (int part = 0; part < p->parts; part++)
            for (int i = 0; i < t->mv; i++) {
                int at = (j * p->parts + part) * p->mr + i * p->vl;
                acc(t, 0, i, j, part, c);
                if (host_plan_keeps_sums(p))
                    buf_printf(t->out, "    @store(s + %d, more ? %s + @load(s + %d) : %s);\n", at, c, at, c);
                else
                    buf_printf(t->out, "    @store(s + %d, %s);\n", at, c);
            }
}

static void tile(TileText *t, bool prefetches_c)
{
    const HostPlan *p = t->p;
    buf_printf(t->out,
               "\nstatic __attribute__((noinline)) void @tile%s_%d_%d(int64_t k, const @TC *a, int64_t lda, "
               "const @TC *b, int64_t ldb,\n    ",
               t->masked ? "_part" : "", t->mv, t->nr);
    if (p->direct)
        buf_puts(t->out, "const @TC *ab, const @TD *c, int64_t ldc, @TD *d, int64_t ldd, int64_t w)\n{\n");
    else
        buf_puts(t->out, "@TC *s, int more)\n{\n");
    buf_puts(t->out, "    (void)lda, (void)ldb;\n");
    if (p->direct && !t->masked) buf_puts(t->out, "    (void)w;\n");
    if (!p->direct && !host_plan_keeps_sums(p)) buf_puts(t->out, "    (void)more;\n");
    init_tile(t);
    if (prefetches_c && p->direct) prefetch_c(t);
    k_loop(t);
    if (p->direct)
        epilogue_direct(t);
    else
        store_staged(t);
    buf_puts(t->out, "}\n");
}

static void tile_table(const HostPlan *p, Buf *out)
{
    buf_puts(out, "\ntypedef void (*@Tile)(int64_t, const @TC *, int64_t, const @TC *, int64_t, const @TC *, "
                  "const @TD *,\n"
                  "    int64_t, @TD *, int64_t, int64_t);\n");
    buf_printf(out, "static const @Tile @tiles[%d][%d] = {\n", p->mv, p->nr);
    for (int i = 1; i <= p->mv; i++) {
        buf_puts(out, "    {");
        for (int j = 1; j <= p->nr; j++) buf_printf(out, "%s@tile_part_%d_%d", j > 1 ? ", " : "", i, j);
        buf_puts(out, "},\n");
    }
    buf_puts(out, "};\n");
}

/* Scalar epilogue of staged tiles. */
static void finish_staged(const HostPlan *p, Buf *out)
{
    buf_puts(out, "\nstatic void @finish(const @TC *s, int64_t m, int64_t n, const @TC *ab, const @TD *c, "
                  "int64_t ldc,\n"
                  "    @TD *d, int64_t ldd)\n{\n"
                  "    for (int64_t j = 0; j < n; j++)\n        for (int64_t i = 0; i < m; i++) {\n");
    if (p->parts == 1)
        buf_printf(out,
                   "            @TC v = ab[0] * s[j * %d + i];\n"
                   "            if (ab[1] != 0) v += ab[1] * @from(c[i + j * ldc]);\n"
                   "            d[i + j * ldd] = @to(v);\n",
                   p->mr);
    else
        buf_printf(out,
                   "            const @TC r = s[j * %d + i], q = s[j * %d + %d + i];\n"
                   "            @TC vr = ab[0] * r - ab[1] * q, vi = ab[0] * q + ab[1] * r;\n"
                   "            if (ab[2] != 0 || ab[3] != 0) {\n"
                   "                const @TD *e = c + 2 * (i + j * ldc);\n"
                   "                const @TC cr = e[0], ci = e[1];\n"
                   "                vr += ab[2] * cr - ab[3] * ci;\n"
                   "                vi += ab[2] * ci + ab[3] * cr;\n"
                   "            }\n"
                   "            d[2 * (i + j * ldd)] = vr;\n"
                   "            d[2 * (i + j * ldd) + 1] = vi;\n",
                   2 * p->mr, 2 * p->mr, p->mr);
    buf_puts(out, "        }\n}\n");
}

/* The innermost loop over k of a program: the one that multiplies register tiles. */
static const Op *lane_loop(const Op *list)
{
    for (const Op *o = list; o; o = o->next) {
        if (o->kind != OP_LOOP) continue;
        if (o->level == LEVEL_LANE) return o;
        const Op *found = lane_loop(o->body);
        if (found) return found;
    }
    return NULL;
}

void host_tiles(const HostPlan *p, const Program *program, Buf *out)
{
    const Op *loop = lane_loop(program->body), *ahead = loop ? op_find(loop->body, OP_PREFETCH_TILE) : NULL;
    if (!loop) return;
    TileText t = {.p = p,
                  .loop = loop,
                  .mv = p->mv,
                  .nr = p->nr,
                  .split = loop->split,
                  .unroll = loop->unroll,
                  .distance = ahead ? ahead->distance : 0,
                  .out = out};
    tile(&t, p->prefetch_global > 0);
    if (!p->direct) {
        finish_staged(p, out);
        return;
    }
    if (!p->edges) return;
    t.masked = true;
    t.unroll = 1;
    t.distance = 0;
    for (t.mv = 1; t.mv <= p->mv; t.mv++)
        for (t.nr = 1; t.nr <= p->nr; t.nr++) tile(&t, false);
    tile_table(p, out);
}
