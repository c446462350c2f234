/* Hand-made libraries as text, and choices from them, for tests of the selection. */
#ifndef TEST_LIB_TEXT_H
#define TEST_LIB_TEXT_H

#include "client/runtime/library.h"
#include "test/support.h"

static const Hardware gfx906 = {STR("gfx906"), 60, false};

/* A solution K<index> of sgemm NN. pred: its problem predicate. */
static inline void add_solution(Buf *b, int index, const char *pred)
{
    buf_printf(b, "- name: K%d\n  index: %d\n  hardwarePredicate: {type: TruePred}\n  problemPredicate: %s\n",
               index, index, pred);
    buf_puts(
        b, "  taskPredicate: {type: TruePred}\n"
           "  problemType: {operationIdentifier: Contraction_l_Ailk_Bljk_Cijk_Dijk, aType: Float, bType: "
           "Float,\n"
           "    cType: Float, dType: Float, useBeta: true, highPrecisionAccumulate: false}\n"
           "  sizeMapping: {workGroup: [16, 16, 1], macroTile: [64, 64, 1], threadTile: [4, 4], depthU: 16,\n"
           "    staggerU: 32, globalSplitU: 1, staggerStrideShift: 2, workGroupMapping: 8, persistentKernel: "
           "0,\n"
           "    persistentKernelAlongBatch: false, sourceKernel: true, globalAccumulation: 0,\n"
           "    workspaceSizePerElemC: 0}\n  debugKernel: false\n");
}

/* Selects for an sgemm NN twice; the second answer comes from the cache and must be the same. */
static inline Selection choose(Library *lib, int64_t m, int64_t n, int64_t k)
{
    Contraction p;
    Selection s, again;
    contraction_gemm(&p, false, false, m, n, k, 1);
    assert_ok(library_select(lib, &p, &s));
    assert_ok(library_select(lib, &p, &again)); /* from the cache */
    assert_memory_equal(&s, &again, sizeof s);
    return s;
}

#endif
