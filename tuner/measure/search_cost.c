/* Seconds that measuring takes, by the size. See search_cost.h. */
#include "measure/search_cost.h"

#include <stdlib.h>

#include "problem/problem.h"

/* Measured on an H200 (60 sizes of 64x4x128 to 16384x16384x1024, with 2 to 124 kernels on each): a size
 * takes SIZE_S and ELEMENT_S for each element of A, B, C and D, a kernel KERNEL_S and RESULT_S for each
 * element of D, which is checked and cleared, and LAUNCHES launches. */
static const double SIZE_S = 0.1, ELEMENT_S = 3.5e-9, KERNEL_S = 0.005, RESULT_S = 2.7e-10, LAUNCHES = 10;

static double elements_of_d(const ProblemType *pt, const ProblemSize *z)
{
    return (double)size_m(pt, z) * (double)size_n(pt, z) * (double)size_batch(pt, z);
}

double search_cost_of_size(const ProblemType *pt, const ProblemSize *z)
{
    const double mn = (double)size_m(pt, z) + (double)size_n(pt, z);
    const double ab = mn * (double)size_k(pt, z) * (double)size_batch(pt, z);
    return SIZE_S + ELEMENT_S * (ab + 2 * elements_of_d(pt, z));
}

double search_cost_size(const Search *s, size_t z) { return search_cost_of_size(s->o.pt, &s->o.size[z]); }

double search_cost_pair(const Search *s, size_t z)
{
    return KERNEL_S + RESULT_S * elements_of_d(s->o.pt, &s->o.size[z]) + LAUNCHES * s->launch_s[z];
}

double search_cost_sizes(const Search *s)
{
    double sum = 0;
    for (size_t z = 0; z < s->o.n_sizes; z++) sum += search_cost_size(s, z);
    return sum;
}

double search_cost_batch(const Search *s, const SearchBatch *b)
{
    bool *has = calloc(s->o.n_sizes + 1, sizeof *has);
    double sum = 0;
    for (size_t i = 0; b && i < b->n; i++) {
        const size_t z = b->v[i].size;
        sum += search_cost_pair(s, z) + (has && !has[z] ? search_cost_size(s, z) : 0);
        if (has) has[z] = true;
    }
    free(has);
    return sum;
}
