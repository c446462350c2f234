/* Parts of the K of a tile, which several work-groups compute. Each writes its sums to a slot of the
 * workspace. The part that ends last adds the sums of all parts, in the order of the parts, and writes D. No
 * part waits for another one. A slot has a tile of D; of its flags, those of part 0's slot, the first one
 * counts the parts that have ended. */
#include "kernel/host/text.h"

/* Returns an element of the tile in a slot, counted from the slot's first one. */
static const Expr *in_slot(HostText *t, const Expr *row, const Expr *column)
{
    const Expr *coord[] = {row, column};
    return view_address_by(&t->s.pool, &t->view[HOST_D], coord, host_number(t, t->p->mt0));
}

static const Value *slot_of(HostText *t, const Value *part)
{
    return value_call(&t->s, "@slot_of", value_reg(&t->s, "q"), part);
}

/* Prints @Parts; @slot_of(), the sums of a part. */
static void slots(HostText *t)
{
    Stmts *s = &t->s;
    ExprPool *p = &s->pool;
    const int step = t->program->walk.stream_k ? HOST_STREAM_SLOTS : 1;
    stmt_struct(s, "@Parts", 0);
    stmt_var(s, "@TC *", "sums", NULL);
    stmt_var(s, "uint32_t *", "flags", NULL);
    stmt_var(s, "uint32_t", "part", NULL);
    stmt_var(s, "uint32_t", "parts", NULL);
    stmt_var(s, "uint64_t", "slot", NULL); /* of part 0; part i > 0 has next_slot + step * i */
    stmt_var(s, "uint64_t", "next_slot", NULL);
    stmt_end(s);
    stmt_function(s, (Function){.result = "@TC *",
                                .name = "@slot_of",
                                STMT_PARAMS({"const struct @Parts *", "q"}, {"uint32_t", "part"})});
    const Expr *part = host_int(t, "part");
    const Expr *other = expr_add(p, host_int(t, "q->next_slot"), expr_mul_i(p, part, step));
    const Expr *slot = expr_select(p, part, other, host_int(t, "q->slot"));
    stmt_return(s, host_plus(t, "q->sums", expr_mul_i(p, slot, (int64_t)t->p->mt0 * t->p->mt1)));
    stmt_end(s);
}

/* Stores the element of D of a whole sum. */
static void store(HostText *t, const Expr *i, const Expr *j)
{
    Stmts *s = &t->s;
    const Expr *row = expr_add(&s->pool, host_int(t, "m1"), i),
               *column = expr_add(&s->pool, host_int(t, "n1"), j);
    const Value *c = host_plus(t, "C", host_address(t, HOST_C, "g->ldc", row, column));
    const Value *const x[] = {value_reg(s, "g->ab"),
                              value_reg(s, "sum"),
                              c,
                              value_cast(s, "const @Fused *", value_reg(s, "g")),
                              value_expr(s, row),
                              value_expr(s, column),
                              value_reg(s, "z")};
    const Value *v = value_call_n(s, "@result", fused_any(&t->p->fused) ? 7 : 3, x);
    stmt_set(s, host_element(t, "D", host_address(t, HOST_D, "g->ldd", row, column)),
             value_call(s, "@to", v));
}

/* Prints @add_parts(). */
static void add_parts(HostText *t)
{
    Stmts *s = &t->s;
    stmt_function(s, (Function){.kind = FUNCTION_STATIC,
                                .name = "@add_parts",
                                STMT_PARAMS({"const @Args *", "g"}, {"int64_t", "wg0"}, {"int64_t", "wg1"},
                                            {"int64_t", "z"}, {"const struct @Parts *", "q"})});
    host_group_tile(t);
    stmt_var(s, "@TD *", "D", host_matrix(t, 'd', "@TD", false, true, "z"));
    stmt_var(s, "const @TD *", "C", host_matrix(t, 'c', "@TD", true, true, "z"));
    const Expr *j = host_loop(t, "j", host_int(t, "nt"), 1), *i = host_loop(t, "i", host_int(t, "mt"), 1);
    const Expr *at = in_slot(t, i, j);
    const Value *sum = stmt_var(s, "@TC", "sum", value_at(s, slot_of(t, value_int(s, 0)), at));
    stmt_loop(s, (Loop){.var = "part",
                        .type = "uint32_t",
                        .start = host_number(t, 1),
                        .limit = host_int(t, "q->parts")});
    stmt_update(s, VALUE_ADD, sum, value_at(s, slot_of(t, value_reg(s, "part")), at));
    stmt_end(s);
    store(t, i, j);
    stmt_end(s);
    stmt_end(s);
    stmt_end(s);
}

static void call_group(HostText *t, const char *args)
{
    Stmts *s = &t->s;
    stmt_call(s, "@group", value_reg(s, args), value_reg(s, "wg0"), value_reg(s, "wg1"), value_reg(s, "z"),
              value_reg(s, "first"), value_reg(s, "step"), value_reg(s, "count"), value_reg(s, "la"),
              value_reg(s, "lb"), value_reg(s, "sums"));
}

/* Computes this part with arguments by which D is its slot, alpha 1 and beta 0. */
static void group_into_slot(HostText *t)
{
    Stmts *s = &t->s;
    const bool fused = fused_any(&t->p->fused);
    const Value *all = value_reg(s, "all");
    const Value *g = value_reg(s, "g"), *from = fused ? value_cast(s, "const @Fused *", g) : g;
    stmt_var(s, fused ? "@Fused" : "@Args", "all", value_at_i(s, from, 0));
    if (fused) stmt_set(s, value_field(s, all, "is_part"), value_int(s, 1));
    const Value *args = fused ? value_field(s, all, "args") : all;
    stmt_var(s, "@Args *", "own", value_op(s, VALUE_ADDRESS, args, NULL));
    const Value *sums =
        value_cast(s, "uint64_t", value_cast(s, "uintptr_t", slot_of(t, value_reg(s, "q->part"))));
    const Expr *row = expr_mul_i(&s->pool, host_int(t, "wg0"), t->p->mt0),
               *column = expr_mul_i(&s->pool, host_int(t, "wg1"), t->p->mt1);
    const Expr *before = expr_mul_i(&s->pool, in_slot(t, row, column), t->p->compute.bytes);
    stmt_set_reg(s, "own->d", value_difference(s, sums, value_cast(s, "uint64_t", value_expr(s, before))));
    stmt_set_reg(s, "own->ldd", value_int(s, t->p->mt0));
    stmt_set_reg(s, "own->batchd", value_int(s, 0));
    stmt_set_reg(s, "own->ab[0]", value_int(s, 1));
    stmt_set_reg(s, "own->ab[1]", value_int(s, 0));
    call_group(t, "own");
}

void host_parts_text(HostText *t)
{
    Stmts *s = &t->s;
    if (!t->p->joins) return;
    stmt_gap(s);
    slots(t);
    add_parts(t);
    stmt_function(s, (Function){.kind = FUNCTION_STATIC,
                                .name = "@group_part",
                                STMT_PARAMS({"const @Args *", "g"}, {"int64_t", "wg0"}, {"int64_t", "wg1"},
                                            {"int64_t", "z"}, {"uint32_t", "first"}, {"uint32_t", "step"},
                                            {"uint32_t", "count"}, {"const struct @Parts *", "q"},
                                            {"@TC *", "la"}, {"@TC *", "lb"}, {"@TC *", "sums"})});
    stmt_if(s, value_op(s, VALUE_EQ, value_reg(s, "q->parts"), value_int(s, 1)));
    call_group(t, "g");
    stmt_return(s, NULL);
    stmt_end(s);
    group_into_slot(t);
    const Value *flag =
        host_plus(t, "q->flags", expr_mul_i(&s->pool, host_int(t, "q->slot"), WALK_SLOT_FLAGS));
    const Value *ended =
        value_call(s, "__atomic_add_fetch", flag, value_int(s, 1), value_reg(s, "__ATOMIC_ACQ_REL"));
    stmt_if(s, value_op(s, VALUE_EQ, ended, value_reg(s, "q->parts")));
    stmt_call(s, "@add_parts", value_reg(s, "g"), value_reg(s, "wg0"), value_reg(s, "wg1"), value_reg(s, "z"),
              value_reg(s, "q"));
    stmt_end(s);
    stmt_end(s);
}
