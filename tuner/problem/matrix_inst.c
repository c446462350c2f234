/* Looking up matrix instructions; see matrix_inst.h. */
#include "problem/matrix_inst.h"

static const MatrixInst insts[] = {
#define MI(arches, type, m, n, k, blocks, layout, operand, acc, n_acc, builtin)                              \
    {arches, type, m, n, k, blocks, LANES_##layout, operand, acc, n_acc, builtin},
#include "problem/matrix_inst.def"
#undef MI
};

int matrix_arch(const Target *t)
{
    if (t->family != TARGET_AMDGCN) return 0;
    switch (t->isa[0]) {
    case 9:
        if (t->isa[1] == 4) return MATRIX_ARCH_GFX940;
        return t->isa[2] == 10 ? MATRIX_ARCH_GFX90A : t->isa[2] == 8 ? MATRIX_ARCH_GFX908 : 0;
    case 11:
        return MATRIX_ARCH_GFX11;
    case 12:
        return MATRIX_ARCH_GFX12;
    default:
        return 0;
    }
}

const MatrixInst *matrix_inst(const Target *t, DataType type, int m, int n, int k, int blocks)
{
    int arch = matrix_arch(t);
    for (size_t i = 0; i < sizeof insts / sizeof insts[0]; i++) {
        const MatrixInst *x = &insts[i];
        if ((x->arches & arch) && x->type == type && x->m == m && x->n == n && x->k == k &&
            x->blocks == blocks)
            return x;
    }
    return NULL;
}
