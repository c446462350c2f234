/* Work-groups: kernel arguments, the loop nest around the register tiles, and the exported function.
 * Lowers the program's outer ops; see kernel.h for the ABI and tensile-formats 8.3 for the arguments' order.
 */
#include "kernel/host/plan.h"

#include <string.h>

#include <stdio.h>

enum { WALK_NODES = 256 };

/* ---- kernel arguments ---- */

typedef struct {
    Buf *out;
    int64_t at;
} ArgText;

static void arg(ArgText *t, const char *type, const char *field, int bytes)
{
    t->at = (t->at + bytes - 1) / bytes * bytes;
    buf_printf(t->out, "    { %s x; memcpy(&x, p + %lld, sizeof x); g->%s = x; }\n", type, (long long)t->at,
               field);
    t->at += bytes;
}

static void scalar_arg(ArgText *t, const HostPlan *p, int first)
{
    char field[16];
    int64_t size = p->scalar.bytes * p->parts;
    t->at = (t->at + size - 1) / size * size;
    for (int part = 0; part < p->parts; part++) {
        snprintf(field, sizeof field, "ab[%d]", first * p->parts + part);
        if (p->scalar.bytes == 2) {
            buf_printf(t->out, "    { uint16_t x; memcpy(&x, p + %lld, 2); g->%s = @in(x); }\n",
                       (long long)t->at, field);
            t->at += 2;
        } else
            arg(t, "@TC", field, p->scalar.bytes);
    }
}

static void stride_args(ArgText *t, const HostPlan *p, char tensor)
{
    char field[16];
    snprintf(field, sizeof field, "ld%c", tensor);
    arg(t, "uint32_t", field, 4);
    if (!p->batched) return;
    snprintf(field, sizeof field, "batch%c", tensor);
    arg(t, "uint32_t", field, 4);
}

void host_args(const HostPlan *p, Buf *out)
{
    ArgText t = {out, 0};
    buf_puts(out, "\ntypedef struct {\n    void *d, *c, *a, *b;\n    int64_t offd, offc, offa, offb;\n"
                  "    int64_t ldd, ldc, lda, ldb, batchd, batchc, batcha, batchb, m, n, batch, k;\n");
    buf_printf(out, "    @TC ab[%d];\n} @Args;\n\nstatic void @args(const char *p, @Args *g)\n{\n",
               2 * p->parts);
    buf_puts(out, "    memset(g, 0, sizeof *g);\n    g->batch = 1;\n");
    static const char *const pointers[] = {"d", "c", "a", "b"}, *const offsets[] = {"offd", "offc", "offa",
                                                                                    "offb"};
    for (int i = 0; i < 4; i++) arg(&t, "void *", pointers[i], 8);
    if (!p->strided)
        for (int i = 0; i < 4; i++) arg(&t, "int64_t", offsets[i], 8);
    scalar_arg(&t, p, 0);
    if (p->use_beta) scalar_arg(&t, p, 1);
    for (int i = 0; i < 4; i++) stride_args(&t, p, "dcab"[i]);
    arg(&t, "uint32_t", "m", 4);
    arg(&t, "uint32_t", "n", 4);
    if (p->batched) arg(&t, "uint32_t", "batch", 4);
    arg(&t, "uint32_t", "k", 4);
    if (p->gsu > 1) {
        bool complex = p->parts == 2;
        if (p->gsu_multiple)
            buf_printf(out, "    memset(g->ab, 0, sizeof g->ab);\n    g->ab[0] = 1; /* PostGSU scales */\n");
        else
            buf_printf(out,
                       "    g->c = g->d, g->ldc = g->ldd, g->batchc = g->batchd, g->offc = g->offd;\n"
                       "    g->ab[%d] = 1; /* the beta-only kernel has been here */\n%s",
                       p->parts, complex ? "    g->ab[3] = 0;\n" : "");
    }
    buf_puts(out, "}\n");
}

/* ---- the loop nest ---- */

typedef struct {
    const HostPlan *p;
    const Program *program;
    Buf *out;
    int indent;
} NestText;

static void open_loop(NestText *t, const Op *o)
{
    if (o->level ==
        LEVEL_GROUP) { /* over K: DepthU chunks of this part, at least one so that D is always written */
        buf_line(t->out, t->indent, "const @TD *C = C0;");
        buf_line(t->out, t->indent, "int64_t ldc = g->ldc;");
        buf_line(t->out, t->indent, "@TC ab[%d];", 2 * t->p->parts);
        buf_line(t->out, t->indent, "memcpy(ab, g->ab, sizeof ab);");
        buf_line(t->out, t->indent, "for (int64_t chunk = first, left = count;; chunk += step) {");
        t->indent++;
        buf_line(t->out, t->indent, "const int64_t k0 = chunk * %d, kc = left > 0 ? @min(g->k - k0, %d) : 0;",
                 o->step, o->step);
        return;
    }
    bool block = o->level == LEVEL_BLOCK;
    static const char *const block_names[] = {"m0", "n0"}, *const block_sizes[] = {"mc", "nc"};
    static const char *const tile_names[] = {"i", "j"}, *const tile_sizes[] = {"mr", "nr"};
    const char *name = block ? block_names[o->dim] : tile_names[o->dim];
    const char *size = block ? block_sizes[o->dim] : tile_sizes[o->dim];
    const char *limit = block ? (o->dim == DIM_M ? "mt" : "nt") : block_sizes[o->dim];
    buf_line(t->out, t->indent, "for (int64_t %s = 0; %s < %s; %s += %d) {", name, name, limit, name,
             o->step);
    t->indent++;
    buf_line(t->out, t->indent, "const int64_t %s = @min(%s - %s, %d);", size, limit, name, o->step);
}

static void close_loop(NestText *t, const Op *o)
{
    const HostPlan *p = t->p;
    if (o->level == LEVEL_GROUP) {
        buf_line(t->out, t->indent, "if (--left <= 0) break;");
        if (!host_plan_keeps_sums(p)) {
            buf_line(t->out, t->indent, "C = D, ldc = g->ldd; /* the next chunk adds to this one */");
            buf_line(t->out, t->indent, "memset(ab + %d, 0, %d * sizeof ab[0]);", p->parts, p->parts);
            buf_line(t->out, t->indent, "ab[%d] = 1;", p->parts);
        }
    }
    t->indent--;
    buf_line(t->out, t->indent, "}");
}

/* Block of A or B to its packed buffer. */
static void load_local(NestText *t, const Op *o)
{
    const HostPlan *p = t->p;
    bool b = t->program->tile[o->tile[0]].operand == 'B';
    const char *x = p->parts == 2 ? "2 * " : "";
    if (b)
        buf_line(t->out, t->indent, "@pack_b(B + %s(%s), g->ldb, nc, kc, lb);", x,
                 p->trans[1] ? "n0 + k0 * g->ldb" : "k0 + n0 * g->ldb");
    else
        buf_line(t->out, t->indent, "@pack_a(A + %s(%s), g->lda, mc, kc, la);", x,
                 p->trans[0] ? "k0 + m0 * g->lda" : "m0 + k0 * g->lda");
}

static void staged_call(NestText *t)
{
    const HostPlan *p = t->p;
    if (host_plan_keeps_sums(p)) {
        buf_line(t->out, t->indent, "@TC *s = sums + ((j / %d) * ((mt + %d) / %d) + (m0 + i) / %d) * %d;",
                 p->nr, p->mr - 1, p->mr, p->mr, p->mr * p->nr);
        buf_line(t->out, t->indent, "@tile_%d_%d(kc, ap, g->lda, bp, g->ldb, s, left < count);", p->mv,
                 p->nr);
        buf_line(t->out, t->indent,
                 "if (left <= 1) @finish(s, mr, nr, ab, C + m0 + i + (n0 + j) * ldc, ldc,");
        buf_line(t->out, t->indent, "                       D + m0 + i + (n0 + j) * g->ldd, g->ldd);");
        return;
    }
    buf_line(t->out, t->indent, "@tile_%d_%d(kc, ap, g->lda, bp, g->ldb, sums, 0);", p->mv, p->nr);
    buf_line(t->out, t->indent, "@finish(sums, mr, nr, ab, C + 2 * (m0 + i + (n0 + j) * ldc), ldc,");
    buf_line(t->out, t->indent, "        D + 2 * (m0 + i + (n0 + j) * g->ldd), g->ldd);");
}

/* The body of the subgroup loops: a call of a register tile. */
static void tile_call(NestText *t)
{
    const HostPlan *p = t->p;
    if (p->pack[0])
        buf_line(t->out, t->indent, "const @TC *ap = la + i * kc%s;", p->parts == 2 ? " * 2" : "");
    else
        buf_line(t->out, t->indent, "const @TC *ap = A + m0 + i + k0 * g->lda;");
    if (p->pack[1])
        buf_line(t->out, t->indent, "const @TC *bp = lb + j * kc%s;", p->parts == 2 ? " * 2" : "");
    else
        buf_line(t->out, t->indent, "const @TC *bp = B + %s;",
                 p->trans[1] ? "n0 + j + k0 * g->ldb" : "k0 + (n0 + j) * g->ldb");
    if (!p->direct) {
        staged_call(t);
        return;
    }
    buf_line(t->out, t->indent, "const @TD *cp = C + m0 + i + (n0 + j) * ldc;");
    buf_line(t->out, t->indent, "@TD *dp = D + m0 + i + (n0 + j) * g->ldd;");
    const char *args = "(kc, ap, g->lda, bp, g->ldb, ab, cp, ldc, dp, g->ldd";
    if (!p->edges) {
        buf_line(t->out, t->indent, "@tile_%d_%d%s, 0);", p->mv, p->nr, args);
        buf_line(t->out, t->indent, "(void)mr, (void)nr;");
        return;
    }
    buf_line(t->out, t->indent, "if (mr == %d && nr == %d) {", p->mr, p->nr);
    buf_line(t->out, t->indent, "    @tile_%d_%d%s, 0);", p->mv, p->nr, args);
    buf_line(t->out, t->indent, "} else {");
    buf_line(t->out, t->indent, "    const int64_t v = (mr - 1) / %d;", p->vl);
    buf_line(t->out, t->indent, "    @tiles[v][nr - 1]%s, mr - v * %d);", args, p->vl);
    buf_line(t->out, t->indent, "}");
}

static void nest(NestText *t, const Op *list)
{
    for (const Op *o = list; o; o = o->next) {
        if (o->kind == OP_LOAD_TILE && t->program->tile[o->tile[0]].space == SPACE_LOCAL) load_local(t, o);
        if (o->kind != OP_LOOP)
            continue; /* barrier: one thread; init_tile, updates: in the loops' own arithmetic */
        open_loop(t, o);
        bool innermost = o->level == LEVEL_SUBGROUP && op_find(o->body, OP_EPILOGUE) != NULL;
        if (innermost)
            tile_call(t);
        else
            nest(t, o->body);
        close_loop(t, o);
    }
}

/* Declares first, step and count of this part's chunks of K. */
static Err chunk_text(NestText *t)
{
    Expr nodes[WALK_NODES];
    ExprPool pool;
    ExprText text = {.style = &expr_c_style, .out = t->out, .indent = t->indent};
    expr_pool_fixed(&pool, nodes, WALK_NODES);
    const Expr *k = expr_var(&pool, "g->k", WALK_K, 0, UINT32_MAX);
    const Expr *part = expr_var(&pool, "part", WALK_PART, 0, t->p->gsu - 1);
    WalkChunks c = walk_chunks(&pool, &t->program->walk, k, part);
    expr_let(&text, "count", c.count);
    expr_let(&text, "first", c.first);
    expr_let(&text, "step", c.step);
    buf_line(t->out, t->indent, "(void)part, (void)first, (void)step;");
    return expr_pool_check(&pool);
}

static Err group_function(const HostPlan *p, const Program *program, Buf *out)
{
    NestText t = {p, program, out, 1};
    const char *x = p->parts == 2 ? "2 * " : "";
    buf_printf(
        out,
        "\n/* One work-group: tile (wg0, wg1) of D, one part of K. */\n"
        "static void @group(const @Args *g, uint32_t wg0, uint32_t wg1, uint32_t z, uint32_t part, @TC *la,\n"
        "    @TC *lb, @TC *sums)\n{\n"
        "    const int64_t m1 = (int64_t)wg0 * %d, n1 = (int64_t)wg1 * %d;\n"
        "    const int64_t mt = @min(g->m - m1, %d), nt = @min(g->n - n1, %d);\n",
        p->mt0, p->mt1, p->mt0, p->mt1);
    static const char *const var[] = {"D", "C0", "A", "B"};
    static const char *const field = "dcab";
    for (int i = 0; i < 4; i++) {
        const char *type = i < 2 ? "@TD" : "@TI", *constant = i == 0 ? "" : "const ";
        char f = field[i];
        if (p->strided || (i < 2 && p->workspace))
            buf_line(t.out, t.indent, "%s%s *%s = (%s%s *)g->%c + %s(z * g->batch%c);", constant, type,
                     var[i], constant, type, f, x, f);
        else
            buf_line(t.out, t.indent, "%s%s *%s = ((%s%s *const *)g->%c)[z] + %s(g->off%c);", constant, type,
                     var[i], constant, type, f, x, f);
    }
    buf_line(t.out, t.indent, "D += %s(m1 + n1 * g->ldd), C0 += %s(m1 + n1 * g->ldc);", x, x);
    buf_line(t.out, t.indent, "A += %s(%s), B += %s(%s);", x, p->trans[0] ? "m1 * g->lda" : "m1", x,
             p->trans[1] ? "n1" : "n1 * g->ldb");
    if (p->gsu > 1 && p->gsu_multiple)
        buf_line(t.out, t.indent, "D += %s(part * (g->m * g->n * g->batch));", x);
    TRY(chunk_text(&t));
    buf_line(t.out, t.indent, "(void)la, (void)lb, (void)sums, (void)C0;");
    nest(&t, program->body);
    buf_puts(out, "}\n");
    return ERR_OK;
}

/* ---- the exported function ---- */

/* A thread walks ids first to last - 1 of the grid. Where parts of K add to D in place, the thread that
 * has a tile does all its parts, in order. */
static Err run_body(NestText *t)
{
    static const WalkNames names = {.id = "tile", .tiles_m = "tiles0", .tiles_n = "tiles1"};
    const HostPlan *p = t->p;
    bool serial = p->gsu > 1 && !p->gsu_multiple;
    Walk w = t->program->walk;
    w.persistent = w.batch_in_id = true;
    if (serial) w.split = 1;
    buf_line(t->out, t->indent, "for (uint64_t id = first; id < last; id++) {");
    t->indent++;
    if (serial) buf_line(t->out, t->indent, "if (id %% %d) continue;", p->gsu);
    buf_line(t->out, t->indent, "const uint32_t tile = (uint32_t)(id / %d);", serial ? p->gsu : 1);
    Expr nodes[WALK_NODES];
    ExprPool pool;
    ExprText text = {.style = &expr_c_style, .out = t->out, .indent = t->indent};
    expr_pool_fixed(&pool, nodes, WALK_NODES);
    WalkPlace at = walk_place(&pool, &w, &names);
    expr_let(&text, "x", at.wg0);
    expr_let(&text, "y", at.wg1);
    expr_let(&text, "z", at.wg2);
    if (serial)
        buf_line(t->out, t->indent,
                 "for (uint32_t part = 0; part < %d; part++) @group(&g, x, y, z, part, la, lb, sums);",
                 p->gsu);
    else {
        expr_let(&text, "part", at.part);
        buf_line(t->out, t->indent, "@group(&g, x, y, z, part, la, lb, sums);");
    }
    t->indent--;
    buf_line(t->out, t->indent, "}");
    return expr_pool_check(&pool);
}

Err host_groups(const HostPlan *p, const Program *program, Str symbol, Buf *out)
{
    HostLocal l = host_plan_local(p);
    TRY(group_function(p, program, out));
    buf_printf(out,
               "\n__attribute__((visibility(\"default\"))) extern const uint64_t %.*s_local_bytes;\n"
               "const uint64_t %.*s_local_bytes = %lldu;\n",
               STR_ARG(symbol), STR_ARG(symbol), (long long)((l.a + l.b + l.sums) * p->compute.bytes));
    buf_printf(
        out,
        "\n__attribute__((visibility(\"default\"))) void %.*s(const void *kernarg, const uint32_t grid[3],\n"
        "    uint64_t first, uint64_t last, void *local);\n"
        "void %.*s(const void *kernarg, const uint32_t grid[3], uint64_t first, uint64_t last, void "
        "*local)\n{\n",
        STR_ARG(symbol), STR_ARG(symbol));
    NestText t = {p, program, out, 1};
    buf_line(t.out, t.indent, "@Args g;");
    buf_line(t.out, t.indent, "@args(kernarg, &g);");
    buf_line(t.out, t.indent, "@TC *la = local, *lb = la + %lld, *sums = lb + %lld;", (long long)l.a,
             (long long)l.b);
    buf_line(t.out, t.indent, "const uint32_t tiles0 = grid[0], tiles1 = grid[1] / %d;", p->gsu);
    buf_line(t.out, t.indent, "(void)tiles1;");
    TRY(run_body(&t));
    buf_puts(out, "}\n");
    return ERR_OK;
}
