/* Sections of a table of sizes. See section.h. */
#include "problem/section.h"

#include "problem/datatype.h"

enum { LINE_BYTES = 16 };

SectionLines section_lines(const ProblemType *pt, int operand)
{
    static const PredId predicate[] = {PRED_FREE0_MULTIPLE, PRED_FREE1_MULTIPLE, PRED_BOUND_MULTIPLE};
    enum { M, N, K };
    const int dim = operand == 0 ? (pt->TransposeA ? K : M) : operand == 1 ? (pt->TransposeB ? N : K) : M;
    const int64_t bytes = type_bytes((DataType)(operand == 2 ? pt->DestDataType : pt->DataType));
    return (SectionLines){dim, bytes < LINE_BYTES ? LINE_BYTES / bytes : 1, predicate[dim]};
}

int section_of(const ProblemType *pt, const int64_t size[3], int64_t batch)
{
    int section = batch > 1 ? SECTION_BATCHED : 0;
    for (int i = 0; i < SECTION_OPERANDS; i++) {
        const SectionLines l = section_lines(pt, i);
        if (size[l.dim] % l.multiple == 0) section |= 1 << i;
    }
    return section;
}
