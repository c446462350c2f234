/* libtuner: checks a tuner_epilogue and makes what selection and launcher take of it. */
#include <inttypes.h>
#include <string.h>

#include "client/runtime/tuner_priv.h"

/* Bytes of tuner_epilogue in the first release; later members follow those. */
enum { FIRST_SIZE = 104 };
_Static_assert(sizeof(tuner_epilogue) == FIRST_SIZE, "members are added at the end, and FIRST_SIZE stays");
_Static_assert((int)TUNER_ACTIVATION_CLAMP == ACTIVATION_CLAMP &&
                   (int)TUNER_ACTIVATION_RELU == ACTIVATION_RELU &&
                   (int)TUNER_ACTIVATION_CLAMP + 1 == ACTIVATION_COUNT,
               "both enums have the same numbers");
_Static_assert((int)TUNER_ALONG_N == ALONG_N && (int)TUNER_SCALE_VECTOR == SCALE_AB_VECTOR,
               "both enums have the same numbers");

static Err check_number(const char *member, int32_t value, int32_t max)
{
    return check_member("tuner_epilogue", member, value, max);
}

static Err check(const tuner_gemm_desc *g, const tuner_epilogue *e)
{
    TRY(check_struct("tuner_epilogue", e, FIRST_SIZE, sizeof *e));
    TRY(check_number("activation", e->activation, ACTIVATION_COUNT - 1));
    TRY(check_number("bias_along", e->bias_along, TUNER_ALONG_N));
    TRY(check_number("scale_alpha_along", e->scale_alpha_along, TUNER_ALONG_N));
    TRY(check_number("scale_ab", e->scale_ab, TUNER_SCALE_VECTOR));
    TRY(check_number("scale_cd", e->scale_cd, 1));
    if (e->bias_along) TRY(check_type("bias", (tuner_type)e->bias_type));
    if (e->bias_stride < 0 || e->bias_stride > UINT32_MAX)
        FAIL(ERR_INPUT, "tuner_epilogue.bias_stride is %" PRId64 ", expected 0 to 2^32 - 1", e->bias_stride);
    if (g->compute_type != TUNER_F32 && g->compute_type != TUNER_F64)
        FAIL(ERR_INPUT, "compute type %s has no fused operations, expected f32_r or f64_r",
             tuner_type_word(g->compute_type));
    return ERR_OK;
}

static void put_numbers(tuner_type compute, const double arg[2], unsigned char out[16])
{
    const float f[2] = {(float)arg[0], (float)arg[1]};
    if (compute == TUNER_F64)
        memcpy(out, arg, 2 * sizeof *arg);
    else
        memcpy(out, f, sizeof f);
}

Err epilogue_of_call(const tuner_gemm_desc *g, const tuner_epilogue *e, Epilogue *out)
{
    memset(out, 0, sizeof *out);
    if (!e) return ERR_OK;
    TRY(check(g, e));
    const void *const operand[FUSED_OPERANDS] = {e->scale_a, e->scale_b,     e->scale_c,
                                                 e->scale_d, e->scale_alpha, e->bias};
    out->op = (Fused){.bias = (Along)e->bias_along,
                      .scale_alpha = (Along)e->scale_alpha_along,
                      .bias_type = e->bias_along ? (DataType)e->bias_type : TYPE_S,
                      .activation = (Activation)e->activation,
                      .scale_ab = (ScaleAB)e->scale_ab,
                      .scale_cd = e->scale_cd};
    for (int o = 0; o < FUSED_OPERANDS; o++)
        if (operand[o] && !fused_has(&out->op, (FusedOperand)o))
            FAIL(ERR_INPUT, "tuner_epilogue.%s is given, but its operation is not wanted",
                 fused_name((FusedOperand)o));
    memcpy(out->operand, operand, sizeof operand);
    memcpy(out->arg, e->activation_arg, sizeof out->arg);
    out->bias_stride = e->bias_along ? e->bias_stride : 0;
    put_numbers(g->compute_type, e->activation_arg, out->number);
    return ERR_OK;
}

Err epilogue_pointers(const Epilogue *f)
{
    for (int o = 0; o < FUSED_OPERANDS; o++)
        if (!f->operand[o] && fused_has(&f->op, (FusedOperand)o))
            FAIL(ERR_INPUT, "tuner_epilogue.%s is a null pointer", fused_name((FusedOperand)o));
    return ERR_OK;
}

Epilogue epilogue_of_matrix(const Epilogue *f, int64_t i)
{
    Epilogue one = *f;
    if (f->op.bias)
        one.operand[FUSED_BIAS] =
            (const char *)f->operand[FUSED_BIAS] + i * f->bias_stride * type_bytes(f->op.bias_type);
    one.bias_stride = 0;
    return one;
}
