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

/* Convert x from that type to the compute type, and back. */
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

/* Prints the vector types of the compute type. @MM(f) names the intrinsic f for them. */
static void vectors(HostText *t)
{
    Stmts *s = &t->s;
    const HostPlan *p = t->p;
    const int bits = 8 * p->vl * p->compute.bytes;
    const bool is_int = p->compute.type == TYPE_I;
    const char *suffix = is_int ? "epi32" : p->compute.bytes == 8 ? "pd" : "ps";
    stmt_macro(s, "@MM(f)",
               stmts_name(s, "_mm%s_##f##_%s",
                          bits == 512   ? "512"
                          : bits == 256 ? "256"
                                        : "",
                          suffix));
    stmt_constant(s, "int", "@VL", p->vl);
    stmt_file(s, "host/vector.h");
    stmt_file(s, p->level >= 3 && !is_int ? "host/fma_mm.h" : "host/fma.h");
    if (p->stream_d) stmt_file(s, "host/stream.h");
    if (!p->direct) return;
    if (p->level >= 4) {
        stmt_typedef(s, is_int ? stmts_name(s, "__m%di", bits) : "@V", "@M", NULL);
        stmt_typedef(s, p->vl > 8 ? "__mmask16" : "__mmask8", "@Mask", NULL);
    }
    stmt_file(s, p->level >= 4 ? "host/part_access_mask.h" : "host/part_access.h");
}

/* Prints the load of vl consecutive elements of A or B, converted to the compute type. */
static void vector_input(HostText *t)
{
    Stmts *s = &t->s;
    const HostPlan *p = t->p;
    const DataType in = p->in.type;
    const bool f16c = in == TYPE_H && p->level >= 3, converts = in == TYPE_I8 || in == TYPE_B;
    if (p->parts == 2) return;
    if (f16c)
        stmt_macro(s, "@HALVES(p)",
                   p->vl == 16  ? "_mm256_loadu_si256((const __m256i *)(p))"
                   : p->vl == 8 ? "_mm_loadu_si128((const __m128i *)(p))"
                                : "_mm_loadl_epi64((const __m128i *)(p))");
    if (converts) {
        stmt_typedef(s, in == TYPE_B ? "uint32_t" : "int32_t", "@TW", NULL);
        stmt_constant(s, "int", "@SHIFT", in == TYPE_B ? 16 : 0);
    }
    stmt_file(s, f16c                    ? "host/load_f16c.h"
                 : in == p->compute.type ? "host/load_same.h"
                 : converts              ? "host/load_convert.h"
                                         : "host/load_each.h");
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
    if (t->indices) host_dims_struct(t);
    if (fused_any(&p->fused)) {
        const bool same = !p->fused.bias || p->fused.bias_type == p->compute.type;
        stmt_typedef(s, same ? p->compute.c : p->out.c, "@TB", NULL);
        stmt_file(s, "host/fused.h");
    }
    if (p->parts == 2)
        stmt_file(s, "host/result_complex.h");
    else if (p->epilogue)
        host_result(t);
}

void host_prelude(HostText *t)
{
    host_scalars(t);
    vectors(t);
    vector_input(t);
}
