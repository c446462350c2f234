/* Copies of the chunks of a contraction in the main loop of ring kernels (ring_loop.c). Operands that are
 * copied through registers are loaded one chunk ahead of the others. Beside the fields of all kernels, @Ring
 * has the sizes and strides of the tensors, `table`, the address of the table's entries of chunk g.next, and
 * `refill`, the chunk with which the next block of the table is filled. All threads have then copied the last
 * chunk of the block that it takes the place of, since there was a barrier in between. */
#include "kernel/lower/build.h"
#include "kernel/nvptx/ring_copy.h"
#include "kernel/nvptx/ring_piece.h"

static const Value *operand(const RingCopy *c) { return reg(c, c->upper == 'A' ? "a" : "b"); }
static const Value *fits(const RingCopy *c)
{
    return reg(c, c->upper == 'A' ? "g.aligned_a" : "g.aligned_b");
}
static const Value *tile_at(const RingCopy *c, const Value *into, const RingTile *first)
{
    return c->upper == 'A' ? into : value_op(c->s, VALUE_ADD, into, number(c, first->bytes));
}

/* Prints @advance: g.table and g.next go on to the next chunk. */
static void advance(const RingCopy *c)
{
    Stmts *s = c->s;
    const GpuPlan *p = c->p;
    const RingTable t = ring_table_of(p);
    const int stages = p->stage_bytes * p->n_stages, chunk = p->depth_u * t.entry_bytes;
    const Value *next = reg(c, "g.next"), *table = reg(c, "g.table"), *refill = reg(c, "g.refill");
    ring_open(s, "@advance", false);
    stmt_do(s, value_cast(s, "void", reg(c, "a")));
    stmt_do(s, value_cast(s, "void", reg(c, "b")));
    stmt_update(s, VALUE_ADD, next, number(c, 1));
    stmt_update(s, VALUE_ADD, table, number(c, chunk));
    const Value *end = value_op(s, VALUE_ADD, reg(c, "g.smem"), number(c, stages + t.operand_bytes));
    stmt_if(s, value_op(s, VALUE_EQ, table, end));
    stmt_update(s, VALUE_SUB, table, number(c, t.operand_bytes));
    stmt_end(s);
    stmt_if(s, value_op(s, VALUE_EQ, next, refill));
    const Value *block = value_op(s, VALUE_DIV, next, number(c, t.chunks));
    stmt_call(s, "@fill", reg(c, "g"), value_op(s, VALUE_ADD, block, number(c, 1)));
    stmt_update(s, VALUE_ADD, refill, number(c, t.chunks));
    stmt_end(s);
    stmt_end(s);
}

/* Declares whole, whether chunk g.next has all DepthU elements of K, and k_left, how many it has. */

/* Prints @operand_X, which fills a stage with chunk g.next of one operand. */
static void fill_stage(const RingCopy *c)
{
    Stmts *s = c->s;
    const Value *x = reg(c, "x"), *g = reg(c, "g"), *into = reg(c, "into"), *k_left = reg(c, "k_left");
    stmt_function(s, (Function){.name = piece_function(c, "operand"),
                                STMT_PARAMS({stmts_name(s, "const @Copy%c &", c->upper), "x"},
                                            {"const @Ring &", "g"}, {"@u32", "into"})});
    ring_chunk(c->p, s);
    stmt_if(s, fits(c));
    if (c->via_registers)
        stmt_call(s, piece_function(c, "store"), x, into);
    else {
        stmt_if(s, reg(c, "whole"));
        for (int i = 0; i < c->n; i += RING_COPY_RUN) {
            const int to = i + RING_COPY_RUN < c->n ? i + RING_COPY_RUN : c->n;
            stmt_call(s, piece_function(c, "whole"), x, into, number(c, i), number(c, to), reg(c, "g.table"));
        }
        stmt_else(s);
        stmt_call(s, piece_function(c, "guarded"), x, into, reg(c, "g.table"), k_left);
        stmt_end(s);
    }
    stmt_else(s);
    stmt_call(s, piece_function(c, "elements"), x, g, into, value_call(s, "@chunk_k", g, reg(c, "g.next")),
              k_left);
    stmt_end(s);
    stmt_end(s);
}

static bool any_via_registers(const RingCopy copy[2])
{
    return copy[0].via_registers || copy[1].via_registers;
}

/* Prints @load_ahead: loads chunk g.next of the operands that are copied through registers. */
static void load_ahead(const RingCopy copy[2])
{
    Stmts *s = copy->s;
    ring_open(s, "@load_ahead", false);
    stmt_if(s, value_op(s, VALUE_LT, reg(copy, "g.next"), reg(copy, "g.chunks")));
    ring_chunk(copy->p, s);
    for (int i = 0; i < 2; i++) {
        const RingCopy *c = &copy[i];
        if (!c->via_registers) continue;
        stmt_if(s, fits(c));
        stmt_if(s, reg(c, "whole"));
        stmt_call(s, piece_function(c, "load_whole"), operand(c), reg(c, "g.table"));
        stmt_else(s);
        stmt_call(s, piece_function(c, "load"), operand(c), reg(c, "g.table"), reg(c, "k_left"));
        stmt_end(s);
        stmt_end(s);
    }
    stmt_end(s);
    stmt_end(s);
}

/* Prints @copy: chunk g.next, if there is one, into a stage. The copies are one group in either case. */
static void copy_chunk(const RingCopy copy[2])
{
    Stmts *s = copy->s;
    ring_open(s, "@copy", true);
    stmt_if(s, value_op(s, VALUE_LT, reg(copy, "g.next"), reg(copy, "g.chunks")));
    for (int i = 0; i < 2; i++)
        stmt_call(s, piece_function(&copy[i], "operand"), operand(&copy[i]), reg(copy, "g"),
                  tile_at(&copy[i], reg(copy, "into"), &copy[0].tile));
    ring_call(copy->s, "@advance");
    if (any_via_registers(copy)) ring_call(copy->s, "@load_ahead");
    stmt_end(s);
    stmt_commit(s);
    stmt_end(s);
}

/* Prints @begin: the copies of a work-group's tile, the first two blocks of the table. */
static void begin(const RingCopy copy[2])
{
    Stmts *s = copy->s;
    const RingTable t = ring_table_of(copy->p);
    const GpuPlan *p = copy->p;
    stmt_function(s, (Function){.name = "@begin",
                                STMT_PARAMS({"@CopyA &", "ca"}, {"@CopyB &", "cb"}, {"@Ring &", "g"},
                                            {"const @T *", "a"}, {"const @T *", "b"}, {"int", "m"},
                                            {"int", "n"}, {"int", "m0"}, {"int", "n0"}, {"int", "tid"})});
    stmt_set(s, reg(copy, "g.next"), number(copy, 0));
    stmt_set(s, reg(copy, "g.refill"), number(copy, t.chunks + 1));
    stmt_set(s, reg(copy, "g.table"),
             value_op(s, VALUE_ADD, reg(copy, "g.smem"), number(copy, p->stage_bytes * p->n_stages)));
    stmt_set(s, reg(copy, "g.aligned_a"), ring_gather_fits(&copy[0], reg(copy, "a")));
    stmt_set(s, reg(copy, "g.aligned_b"), ring_gather_fits(&copy[1], reg(copy, "b")));
    stmt_call(s, "@begin_a", reg(copy, "ca"), reg(copy, "g"), reg(copy, "a"), reg(copy, "m0"), reg(copy, "m"),
              reg(copy, "tid"));
    stmt_call(s, "@begin_b", reg(copy, "cb"), reg(copy, "g"), reg(copy, "b"), reg(copy, "n0"), reg(copy, "n"),
              reg(copy, "tid"));
    for (int i = 0; i < RING_BLOCKS; i++) stmt_call(s, "@fill", reg(copy, "g"), number(copy, i));
    stmt_barrier(s);
    stmt_end(s);
}

void ring_gather_loop_put(const RingCopy copy[2])
{
    advance(copy);
    for (int i = 0; i < 2; i++) fill_stage(&copy[i]);
    if (any_via_registers(copy)) load_ahead(copy);
    copy_chunk(copy);
    begin(copy);
}

void ring_gather_iteration(const RingCopy copy[2], const Value *into)
{
    Stmts *s = copy->s;
    stmt_define(s, "@u32", "table", reg(copy, "g.table"));
    for (int i = 0; i < 2; i++)
        if (copy[i].via_registers)
            stmt_call(s, piece_function(&copy[i], "store"), operand(&copy[i]),
                      tile_at(&copy[i], into, &copy[0].tile));
    ring_call(copy->s, "@advance");
    for (int i = 0; i < 2; i++)
        if (copy[i].via_registers)
            stmt_call(s, piece_function(&copy[i], "load_whole"), operand(&copy[i]), reg(copy, "g.table"));
}

void ring_gather_part(const RingCopy *c, const Value *into, const Value *from, const Value *to)
{
    if (!c->via_registers)
        stmt_call(c->s, piece_function(c, "whole"), operand(c), into, from, to, reg(c, "table"));
}
