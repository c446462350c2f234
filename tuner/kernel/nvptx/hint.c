/* Cache hints of nvptx for Tensile's NonTemporal values. On AMD bit 0 (glc) bypasses the compute unit's cache
 * and bit 1 (slc) streams through the L2. Here the values are:
 *
 *     1   L1::no_allocate                        does not allocate a line in L1
 *     2   cs                                     evicted first from L1 and L2 (streaming)
 *     3   L1::no_allocate, L2::cache_hint with a policy of evict_first
 *
 * (PTX ISA 9.7.9, ld and st.) Loads and stores of whole vectors have these hints. Accesses at edges, which
 * are few and element by element, and atomic additions have none. */
#include "kernel/nvptx/hint.h"

void nvptx_hints(const GpuPlan *p, Stmts *s)
{
    static const char *const texts[] = {NULL, "nvptx/hint_1.cuh", "nvptx/hint_2.cuh", "nvptx/hint_3.cuh"};
    enum { N_HINTS = sizeof texts / sizeof *texts };
    if (!p->main) return;
    const int given[] = {p->op[0].hint, p->op[1].hint, p->hint_c, p->hint_d};
    bool used[N_HINTS] = {false}, any = false;
    for (int i = 0; i < 4; i++) {
        int h = given[i] % N_HINTS;
        used[h] = true;
        any = any || h;
    }
    if (!any) return;
    stmt_file(s, "nvptx/hint_types.cuh");
    for (int h = 1; h < N_HINTS; h++)
        if (used[h]) stmt_file(s, texts[h]);
    /* hints.cuh splits an access into pieces of the alignment of its type */
    stmt_file(s, "nvptx/hints.cuh");
}
