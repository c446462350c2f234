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

int64_t section_most(int section, int dim)
{
    const int sides = section / SECTION_THIN;
    const int class = dim == 0 ? sides / SECTION_SIDES : sides % SECTION_SIDES;
    return class < SECTION_SIDES - 1 ? INT64_C(16) << class : 0;
}

static int side_class(int64_t x)
{
    int class = 0;
    while (section_most(SECTION_THIN * class, 1) && x > section_most(SECTION_THIN * class, 1)) class ++;
    return class;
}

int section_of(const ProblemType *pt, const int64_t size[3], int64_t batch)
{
    int section = batch > 1 ? SECTION_BATCHED : 0;
    for (int i = 0; i < SECTION_OPERANDS; i++) {
        const SectionLines l = section_lines(pt, i);
        if (size[l.dim] % l.multiple == 0) section |= 1 << i;
    }
    return section + SECTION_THIN * (SECTION_SIDES * side_class(size[0]) + side_class(size[1]));
}

int section_at(int i)
{
    static const int by_conditions[SECTION_BATCHED] = {7, 3, 5, 6, 1, 2, 4, 0};
    enum { THIN = SECTION_SIDES * SECTION_SIDES };
    const int bits = i / THIN;
    return (by_conditions[bits % SECTION_BATCHED] | (bits < SECTION_BATCHED ? 0 : SECTION_BATCHED)) +
           SECTION_THIN * (i % THIN);
}

bool section_holds(int section, int of)
{
    enum { LINES = SECTION_BATCHED - 1 };
    if (section & LINES & ~of || (of & SECTION_BATCHED && !(section & SECTION_BATCHED))) return false;
    for (int dim = 0; dim < 2; dim++) {
        const int64_t most = section_most(section, dim), own = section_most(of, dim);
        if (most && (!own || own > most)) return false;
    }
    return true;
}
