/* The loop over K: walks the program behind its passes and writes copies, waits, barriers and steps in its
 * order. The ops of A and of B stand side by side; one call does both. */
#include "kernel/gpu/gpu.h"

typedef struct {
    const GpuPlan *p;
    const Program *program;
    Buf *out;
    int indent;
} LoopText;

/* Compilers that mix a hundred steps load all their fragments first, and spill them. */
static void order(const GpuPlan *p, Buf *out)
{
    int n = p->dialect->mixed_steps;
    if (n && p->steps > 2 * n) buf_printf(out, "        if (s %% %d == %d) @keep_order();\n", n, n - 1);
}

void gpu_stage(const GpuPlan *p, Buf *out)
{
    buf_printf(out,
               "\n/* ---- one stage of local memory ---- */\n\n"
               "@DEV void @stage(@Acc &acc, const char *stage, unsigned tid)\n{\n"
               "    const char *lds_a = stage + %d, *lds_b = stage + %d;\n",
               p->op[0].lds_offset, p->op[1].lds_offset);
    if (p->prefetch_local && p->steps > 1)
        buf_printf(out,
                   "    @Frag f[2];\n"
                   "    @frag_load(f[0], lds_a, lds_b, tid, 0);\n"
                   "    @UNROLL for (int s = 0; s < %d; s++) {\n"
                   "        if (s + 1 < %d) @frag_load(f[(s + 1) & 1], lds_a, lds_b, tid, s + 1);\n"
                   "        @frag_mac(acc, f[s & 1]);\n",
                   p->steps, p->steps);
    else
        buf_printf(out,
                   "    @UNROLL for (int s = 0; s < %d; s++) {\n        @Frag f;\n"
                   "        @frag_load(f, lds_a, lds_b, tid, s);\n        @frag_mac(acc, f);\n",
                   p->steps);
    order(p, out);
    buf_puts(out, "    }\n}\n\n");
    buf_printf(
        out,
        "/* The first steps only: the rest of K. */\n"
        "@DEV void @stage_rest(@Acc &acc, const char *stage, unsigned tid, int steps)\n{\n"
        "    @NOUNROLL for (int s = 0; s < steps; s++) {\n        @Frag f;\n"
        "        @frag_load(f, stage + %d, stage + %d, tid, s);\n        @frag_mac(acc, f);\n    }\n}\n",
        p->op[0].lds_offset, p->op[1].lds_offset);
}

/* The next stage of the ring. */
static void advance(LoopText *t, const char *at)
{
    int n = t->p->n_stages, bytes = t->p->stage_bytes;
    if (n == 2)
        buf_line(t->out, t->indent, "%s = %d - %s;", at, bytes, at);
    else if (n > 2)
        buf_line(t->out, t->indent, "%s = %s == %d ? 0 : %s + %d;", at, at, (n - 1) * bytes, at, bytes);
}

static const Tile *tile_of(const LoopText *t, const Op *o, int i) { return &t->program->tile[o->tile[i]]; }

static void load(LoopText *t, const Op *o, Phase phase)
{
    if (phase == PHASE_REST) {
        buf_line(t->out, t->indent, "const unsigned chunk = first + j * step;");
        buf_line(t->out, t->indent, "@copy_tail(t, tid, lds, chunk * %d);", t->p->depth_u);
        return;
    }
    buf_line(t->out, t->indent, "@copy_load(copy, %d, lds + %s);", o->set,
             t->p->copy->async && t->p->n_stages > 1 ? "wr" : "0");
    if (t->p->copy->async) advance(t, "wr");
}

static void store(LoopText *t)
{
    buf_line(t->out, t->indent, "@copy_store(copy, 0, lds + %s);", t->p->n_stages > 1 ? "wr" : "0");
    if (t->p->n_sets > 1) buf_line(t->out, t->indent, "@copy_shift(copy);");
    advance(t, "wr");
}

static void move(LoopText *t)
{
    if (t->p->walk.staggers) {
        buf_line(t->out, t->indent, "wrap--;");
        buf_line(t->out, t->indent, "@copy_move(copy, t, wrap ? step_a : back_a, wrap ? step_b : back_b);");
    } else
        buf_line(t->out, t->indent, "@copy_move(copy, t, step_a, step_b);");
}

static void consume(LoopText *t, Phase phase)
{
    const GpuPlan *p = t->p;
    if (phase == PHASE_REST) {
        buf_line(t->out, t->indent, "const unsigned left = t.k - chunk * %d;", p->depth_u);
        buf_line(t->out, t->indent, "@stage_rest(acc, lds, tid, left < %d ? (int)((left + %d) / %d) : %d);",
                 p->depth_u, p->lsu * p->k_step - 1, p->lsu * p->k_step, p->steps);
        return;
    }
    buf_line(t->out, t->indent, "@stage(acc, lds + %s, tid);", p->n_stages > 1 ? "rd" : "0");
    advance(t, "rd");
}

static void one_op(LoopText *t, const Op *o, Phase phase)
{
    switch (o->kind) {
    case OP_LOAD_TILE:
        load(t, o, phase);
        break;
    case OP_STORE_TILE:
        store(t);
        break;
    case OP_UPDATE_TILE_OFFSET:
        move(t);
        break;
    case OP_BARRIER:
        buf_line(t->out, t->indent, "@barrier();");
        break;
    case OP_WAIT:
        buf_line(t->out, t->indent, "@copy_wait(%d);", o->pending);
        break;
    default:
        break;
    }
}

/* Ops of A stand for the pair. */
static bool second_of_pair(const LoopText *t, const Op *o)
{
    bool pairs = o->kind == OP_LOAD_TILE || o->kind == OP_STORE_TILE || o->kind == OP_UPDATE_TILE_OFFSET;
    return pairs && tile_of(t, o, 0)->operand == 'B';
}

static void walk(LoopText *t, const Op *list, Phase phase);

static void group_loop(LoopText *t, const Op *o)
{
    int prefetch = t->p->prefetch;
    if (o->phase == PHASE_REST)
        buf_line(t->out, t->indent, "@NOUNROLL for (unsigned j = whole; j < count; j++) {");
    else if (o->phase == PHASE_MAIN)
        buf_line(t->out, t->indent, "@NOUNROLL for (; i + %d < whole; i++) {", prefetch);
    else if (o->phase == PHASE_DRAIN && prefetch == 1)
        buf_line(t->out, t->indent, "{");
    else
        buf_line(t->out, t->indent, "@NOUNROLL for (; i < whole; i++) {");
    t->indent++;
    walk(t, o->body, o->phase);
    t->indent--;
    buf_line(t->out, t->indent, "}");
}

static void walk(LoopText *t, const Op *list, Phase phase)
{
    for (const Op *o = list; o;) {
        if (o->kind == OP_LOOP && o->level == LEVEL_GROUP) {
            group_loop(t, o);
            o = o->next;
            continue;
        }
        if (o->kind == OP_LOOP) {
            consume(t, phase);
            o = o->next;
            continue;
        }
        if (o->ahead) buf_line(t->out, t->indent, "if (i + %d < whole) {", o->ahead);
        int ahead = o->ahead;
        t->indent += ahead > 0;
        do {
            if (!second_of_pair(t, o)) one_op(t, o, phase);
            o = o->next;
        } while (o && ahead && o->ahead == ahead && o->kind != OP_LOOP);
        t->indent -= ahead > 0;
        if (ahead) buf_line(t->out, t->indent, "}");
    }
}

/* Everything between the accumulators' and the copies' start and the epilogue. */
Err gpu_loop(const GpuPlan *p, const Program *program, Buf *out)
{
    LoopText t = {p, program, out, 1};
    const Op *o = program->body, *rest = NULL;
    while (o && o->kind == OP_INIT_TILE) o = o->next;
    for (const Op *r = o; r; r = r->next)
        if (r->kind == OP_LOOP && r->phase == PHASE_REST) rest = r;
    if (!o || !rest) FAIL(ERR_FAILED, "a program without a loop over the rest of K cannot be lowered");
    buf_line(t.out, t.indent, "if (whole > 0) {");
    t.indent++;
    buf_line(t.out, t.indent, "unsigned i = 0;");
    if (p->n_stages > 1) buf_line(t.out, t.indent, "int rd = 0, wr = 0;");
    Op head[64];
    int n = 0;
    for (; o != rest && n < 64; o = o->next) head[n++] = *o;
    for (int i = 0; i < n; i++) head[i].next = i + 1 < n ? &head[i + 1] : NULL;
    walk(&t, n ? head : NULL, PHASE_ALL);
    t.indent--;
    buf_line(t.out, t.indent, "}");
    Op last = *rest;
    last.next = NULL;
    walk(&t, &last, PHASE_ALL);
    return ERR_OK;
}
