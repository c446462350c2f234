/* Element types of a kernel's text: parts, elements, vectors, conversions and arithmetic on accumulators. */
#include "kernel/gpu/gpu.h"

#include <stdio.h>

static void element(Stmts *s, const char *name, const char *part_name, const GpuType *t)
{
    stmt_typedef(s, t->part, part_name, NULL);
    if (t->parts == 1) {
        stmt_typedef(s, part_name, name, NULL);
        return;
    }
    stmt_struct(s, name, 0);
    stmt_var(s, part_name, "re", NULL);
    stmt_var(s, part_name, "im", NULL);
    stmt_end(s);
}

static void vectors(const GpuPlan *p, const char *name, const GpuType *t, Buf *out)
{
    char full[16];
    for (int n = 1; n * t->part_bytes <= 16; n++) {
        bool wanted = (n & (n - 1)) == 0 || n == 3 || n == 6;
        if (!wanted) continue;
        snprintf(full, sizeof full, "@%s%d", name, n);
        p->dialect->vector(full, t->part, t->part_bytes, n, out);
    }
}

/* Types that are no numbers of the language: both ways. */
static const struct {
    DataType type;
    const char *widen, *narrow;
} conversions[] = {{TYPE_H, "@h2f", "@f2h"},
                   {TYPE_B, "@b2f", "@f2b"},
                   {TYPE_F8, "@f8_to_f", "@f_to_f8"},
                   {TYPE_B8, "@b8_to_f", "@f_to_b8"}};

const char *gpu_widen(DataType type)
{
    for (size_t i = 0; i < sizeof conversions / sizeof conversions[0]; i++)
        if (conversions[i].type == type) return conversions[i].widen;
    return "";
}

const char *gpu_narrow(DataType type)
{
    for (size_t i = 0; i < sizeof conversions / sizeof conversions[0]; i++)
        if (conversions[i].type == type) return conversions[i].narrow;
    return "";
}

static void conversion(Stmts *s, const char *to, const char *name, const char *from, const char *call)
{
    const Value *x = value_reg(s, "x");
    stmt_function(s, (Function){.result = to, .name = name, STMT_PARAMS({from, "x"})});
    stmt_return(s, *call ? value_call(s, call, x) : x);
    stmt_end(s);
}

static void real_arithmetic(const GpuPlan *p, Stmts *s)
{
    conversion(s, "@TC", "@to_c", "@TD", gpu_widen(p->out.type));
    conversion(s, "@TD", "@from_c", "@TC", gpu_narrow(p->out.type));
    conversion(s, "@TC", "@from_s", "@TS", gpu_widen(p->scalar.type));
    conversion(s, "@TS", "@to_s", "@TC", gpu_narrow(p->scalar.type));
    stmt_file(s, "gpu/real.h");
    stmt_file(s, p->acc.type == TYPE_I ? "gpu/madd_integer.h" : "gpu/madd_float.h");
}

/* Text in front of "x)" as a call: "f(" or "f(type, ". */
static const Value *reinterpreted(Stmts *s, const char *words, const Value *x)
{
    const Str all = str_from(words);
    const size_t open = str_find(all, '(', 0), comma = str_find(all, ',', open);
    const char *name = stmts_name(s, "%.*s", STR_ARG(str_sub(all, 0, open)));
    if (comma == all.n) return value_call(s, name, x);
    return value_call(s, name, value_named(s, "%.*s", STR_ARG(str_sub(all, open + 1, comma))), x);
}

const Value *gpu_as_float(const GpuDialect *d, Stmts *s, const Value *x)
{
    return reinterpreted(s, d->as_float, x);
}

const Value *gpu_as_bits(const GpuDialect *d, Stmts *s, const Value *x)
{
    return reinterpreted(s, d->as_bits, x);
}

/* Fp16AltImpl, as in Tensile: converts f16 to f32 and takes the upper half as bf16. With Fp16AltImplRound it
 * rounds to the nearest, ties toward zero. Denormals of f16 are normal numbers of bf16. */
static void half_to_bf16(const GpuPlan *p, Stmts *s)
{
    stmt_function(
        s, (Function){.result = "unsigned short", .name = "@to_bf16", STMT_PARAMS({"unsigned short", "h"})});
    const Value *f = stmt_define(s, "float", "f", value_call(s, "@h2f", value_reg(s, "h")));
    const Value *u = stmt_var(s, "unsigned", "u", gpu_as_bits(p->dialect, s, f));
    if (p->to_bf16_rounds) {
        stmt_if(s, value_op(s, VALUE_EQ, f, f));
        stmt_update(s, VALUE_ADD, u, value_literal(s, "0x7fffu"));
        stmt_end(s);
    }
    stmt_return(s, value_cast(s, "unsigned short", value_op(s, VALUE_SHR, u, value_int(s, 16))));
    stmt_end(s);
    stmt_file(s, "gpu/to_bf16x2.h");
}

void gpu_types(const GpuPlan *p, Buf *out)
{
    Stmts s;
    stmts_init(&s, GPU_STMTS_BYTES);
    gpu_heading(&s, "---- types ----");
    element(&s, "@T", "@P", &p->in);
    element(&s, "@TC", "@PC", &p->acc);
    element(&s, "@TD", "@PD", &p->out);
    element(&s, "@TS", "@PS", &p->scalar);
    gpu_put(p, &s, out);
    vectors(p, "VP", &p->in, out);
    vectors(p, "VD", &p->out, out);
    vectors(p, "VC", &p->acc, out);
    stmts_init(&s, GPU_STMTS_BYTES);
    if (p->acc.parts == 2)
        stmt_file(&s, "gpu/complex.h");
    else
        real_arithmetic(p, &s);
    if (p->to_bf16) half_to_bf16(p, &s);
    gpu_put(p, &s, out);
}
