/* Opening of a host kernel's text: element types, conversions, vectors with partial loads and stores for the
 * target's instruction level. Uses intrinsics only where GCC's and clang's vector extension has no word for
 * it.
 */
#include "kernel/host/text.h"

HostType host_type(DataType type)
{
    switch (type) {
    case TYPE_S:
        return (HostType){type, "float", 4, false};
    case TYPE_D:
        return (HostType){type, "double", 8, false};
    case TYPE_C:
        return (HostType){type, "float", 4, true};
    case TYPE_Z:
        return (HostType){type, "double", 8, true};
    case TYPE_H:
    case TYPE_B:
        return (HostType){type, "uint16_t", 2, false};
    case TYPE_I8:
        return (HostType){type, "int8_t", 1, false};
    case TYPE_I:
        return (HostType){type, "uint32_t", 4, false};
    default:
        return (HostType){type, NULL, 0, false};
    }
}

/* x of that type as the compute type, and the other way round. */
static const Value *to_compute(Stmts *s, DataType type)
{
    const Value *x = value_reg(s, "x");
    if (type == TYPE_I8) return value_cast(s, "uint32_t", value_cast(s, "int32_t", x));
    return type == TYPE_H ? value_call(s, "@h2f", x) : type == TYPE_B ? value_call(s, "@b2f", x) : x;
}

static const Value *from_compute(Stmts *s, DataType type)
{
    const Value *x = value_reg(s, "x");
    return type == TYPE_H ? value_call(s, "@f2h", x) : type == TYPE_B ? value_call(s, "@f2b", x) : x;
}

static void conversion(Stmts *s, const char *to, const char *name, const char *from, const Value *x)
{
    stmt_function(s, (Function){.result = to, .name = name, STMT_PARAMS({from, "x"})});
    stmt_return(s, x);
    stmt_end(s);
}

/* ---- vectors ---- */

static int vector_bytes(const HostPlan *p) { return p->vl * p->compute.bytes; }

static bool is_int(const HostPlan *p) { return p->compute.type == TYPE_I; }

/* The intrinsic of that name for whole vectors: "_mm512_fmadd_ps". */
static const char *intrinsic(HostText *t, const char *name)
{
    const int bytes = vector_bytes(t->p);
    return stmts_name(&t->s, "_mm%s_%s_%s",
                      bytes == 64   ? "512"
                      : bytes == 32 ? "256"
                                    : "",
                      name,
                      is_int(t->p)               ? "epi32"
                      : t->p->compute.bytes == 8 ? "pd"
                                                 : "ps");
}

/* A function that is one intrinsic. */
static void named_intrinsic(HostText *t, Function f, const char *name, const Value *const *x, int n)
{
    Stmts *s = &t->s;
    const Value *call = value_call_n(s, intrinsic(t, name), n, x);
    stmt_function(s, f);
    if (f.result)
        stmt_return(s, value_cast(s, f.result, call));
    else
        stmt_do(s, call);
    stmt_end(s);
}

static void fma_function(HostText *t, const char *name, const char *of)
{
    Stmts *s = &t->s;
    const Value *const x[] = {value_reg(s, "a"), value_reg(s, "b"), value_reg(s, "c")};
    named_intrinsic(
        t, (Function){.result = "@V", .name = name, STMT_PARAMS({"@V", "a"}, {"@V", "b"}, {"@V", "c"})}, of,
        x, 3);
}

static void vectors(HostText *t)
{
    Stmts *s = &t->s;
    const HostPlan *p = t->p;
    const Value *const x[] = {value_reg(s, "x")};
    stmt_constant(s, "int", "@VL", p->vl);
    stmt_file(s, "host/vector.h");
    named_intrinsic(t, (Function){.result = "@V", .name = "@set", STMT_PARAMS({"@TC", "x"})}, "set1", x, 1);
    if (p->level < 3 || is_int(p)) {
        stmt_file(s, "host/fma.h");
        return;
    }
    fma_function(t, "@fma", "fmadd");
    fma_function(t, "@fnma", "fnmadd");
}

/* The first n elements of a vector in memory; nothing behind them is touched. 1 <= n <= vl. */
static void partial_access(HostText *t)
{
    Stmts *s = &t->s;
    const HostPlan *p = t->p;
    if (p->level < 4) {
        stmt_file(s, "host/part_access.h");
        return;
    }
    const char *type = stmts_name(s, "__m%d%s", 8 * vector_bytes(p), is_int(p) ? "i" : "");
    const Value *bits = value_op(s, VALUE_SHL, value_literal(s, "1u"), value_reg(s, "n"));
    const Value *mask = value_cast(s, p->vl > 8 ? "__mmask16" : "__mmask8",
                                   value_op(s, VALUE_SUB, bits, value_literal(s, "1u")));
    const Value *at = value_reg(s, "p"), *v = value_cast(s, is_int(p) ? type : "@V", value_reg(s, "v"));
    named_intrinsic(
        t, (Function){.result = "@V", .name = "@load_n", STMT_PARAMS({"const @TC *", "p"}, {"int64_t", "n"})},
        "maskz_loadu", (const Value *const[]){mask, at}, 2);
    named_intrinsic(
        t, (Function){.name = "@store_n", STMT_PARAMS({"@TC *", "p"}, {"@V", "v"}, {"int64_t", "n"})},
        "mask_storeu", (const Value *const[]){at, mask, v}, 3);
}

/* vl consecutive elements of half: as wide as they need. */
static const char *halves(int vl)
{
    return vl == 16  ? "_mm256_loadu_si256((const __m256i *)p)"
           : vl == 8 ? "_mm_loadu_si128((const __m128i *)p)"
                     : "_mm_loadl_epi64((const __m128i *)p)";
}

/* vl consecutive elements of A or B in memory, converted to the compute type. */
static void vector_input(HostText *t)
{
    Stmts *s = &t->s;
    const HostPlan *p = t->p;
    const DataType in = p->in.type;
    const bool f16c = in == TYPE_H && p->level >= 3;
    Function f = {.result = "@V", .name = "@load_in", STMT_PARAMS({"const @TI *", "p"})};
    if (p->parts == 2) return;
    if (f16c)
        named_intrinsic(t, f, "cvtph", (const Value *const[]){value_literal(s, halves(p->vl))}, 1);
    else if (in == p->compute.type) {
        stmt_function(s, f);
        stmt_return(s, value_call(s, "@load", value_reg(s, "p")));
        stmt_end(s);
    } else if (in == TYPE_I8 || in == TYPE_B) {
        stmt_typedef(s, in == TYPE_B ? "uint32_t" : "int32_t", "@TW", NULL);
        stmt_constant(s, "int", "@SHIFT", in == TYPE_B ? 16 : 0);
        stmt_file(s, "host/load_convert.h");
    } else
        stmt_file(s, "host/load_each.h");
}

static bool uses(const HostPlan *p, DataType type)
{
    return p->in.type == type || p->out.type == type || p->dest == type;
}

void host_scalars(HostText *t)
{
    Stmts *s = &t->s;
    const HostPlan *p = t->p;
    stmt_file(s, "host/opening.h");
    stmt_typedef(s, p->in.c, "@TI", NULL);
    stmt_typedef(s, p->compute.c, "@TC", NULL);
    stmt_typedef(s, p->out.c, "@TD", NULL);
    stmt_constant(s, "int", "@PARTS", p->parts);
    if (uses(p, TYPE_H)) stmt_file(s, p->level >= 3 ? "host/half_f16c.h" : "host/half.h");
    if (uses(p, TYPE_B)) stmt_file(s, "host/bf16.h");
    conversion(s, "@TC", "@in", "@TI", to_compute(s, p->in.type));
    conversion(s, "@TC", "@from", "@TD", to_compute(s, p->out.type));
    conversion(s, "@TD", "@to", "@TC", from_compute(s, p->out.type));
    stmt_file(s, "host/args.h");
    stmt_file(s, p->parts == 2 ? "host/result_complex.h" : "host/result.h");
}

void host_prelude(HostText *t)
{
    host_scalars(t);
    vectors(t);
    if (t->p->direct) partial_access(t);
    vector_input(t);
}
