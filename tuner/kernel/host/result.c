/* The function that makes an element of D of a sum and an element of C: the ops of the epilogue, one function
 * each. */
#include "kernel/host/text.h"
#include "kernel/lower/activation.h"

#include <string.h>

/* The vector or number of a fused operation that the element takes. */
static const Value *operand(HostText *t, const Tile *x)
{
    Stmts *s = &t->s;
    const char *at = x->dim[0] == DIM_M ? "row" : x->dim[1] == DIM_N ? "column" : "0";
    const bool bias = !strcmp(x->name, fused_name(FUSED_BIAS));
    if (bias && t->p->batched) at = stmts_name(s, "%s + matrix * f->bias_batch", at);
    const Value *v = value_named(s, "f->%s[%s]", x->name, at);
    return bias && x->type != t->p->compute.type ? value_call(s, "@from", v) : v;
}

static void scale(HostText *t, const Op *o)
{
    Stmts *s = &t->s;
    const Value *v = value_reg(s, "v"), *by = value_at_i(s, value_reg(s, "ab"), 0);
    if (!o->scalar) by = operand(t, &t->program->tile[o->tile[1]]);
    stmt_set(s, v, value_op(s, VALUE_MUL, by, v));
}

/* scale_c: the factor of an element of C, or NULL. */
static void add_c(HostText *t, const Op *scale_c)
{
    Stmts *s = &t->s;
    const Value *beta = value_at_i(s, value_reg(s, "ab"), 1), *v = value_reg(s, "v");
    const Value *c = value_call(s, "@from", value_at_i(s, value_reg(s, "c"), 0));
    if (scale_c) c = value_op(s, VALUE_MUL, operand(t, &t->program->tile[scale_c->tile[1]]), c);
    stmt_if(s, value_op(s, VALUE_NE, beta, value_int(s, 0)));
    stmt_update(s, VALUE_ADD, v, value_op(s, VALUE_MUL, beta, c));
    stmt_end(s);
}

static void add_bias(HostText *t, const Op *o)
{
    stmt_update(&t->s, VALUE_ADD, value_reg(&t->s, "v"), operand(t, &t->program->tile[o->tile[2]]));
}

static void activate(HostText *t, const Op *o)
{
    Stmts *s = &t->s;
    const Value *const number[] = {value_reg(s, "f->number[0]"), value_reg(s, "f->number[1]")};
    stmt_set(s, value_reg(s, "v"), value_activated(s, o->activation, value_reg(s, "v"), number));
}

/* Ops on sums in the order of the program. Those that store and convert are @store_result's and @finish's. */
static void ops(HostText *t)
{
    const Op *scale_c = NULL;
    for (const Op *o = t->p->epilogue; o; o = o->next) {
        const bool of_c = o->kind == OP_SCALE_TILE && !o->scalar && o->tile[0] >= 0 &&
                          t->program->tile[o->tile[0]].operand == 'C';
        if (of_c)
            scale_c = o;
        else if (o->kind == OP_SCALE_TILE)
            scale(t, o);
        else if (o->kind == OP_ADD_TILE && o->scalar)
            add_c(t, scale_c);
        else if (o->kind == OP_ADD_TILE && t->program->tile[o->tile[2]].operand == 'E')
            add_bias(t, o);
        else if (o->kind == OP_ACTIVATE_TILE)
            activate(t, o);
    }
}

void host_result(HostText *t)
{
    Stmts *s = &t->s;
    const Value *v = value_reg(s, "v"), *c = value_reg(s, "c"), *ab = value_reg(s, "ab");
    static const StmtParam plain[] = {{"const @TC *", "ab"}, {"@TC", "v"}, {"const @TD *", "c"}};
    static const StmtParam fused[] = {{"const @TC *", "ab"},   {"@TC", "v"},       {"const @TD *", "c"},
                                      {"const @Fused *", "f"}, {"int64_t", "row"}, {"int64_t", "column"},
                                      {"int64_t", "matrix"}};
    const bool is_fused = fused_any(&t->p->fused);
    if (t->p->fused.activation) stmt_activation(s, t->p->fused.activation);
    stmt_function(s, (Function){.result = "@TC",
                                .name = "@result",
                                .param = is_fused ? fused : plain,
                                .n_params = is_fused ? 7 : 3});
    if (is_fused) HOST_UNUSED(t, "f", "row", "column", "matrix");
    if (is_fused && t->p->joins) {
        stmt_if(s, value_reg(s, "f->is_part"));
        stmt_return(s, v);
        stmt_end(s);
    }
    ops(t);
    stmt_return(s, v);
    stmt_end(s);
    if (is_fused) return;
    stmt_function(s, (Function){.name = "@store_result",
                                STMT_PARAMS({"@TD *", "d"}, {"const @TC *", "ab"}, {"@TC", "v"},
                                            {"@TC", "unused"}, {"const @TD *", "c"})});
    HOST_UNUSED(t, "unused");
    stmt_set(s, value_at_i(s, value_reg(s, "d"), 0),
             value_call(s, "@to", value_call(s, "@result", ab, v, c)));
    stmt_end(s);
}
