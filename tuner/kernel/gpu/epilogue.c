/* Epilogues of GPU kernels: the ops of a plan's numbers, and what they do to one element. How elements are
 * stored (by pointers, raw buffers, through local memory, by TMA) is decided by the store modules, which walk
 * the same ops or call the functions of gpu_element_functions. */
#include "kernel/epilogue.h"

#include <string.h>

#include "kernel/gpu/gpu.h"
#include "kernel/lower/activation.h"
#include "problem/window.h"

/* ---- from numbers to ops and back ---- */

Epilogue gpu_epilogue(const GpuPlan *p)
{
    const bool cluster = p->walk.members > 1;
    const bool adds = p->adds_shares || (p->gsu > 1 && !p->gsu_multiple && !p->partial_sums);
    return (Epilogue){.across = cluster      ? ACROSS_CLUSTER
                                : p->lsu > 1 ? ACROSS_GROUP
                                             : ACROSS_NONE,
                      .grid = p->partial_sums,
                      .scales = !p->gsu_multiple,
                      .reads_c = p->use_beta && !adds && !p->gsu_multiple,
                      .adds = adds,
                      .parts = p->gsu_multiple,
                      .staged = p->groups.engine_store,
                      .role = p->groups.used ? ROLE_CONSUMER : ROLE_ALL,
                      .fused = p->fused,
                      .written = p->out.type};
}

Err gpu_epilogue_read(Program *p, const char *name)
{
    Epilogue e;
    const Op *ops = op_behind_loops(p->body);
    TRY(epilogue_read(p, ops, name, &e));
    GpuPlan *plan = ARENA_NEW(p->arena, GpuPlan);
    TRY_ALLOC(plan);
    *plan = *p->gpu;
    plan->epilogue = ops, plan->tile = p->tile;
    plan->gsu = p->walk.split;
    plan->gsu_multiple = e.parts;
    plan->partial_sums = e.grid;
    plan->adds_shares = e.adds && (p->walk.stream_k || p->walk.split <= 1);
    plan->groups.engine_store = e.staged;
    plan->fused = e.fused;
    plan->out = gpu_type(e.written);
    p->gpu = plan;
    if (!plan->out.part) FAIL(ERR_INPUT, "GPU kernels write no elements of type %s", type_letter(e.written));
    return ERR_OK;
}

static const Op *find(const GpuPlan *p, OpKind kind)
{
    const Op *o = p->epilogue;
    while (o && o->kind != kind) o = o->next;
    return o;
}

bool gpu_adds(const GpuPlan *p) { return find(p, OP_ATOMIC_ADD_TILE); }

bool gpu_stores_elements(const GpuPlan *p)
{
    return window_stores_elements(p->groups.engine_store, p->walk.members);
}

bool gpu_slices_results(const GpuPlan *p)
{
    return p->groups.engine_store || (p->groups.window_taps > 1 && !p->groups.per_tap);
}

bool gpu_scales(const GpuPlan *p)
{
    const Op *o = p->epilogue;
    while (o && !(o->kind == OP_SCALE_TILE && o->scalar)) o = o->next;
    return o;
}

bool gpu_reads_c(const GpuPlan *p) { return find(p, OP_LOAD_TILE); }

/* ---- operands ---- */

/* Fused operations have three kinds of operands: vectors along M and along N, and single numbers. */
static bool operand_is(const GpuPlan *p, int o, Along along)
{
    return fused_has(&p->fused, (FusedOperand)o) && fused_along(&p->fused, (FusedOperand)o) == along;
}

bool gpu_has_vectors(const GpuPlan *p, Along along)
{
    bool any = false;
    for (int o = 0; o < FUSED_OPERANDS && along; o++) any = any || operand_is(p, o, along);
    return any;
}

static const char *type_of(int operand) { return operand == FUSED_BIAS ? "@TB" : "@TC"; }

/* Names of what belongs to a row (ALONG_M) or a column (ALONG_N) of D. */
static const struct {
    const char *type, *value, *load, *whole, *size;
} sides[] = {[ALONG_M] = {"@OfRow", "of_row", "@rows", "@rows_whole", "o.m"},
             [ALONG_N] = {"@OfCol", "of_col", "@cols", "@cols_whole", "o.n"}};

static void ops_struct(const GpuPlan *p, Stmts *s)
{
    stmt_struct(s, "@Ops", 0);
    stmt_var(s, "@TC", "alpha", NULL);
    stmt_var(s, "@TC", "beta", NULL);
    for (int i = 0; i < FUSED_OPERANDS; i++) {
        const char *name = fused_name((FusedOperand)i);
        if (!fused_has(&p->fused, (FusedOperand)i)) continue;
        if (!operand_is(p, i, ALONG_NONE)) {
            stmt_var(s, stmts_name(s, "const %s *", type_of(i)), name, NULL);
            continue;
        }
        stmt_var(s, "const @TC *", stmts_name(s, "%s_at", name), NULL);
        stmt_var(s, "@TC", name, NULL);
    }
    if (p->fused.bias && p->batched) stmt_var(s, "unsigned", "bias_batch", NULL);
    if (gpu_has_vectors(p, ALONG_M)) stmt_var(s, "unsigned", "m", NULL);
    if (gpu_has_vectors(p, ALONG_N)) stmt_var(s, "unsigned", "n", NULL);
    for (int i = 0; i < activation_numbers(p->fused.activation); i++)
        stmt_var(s, "@TC", i ? "number_1" : "number_0", NULL);
    stmt_end(s);
}

/* Prints the struct of the elements of all vectors along a side that belong to one row or column. */
static void side_struct(const GpuPlan *p, Stmts *s, Along along)
{
    stmt_struct(s, sides[along].type, 0);
    for (int i = 0; i < FUSED_OPERANDS; i++)
        if (operand_is(p, i, along)) stmt_var(s, type_of(i), fused_name((FusedOperand)i), NULL);
    stmt_end(s);
}

/* Prints the functions that load them. */
static void side_functions(const GpuPlan *p, Stmts *s, Along along)
{
    const Value *at = value_reg(s, "at"), *whole = value_reg(s, "whole"),
                *size = value_reg(s, sides[along].size);
    stmt_function(s, (Function){.constant = "N",
                                .result = "bool",
                                .name = sides[along].whole,
                                STMT_PARAMS({"const @Ops &", "o"}, {"unsigned", "at"}, {"unsigned", "n"})});
    const Value *is = value_literal(s, "true");
    if (gpu_has_vectors(p, along))
        is = value_op(s, VALUE_LE, value_op(s, VALUE_ADD, at, value_reg(s, "n")), size);
    for (int i = 0; i < FUSED_OPERANDS; i++) {
        if (!operand_is(p, i, along)) continue;
        const Value *from = value_op(s, VALUE_ADD, value_named(s, "o.%s", fused_name((FusedOperand)i)), at);
        is = value_op(s, VALUE_BOTH, is, value_call(s, "@is_aligned<N>", from));
    }
    stmt_return(s, is);
    stmt_end(s);
    stmt_function(s, (Function){.constant = "N",
                                .name = sides[along].load,
                                STMT_PARAMS({"const @Ops &", "o"}, {"unsigned", "at"}, {"bool", "whole"},
                                            {stmts_name(s, "%s *", sides[along].type), "to"})});
    for (int i = 0; i < FUSED_OPERANDS; i++) {
        const char *name = fused_name((FusedOperand)i);
        if (operand_is(p, i, along))
            stmt_call(s, "@load_neighbours<N>", value_reg(s, "to"),
                      value_named(s, "&%s::%s", sides[along].type, name), value_named(s, "o.%s", name), at,
                      value_op(s, VALUE_SUB, size, value_int(s, 1)), whole);
    }
    stmt_end(s);
}

/* Prints the functions that load the single numbers, and that find the bias of a matrix of the batch. */
static void ops_functions(const GpuPlan *p, Stmts *s)
{
    stmt_function(s, (Function){.name = "@load_numbers", STMT_PARAMS({"@Ops &", "o"})});
    for (int i = 0; i < FUSED_OPERANDS; i++) {
        const char *name = fused_name((FusedOperand)i);
        if (!operand_is(p, i, ALONG_NONE)) continue;
        const Value *from = value_named(s, "o.%s_at", name);
        stmt_set(s, value_named(s, "o.%s", name),
                 value_load(s, access_element(SPACE_GLOBAL, "@TC", gpu_type_bytes(&p->acc), from,
                                              expr_const(&s->pool, 0))));
    }
    stmt_end(s);
    stmt_function(s, (Function){.name = "@find_bias", STMT_PARAMS({"@Ops &", "o"}, {"unsigned", "matrix"})});
    if (p->fused.bias && p->batched) {
        const Value *apart = value_cast(s, "unsigned long long", value_reg(s, "o.bias_batch"));
        stmt_update(s, VALUE_ADD, value_reg(s, "o.bias"),
                    value_op(s, VALUE_MUL, apart, value_reg(s, "matrix")));
    }
    stmt_end(s);
}

void gpu_set_ops(const GpuPlan *p, Stmts *s, const char *o)
{
    if (gpu_scales(p))
        stmt_set(s, value_named(s, "%s.alpha", o), value_call(s, "@from_s", value_reg(s, "alpha")));
    if (gpu_reads_c(p))
        stmt_set(s, value_named(s, "%s.beta", o), value_call(s, "@from_s", value_reg(s, "beta")));
    for (int i = 0; i < FUSED_OPERANDS; i++) {
        const char *name = fused_name((FusedOperand)i);
        if (fused_has(&p->fused, (FusedOperand)i))
            stmt_set(s, value_named(s, operand_is(p, i, ALONG_NONE) ? "%s.%s_at" : "%s.%s", o, name),
                     value_reg(s, name));
    }
    if (p->fused.bias && p->batched)
        stmt_set(s, value_named(s, "%s.bias_batch", o), value_reg(s, "bias_batch"));
    if (gpu_has_vectors(p, ALONG_M)) stmt_set(s, value_named(s, "%s.m", o), value_reg(s, "size_m"));
    if (gpu_has_vectors(p, ALONG_N)) stmt_set(s, value_named(s, "%s.n", o), value_reg(s, "size_n"));
    for (int i = 0; i < activation_numbers(p->fused.activation); i++)
        stmt_set(s, value_named(s, i ? "%s.number_1" : "%s.number_0", o),
                 value_reg(s, i ? "number_1" : "number_0"));
}

void gpu_load_ops(const GpuPlan *p, Stmts *s, const char *o)
{
    gpu_set_ops(p, s, o);
    if (!fused_any(&p->fused)) return;
    stmt_call(s, "@load_numbers", value_reg(s, o));
    if (p->batched) stmt_call(s, "@find_bias", value_reg(s, o), value_reg(s, "wg2"));
}

/* ---- one element ---- */

/* Returns the element of a fused operation's vector for that row and column, or its single number. */
static const Value *of_vector(const GpuPlan *p, Stmts *s, const Tile *t, const GpuPoint *at)
{
    const Value *x = value_named(s, "o.%s", t->name);
    if (t->dim[0] == DIM_M) x = value_field(s, at->of_row, t->name);
    if (t->dim[1] == DIM_N) x = value_field(s, at->of_col, t->name);
    return t->type == p->scalar.type ? x : value_call(s, "@to_c", x);
}

static bool of_c(const GpuPlan *p, const Op *o)
{
    return o->kind == OP_SCALE_TILE && !o->scalar && p->tile[o->tile[0]].operand != 'P';
}

/* alpha * x. */
static const Value *scaled(Stmts *s, const Value *x)
{
    return value_call(s, "@mul", value_reg(s, "o.alpha"), x);
}

/* beta * c + x. */
static const Value *plus_c(const GpuPlan *p, Stmts *s, const GpuPoint *at, const Value *x)
{
    const Value *beta = value_reg(s, "o.beta");
    for (const Op *o = p->epilogue; o; o = o->next)
        if (of_c(p, o)) beta = value_call(s, "@mul", of_vector(p, s, &p->tile[o->tile[1]], at), beta);
    return value_call(s, "@madd", beta, value_call(s, "@to_c", at->c), x);
}

const Value *gpu_element_op(const GpuPlan *p, Stmts *s, const Op *o, const GpuPoint *at, const Value *x)
{
    switch (o->kind) {
    case OP_SCALE_TILE:
        if (o->scalar) return scaled(s, x);
        return of_c(p, o) ? x : value_call(s, "@mul", of_vector(p, s, &p->tile[o->tile[1]], at), x);
    case OP_ADD_TILE:
        if (!o->scalar) return value_call(s, "@add", x, of_vector(p, s, &p->tile[o->tile[2]], at));
        return at->c ? plus_c(p, s, at, x) : x;
    case OP_ACTIVATE_TILE:
        return value_activated(s, o->activation, x,
                               (const Value *[]){value_reg(s, "o.number_0"), value_reg(s, "o.number_1")});
    case OP_CONVERT_TILE:
        return value_call(s, "@from_c", x);
    default: /* what moves whole tiles */
        return x;
    }
}

/* ---- functions of the text ---- */

/* Results of few bits, and of products in tf32, take an instruction for tanh where there is one. */
static bool takes_fast_tanh(const GpuPlan *p)
{
    return p->dialect->fast_tanh && p->scalar.type == TYPE_S && (p->out.part_bytes <= 2 || p->math == TYPE_X);
}

static void activation(const GpuPlan *p, Stmts *s)
{
    if (!p->fused.activation) return;
    if (activation_has_exp(p->fused.activation) && takes_fast_tanh(p))
        stmt_file(s, p->dialect->fast_tanh);
    else if (activation_has_exp(p->fused.activation)) {
        const Value *x = value_reg(s, "x");
        stmt_function(s, (Function){.result = "@TC", .name = "@exp", STMT_PARAMS({"@TC", "x"})});
        stmt_return(s, value_call(s, p->dialect->exp[p->scalar.type == TYPE_D], x));
        stmt_end(s);
        stmt_file(s, "gpu/tanh.h");
    }
    stmt_activation(s, p->fused.activation);
    stmt_gap(s);
}

/* Is it the multiplication of all sums by alpha, with which an epilogue begins? */
static bool is_alpha(const Op *o) { return o->kind == OP_SCALE_TILE && o->scalar; }

bool gpu_relu_of_pairs(const GpuPlan *p)
{
    return gpu_slices_results(p) && gpu_type_bytes(&p->out) == 2 && !fused_has(&p->fused, FUSED_SCALE_D) &&
           p->fused.activation == ACTIVATION_RELU;
}

/* activates: with the activation. */
static void combined_function(const GpuPlan *p, Stmts *s, const char *name, bool activates)
{
    const Value *const x = value_reg(s, "x");
    const GpuPoint at = {value_reg(s, "of_row"), value_reg(s, "of_col"), value_reg(s, "c")};
    stmt_function(s, (Function){.result = "@TC",
                                .name = name,
                                STMT_PARAMS({"const @Ops &", "o"}, {"const @TC &", "sum"},
                                            {"const @TD &", "c"}, {"bool", "with_c"},
                                            {"const @OfRow &", "of_row"}, {"const @OfCol &", "of_col"})});
    bool any = false;
    for (const Op *o = p->epilogue; o && o->kind != OP_CONVERT_TILE; o = o->next) {
        const Value *y = is_alpha(o) ? x : gpu_element_op(p, s, o, &at, x);
        const bool adds_c = o->kind == OP_ADD_TILE && o->scalar;
        if (y == x || (o->kind == OP_ACTIVATE_TILE && !activates)) continue;
        if (!any) stmt_var(s, "@TC", "x", value_reg(s, "sum"));
        any = true;
        if (adds_c) stmt_if(s, value_reg(s, "with_c"));
        stmt_set(s, x, y);
        if (adds_c) stmt_end(s);
    }
    stmt_return(s, any ? x : value_reg(s, "sum"));
    stmt_end(s);
}

void gpu_ops(const GpuPlan *p, Stmts *s)
{
    if (p->fused.bias) stmt_typedef(s, p->fused.bias_type == p->scalar.type ? "@TC" : "@TD", "@TB", NULL);
    ops_struct(p, s);
    side_struct(p, s, ALONG_M);
    side_struct(p, s, ALONG_N);
    if (gpu_has_vectors(p, ALONG_M) || gpu_has_vectors(p, ALONG_N)) stmt_file(s, "gpu/neighbours.h");
    side_functions(p, s, ALONG_M);
    side_functions(p, s, ALONG_N);
    ops_functions(p, s);
    activation(p, s);
    stmt_function(s, (Function){.result = "@TC",
                                .name = "@scaled",
                                STMT_PARAMS({"const @Ops &", "o"}, {"const @TC &", "x"})});
    stmt_return(s, gpu_scales(p) ? scaled(s, value_reg(s, "x")) : value_reg(s, "x"));
    stmt_end(s);
    combined_function(p, s, "@combined", true);
    if (gpu_relu_of_pairs(p)) combined_function(p, s, "@before_relu", false);
    stmt_gap(s);
}
