/* Looking up matrix instructions; see matrix_inst.h. */
#include "problem/matrix_inst.h"

static const MatrixInst insts[] = {
#define MI(arches, a, b, sum, m, n, k, blocks, lanes, n_a, n_b, n_acc, layout, name)                         \
    {arches, TYPE_##a, TYPE_##b, TYPE_##sum,     m,   n, k, blocks, n, 1, lanes,                             \
     n_a,    n_b,      n_acc,    LANES_##layout, name},
#define MI_COLUMNS(arches, a, b, sum, first, last, step, k, name)                                            \
    {arches,      TYPE_##a, TYPE_##b, TYPE_##sum,  WGMMA_ROWS, first, k,                                     \
     1,           last,     step,     WGMMA_LANES, 0,          0,     WGMMA_ROWS * (first) / WGMMA_LANES,    \
     LANES_WGMMA, name},
#include "problem/matrix_inst.def"
#undef MI
#undef MI_COLUMNS
};
enum { N_INSTS = sizeof insts / sizeof insts[0] };

MatrixUnit matrix_unit(const MatrixInst *in)
{
    switch (in->layout) {
    case LANES_MFMA:
    case LANES_MFMA_F64:
        return MATRIX_UNIT_MFMA;
    case LANES_WMMA_R3:
    case LANES_WMMA_R4:
        return MATRIX_UNIT_WMMA;
    case LANES_MMA:
        return MATRIX_UNIT_MMA;
    case LANES_WGMMA:
        return MATRIX_UNIT_WGMMA;
    }
    return MATRIX_UNIT_NONE;
}

const MatrixInst *matrix_inst_at(size_t i) { return i < N_INSTS ? &insts[i] : NULL; }

bool matrix_is_bf16_1k(const MatrixInst *in)
{
    return in->a == TYPE_B && matrix_unit(in) == MATRIX_UNIT_MFMA && in->n_a == 4;
}

MatrixUnit matrix_unit_of(const Target *t)
{
    for (int i = 0; i < N_INSTS; i++)
        if (insts[i].arches & t->matrix) return matrix_unit(&insts[i]);
    return MATRIX_UNIT_NONE;
}

DataType matrix_type(DataType type)
{
    switch (type) {
    case TYPE_C:
        return TYPE_S;
    case TYPE_Z:
        return TYPE_D;
    case TYPE_B8:
    case TYPE_F8B8:
    case TYPE_B8F8:
        return TYPE_F8;
    default:
        return type;
    }
}

static bool has_shape(const MatrixInst *x, const int32_t shape[4])
{
    bool swapped = x->layout == LANES_WGMMA && shape[0] != x->m; /* the 64 rows lie along N */
    int32_t m = shape[swapped], n = shape[!swapped];
    return m == x->m && n >= x->n && n <= x->n_last && (n - x->n) % x->n_step == 0 && shape[2] == x->k &&
           shape[3] == x->blocks;
}

const MatrixInst *matrix_inst(const Target *t, DataType a, DataType b, const int32_t shape[4])
{
    for (int i = 0; i < N_INSTS; i++) {
        const MatrixInst *x = &insts[i];
        if ((x->arches & t->matrix) && x->a == a && x->b == b && has_shape(x, shape)) return x;
    }
    return NULL;
}

const MatrixInst *matrix_shape(MatrixUnit unit, DataType type, const int32_t shape[4])
{
    for (int i = 0; i < N_INSTS; i++) {
        const MatrixInst *x = &insts[i];
        if ((unit == MATRIX_UNIT_NONE || unit == matrix_unit(x)) &&
            (type == TYPE_ALL || (x->a == type && x->b == type)) && has_shape(x, shape))
            return x;
    }
    return NULL;
}
