/* Conversions of 8-bit floats as text: @f8_to_f @b8_to_f @f_to_f8 @f_to_b8, plain code but for the dialect's
 * words (GpuDialect.as_float, as_bits, e4m3_to_f) and @h2f. Called by the dialects' preludes. */
#include "kernel/gpu/gpu.h"

/* 8-bit float formats (problem/datatype.h), as codes without the sign: the largest number, NaN, and infinity,
 * which is the code of NaN in formats without infinities. */
typedef struct {
    const char *name;
    int man_bits, bias;
    unsigned largest, inf, nan;
} Small;
static const Small smalls[][2] = {
    [F8_FNUZ] = {{"f8", 3, 8, 127, 128, 128}, {"b8", 2, 16, 127, 128, 128}},
    [F8_OCP] = {{"f8", 3, 7, 0x7e, 0x7f, 0x7f}, {"b8", 2, 15, 0x7b, 0x7c, 0x7f}},
};

/* ---- to float ---- */

static void f8_to_float(const GpuDialect *d, Stmts *s, const Small *x)
{
    const int shift = 23 - x->man_bits;
    const Value *code = value_reg(s, "x"), *bits = value_op(s, VALUE_AND, code, value_literal(s, "127u"));
    if (x->inf == x->nan && d->e4m3_to_f && x->nan == 0x7f) {
        stmt_file(s, d->e4m3_to_f);
        return;
    }
    stmt_function(s, (Function){.result = "float",
                                .name = stmts_name(s, "@%s_to_f", x->name),
                                STMT_PARAMS({"unsigned char", "x"})});
    if (x->inf != x->nan) { /* the upper half of a binary16 */
        const Value *upper = value_op(s, VALUE_SHL, code, value_int(s, 8));
        stmt_return(s, value_call(s, "@h2f", value_cast(s, "unsigned short", upper)));
    } else {
        const Value *y = gpu_as_float(d, s, value_op(s, VALUE_SHL, bits, value_int(s, shift)));
        const Value *scale = value_literal(s, stmts_name(s, "0x1p%df", 127 - x->bias));
        y = stmt_define(s, "float", "y", value_op(s, VALUE_MUL, y, scale));
        const Value *sign = value_op(s, VALUE_AND, code, value_literal(s, "128u"));
        sign = value_op(s, VALUE_SHL, sign, value_int(s, 24));
        const Value *u = stmt_define(s, "unsigned", "u", value_op(s, VALUE_OR, gpu_as_bits(d, s, y), sign));
        const Value *is_nan = value_op(s, VALUE_EQ, x->nan < 128 ? bits : code, value_int(s, x->nan));
        stmt_return(s, gpu_as_float(d, s, value_select(s, is_nan, value_literal(s, "0x7fc00000u"), u)));
    }
    stmt_end(s);
}

/* ---- from float ---- */

static const Value *word(Stmts *s, unsigned value) { return value_literal(s, stmts_name(s, "0x%xu", value)); }

/* Rounds a to the nearest code of a normal number, ties to even. */
static const Value *normal_code(Stmts *s, const Small *x, const Value *a)
{
    const int shift = 23 - x->man_bits, rebias = 127 - x->bias;
    const Value *odd = value_op(s, VALUE_SHR, a, value_int(s, shift));
    odd = value_op(s, VALUE_AND, odd, value_literal(s, "1u"));
    const Value *sum = value_op(s, VALUE_ADD, a, word(s, (1u << (shift - 1)) - 1));
    sum = value_op(s, VALUE_SHR, value_op(s, VALUE_ADD, sum, odd), value_int(s, shift));
    return value_op(s, VALUE_SUB, sum, word(s, (unsigned)rebias << x->man_bits));
}

/* Adds the sign, and replaces codes that are too large. */
static void return_code(Stmts *s, const Small *x, const Value *u, const Value *a, const Value *code)
{
    const Value *sign = value_op(s, VALUE_SHR, u, value_int(s, 24));
    sign = value_op(s, VALUE_AND, sign, value_literal(s, "128u"));
    const Value *too_large = value_op(s, VALUE_GT, code, word(s, x->nan == 128 ? 127u : x->largest)), *all;
    if (x->nan == 128) {
        const Value *with_sign = value_op(s, VALUE_OR, code, sign);
        all = value_select(s, code, with_sign, value_literal(s, "0u"));
        all = value_select(s, too_large, value_literal(s, "128u"), all);
    } else {
        const Value *is_nan = value_op(s, VALUE_GT, a, word(s, 0x7f800000u));
        all = value_select(s, too_large, word(s, x->inf), code);
        all = stmt_define(s, "unsigned", "all", value_select(s, is_nan, word(s, x->nan), all));
        all = value_op(s, VALUE_OR, all, sign);
    }
    stmt_return(s, value_cast(s, "unsigned char", all));
}

/* Converts by integer arithmetic on the bits of a float. Denormals are rounded by adding `magic`, a float
 * whose last bit has the value of the format's smallest number; normal numbers are rounded as integers.
 * Values that are too large become the largest number, or without clip infinity, which is NaN in formats
 * without infinities. */
static void f8_from_float(const GpuDialect *d, Stmts *s, const Small *x, bool clip)
{
    const int shift = 23 - x->man_bits, rebias = 127 - x->bias;
    const unsigned magic = (unsigned)(127 + 23 + 1 - x->bias - x->man_bits) << 23;
    const unsigned most = (x->largest << shift) + ((unsigned)rebias << 23);
    stmt_function(s, (Function){.result = "unsigned char",
                                .name = stmts_name(s, "@f_to_%s", x->name),
                                STMT_PARAMS({"float", "f"})});
    const Value *u = stmt_define(s, "unsigned", "u", gpu_as_bits(d, s, value_reg(s, "f")));
    const Value *a = stmt_var(s, "unsigned", "a", value_op(s, VALUE_AND, u, word(s, 0x7fffffffu)));
    if (clip) {
        const Value *is_number = value_op(s, VALUE_LT, a, word(s, 0x7f800000u));
        stmt_if(s, value_op(s, VALUE_BOTH, value_op(s, VALUE_GT, a, word(s, most)), is_number));
        stmt_set(s, a, word(s, most));
        stmt_end(s);
    }
    const Value *sum = value_op(s, VALUE_ADD, gpu_as_float(d, s, a), gpu_as_float(d, s, word(s, magic)));
    const Value *small = stmt_define(s, "float", "small", sum);
    const Value *normal = stmt_define(s, "unsigned", "normal", normal_code(s, x, a));
    const Value *is_small = value_op(s, VALUE_LT, a, word(s, (unsigned)(rebias + 1) << 23));
    const Value *small_code = value_op(s, VALUE_SUB, gpu_as_bits(d, s, small), word(s, magic));
    return_code(s, x, u, a,
                stmt_define(s, "unsigned", "code", value_select(s, is_small, small_code, normal)));
    stmt_end(s);
}

void gpu_small_floats(const GpuPlan *p, Buf *out)
{
    if (!gpu_is_f8(p->in.type) && !gpu_is_f8(p->dest.type)) return;
    Stmts s;
    stmts_init(&s, GPU_STMTS_BYTES);
    for (int i = 0; i < 2; i++) {
        const Small *x = &smalls[p->target->f8][i];
        f8_to_float(p->dialect, &s, x);
        f8_from_float(p->dialect, &s, x, p->f8_clips);
    }
    gpu_put(p, &s, out);
}
