/* Fused: what a GEMM does to its result besides alpha and beta, with the names and meanings of hipBLASLt and
 * TensileLite:
 *
 *     D = scaleD * activation(scaleAlphaVec * scaleA * scaleB * alpha * op(A) * op(B)
 *                             + scaleC * beta * C + bias)
 *
 * bias and scaleAlphaVec are vectors along M (of size M) or along N; scaleA and scaleB are one number each
 * (UseScaleAB Scalar) or vectors of size M and N (Vector); scaleC and scaleD are one number each. Scale
 * factors are of the compute type, the bias of a type of its own. All of them are passed as pointers.
 *
 * The operation identifier of a problem with fused operations has a suffix, so that a host that cannot pass
 * their arguments never selects a solution for it. The arguments follow Tensile's and the words of the
 * work-group order (problem/mapping.h): the pointers scaleA, scaleB, scaleC, scaleD, scaleAlphaVec, bias (8
 * bytes each, only those that are used), the elements between the biases of two matrices of a batch (4 bytes,
 * in batched problems), and the two numbers of the activation, where it has any, in the compute type. */
#ifndef PROBLEM_FUSED_H
#define PROBLEM_FUSED_H

#include "base/str.h"
#include "problem/datatype.h"

/* TensileLite's ActivationType. With x the value and a, b the activation's two numbers:
 * abs |x|; clippedrelu x if x >= a (else 0), at most b; gelu 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)));
 * leakyrelu x if x >= 0, else a x; relu max(x, 0); sigmoid 1 / (1 + exp(-x)); tanh a tanh(b x);
 * silu x sigmoid(x); clamp max(a, min(x, b)). */
typedef enum {
    ACTIVATION_NONE,
    ACTIVATION_ABS,
    ACTIVATION_CLIPPEDRELU,
    ACTIVATION_GELU,
    ACTIVATION_LEAKYRELU,
    ACTIVATION_RELU,
    ACTIVATION_SIGMOID,
    ACTIVATION_TANH,
    ACTIVATION_SILU,
    ACTIVATION_CLAMP,
    ACTIVATION_COUNT
} Activation;

typedef enum { ALONG_NONE, ALONG_M, ALONG_N } Along;                      /* UseBias, UseScaleAlphaVec */
typedef enum { SCALE_AB_NONE, SCALE_AB_SCALAR, SCALE_AB_VECTOR } ScaleAB; /* UseScaleAB */

typedef struct {
    Along bias, scale_alpha;
    DataType bias_type; /* 0 without a bias */
    Activation activation;
    ScaleAB scale_ab;
    bool scale_cd;
} Fused;

/* The operands, in the order of the arguments. */
typedef enum {
    FUSED_SCALE_A,
    FUSED_SCALE_B,
    FUSED_SCALE_C,
    FUSED_SCALE_D,
    FUSED_SCALE_ALPHA,
    FUSED_BIAS,
    FUSED_OPERANDS
} FusedOperand;

bool fused_any(const Fused *f);
/* Whether the fused operations have that operand. */
bool fused_has(const Fused *f, FusedOperand o);
/* Along what the operand lies; ALONG_NONE: it is one number. */
Along fused_along(const Fused *f, FusedOperand o);
/* "scale_a" to "bias": the names in kernels and in messages. */
const char *fused_name(FusedOperand o);

const char *activation_name(Activation a);
bool activation_find(Str name, Activation *out);
/* How many numbers the activation has: 0, 1 or 2. */
int activation_numbers(Activation a);
/* Whether it needs an exponential function. */
bool activation_has_exp(Activation a);
/* The activation of x, for the reference. */
double activation_of(Activation a, double x, const double number[2]);

/* The suffix of names and operation identifiers: "_BiasS" ("_BiasSN" along N), "_RELU", "_SAB" or "_SABV",
 * "_SCD", "_SAV" or "_SAVN"; nothing without any. Writes it without a NUL and returns its length. */
enum { FUSED_SUFFIX_MAX = 64 };
size_t fused_suffix(const Fused *f, char out[FUSED_SUFFIX_MAX]);
/* Appends the suffix. */
void fused_put(const Fused *f, Buf *out);
/* Reads such a suffix; false: it is none. */
bool fused_read(Str suffix, Fused *out);
/* Reads the suffix of an operation identifier ("Contraction_l_Ailk_Bljk_Cijk_Dijk_RELU") and removes it from
 * *identifier. False: what follows the indices is no such suffix. */
bool fused_of_identifier(Str *identifier, Fused *out);

#endif
