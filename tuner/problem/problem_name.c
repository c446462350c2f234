/* Names of a problem type: the prefix of kernel and file names, the operation identifier of library files,
 * values as text. Index letters are i, j, k, ... in the order of index numbers; mirrored ones are upper case.
 */
#include "problem/problem.h"

#include <string.h>

static void add_letter(Buf *out, int32_t index, bool upper)
{
    buf_putc(out, (char)((upper ? 'I' : 'i') + index));
}

static void add_tensor(Buf *out, char tensor, const IndexList *l, const IndexList *mirror, bool conjugate)
{
    buf_putc(out, '_');
    buf_putc(out, tensor);
    for (int32_t i = 0; i < l->n; i++) add_letter(out, l->v[i], index_list_has(mirror, l->v[i]));
    if (conjugate) buf_putc(out, 'C');
}

static void add_tensors(const ProblemType *pt, Buf *out)
{
    add_tensor(out, 'A', &pt->IndexAssignmentsA, &pt->MirrorDimsA, pt->ComplexConjugateA);
    add_tensor(out, 'B', &pt->IndexAssignmentsB, &pt->MirrorDimsB, pt->ComplexConjugateB);
}

void problem_type_name(const ProblemType *pt, Buf *out)
{
    const DataType in = (DataType)pt->DataType, dest = (DataType)pt->DestDataType;
    const DataType compute = (DataType)pt->ComputeDataType;
    buf_putc(out, 'C');
    for (int32_t i = 0; i < pt->NumIndicesC; i++) add_letter(out, i, false);
    add_tensors(pt, out);
    buf_putc(out, '_');
    buf_puts(out, type_letter(in));
    if (problem_types_mixed(in, dest, compute)) {
        buf_puts(out, type_letter(dest));
        buf_puts(out, type_letter(compute));
        buf_putc(out, '_');
    }
    if (pt->UseBeta) buf_putc(out, 'B');
    if (pt->HighPrecisionAccumulate && !pt->SilentHighPrecisionAccumulate) buf_putc(out, 'H');
    if (pt->Fp16AltImpl) buf_puts(out, pt->Fp16AltImplRound ? "RZ" : "R");
    if (pt->UseInitialStridesAB) buf_putc(out, 'I');
    if (pt->UseInitialStridesCD) buf_puts(out, "Ic");
    if (!pt->StridedBatched) buf_puts(out, "_GB");
    if (pt->F32XdlMathOp != TYPE_S && in == TYPE_S) {
        buf_puts(out, "_M");
        buf_puts(out, type_letter((DataType)pt->F32XdlMathOp));
    }
    if (pt->StochasticRounding) buf_puts(out, "_SR");
    const Fused f = problem_fused(pt);
    fused_put(&f, out);
}

void problem_operation_identifier(const ProblemType *pt, Buf *out)
{
    buf_puts(out, "Contraction_");
    for (int32_t i = 0; i < pt->NumIndicesSummation; i++) add_letter(out, pt->IndicesSummation.v[i], false);
    add_tensors(pt, out);
    for (const char *d = "CD"; *d; d++) {
        buf_putc(out, '_');
        buf_putc(out, *d);
        for (int32_t i = 0; i < pt->NumIndicesC; i++) add_letter(out, i, false);
    }
    const Fused f = problem_fused(pt);
    fused_put(&f, out);
}

static void print_indices(const IndexList *l, Buf *out)
{
    buf_putc(out, '[');
    for (int32_t i = 0; i < l->n; i++) buf_printf(out, "%s%d", i ? ", " : "", (int)l->v[i]);
    buf_putc(out, ']');
}

static void print_tuples(const TupleList *l, Buf *out)
{
    buf_putc(out, '[');
    for (int32_t i = 0; i < l->n; i++) {
        buf_puts(out, i ? ", [" : "[");
        for (int32_t j = 0; j < l->width; j++) buf_printf(out, "%s%d", j ? ", " : "", (int)l->v[i][j]);
        buf_putc(out, ']');
    }
    buf_putc(out, ']');
}

static void print_conv(const ConvConfig *c, Buf *out)
{
    buf_putc(out, '[');
    for (int32_t i = 0; i < c->n; i++)
        buf_printf(out, "%s{%s: %s}", i ? ", " : "", conv_key_name((ConvKey)c->key[i]), c->value[i]);
    buf_putc(out, ']');
}

void problem_key_print(const PtKey *key, const ProblemType *pt, Buf *out)
{
    const char *field = (const char *)pt + key->offset;
    int32_t v;
    memcpy(&v, field, sizeof v);
    switch ((PtKind)key->kind) {
    case PT_BOOL:
        buf_puts(out, v ? "true" : "false");
        return;
    case PT_INT:
    case PT_TYPE:
        buf_i64(out, v);
        return;
    case PT_ACTIVATION:
        buf_puts(out, activation_name((Activation)v));
        return;
    case PT_SCALE_AB:
        buf_printf(out, "'%s'", scale_ab_name((ScaleAB)v));
        return;
    case PT_TYPES:
        print_indices((const IndexList *)(const void *)field, out);
        return;
    case PT_OPERATION:
        buf_puts(out, operation_name((OperationKind)v));
        return;
    case PT_INDICES:
        print_indices((const IndexList *)(const void *)field, out);
        return;
    case PT_TUPLES:
        print_tuples((const TupleList *)(const void *)field, out);
        return;
    case PT_CONV:
        print_conv((const ConvConfig *)(const void *)field, out);
        return;
    }
}
