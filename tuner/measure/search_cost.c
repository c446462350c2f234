/* Seconds that measuring takes, by the size. See search_cost.h. */
#include "measure/search_cost.h"

#include <math.h>
#include <stdlib.h>

#include "problem/problem.h"

/* From a client's times of its parts on an H200 with 16 cores: 542 pairs on 79 sizes of f16 layers, of 45
 * million elements on average. Blocks are those of one stage.
 *
 *   client   CLIENT_S until its first measurement
 *   size     SIZE_S, and ELEMENT_S for each element of A, B, C and D: operands, copies, reference
 *   kernel   KERNEL_S, RESULT_S for each element of D, which is checked and cleared, and LAUNCHES launches
 *   graph    of kernels shorter than SHORT_S on GPUs: GRAPH_S for each launch, one on each copy of the
 *            operands; copies have COPIES_BYTES in all, and there are COPIES_LEAST to COPIES_MOST of them */
static const double CLIENT_S = 1, SIZE_S = 0.005, ELEMENT_S = 4e-10, KERNEL_S = 0.003, RESULT_S = 1e-10,
                    LAUNCHES = 38, SHORT_S = 20e-6, GRAPH_S = 4e-6, COPIES_BYTES = 1e8, COPIES_LEAST = 32,
                    COPIES_MOST = 2048;

static double elements_of_d(const ProblemType *pt, const ProblemSize *z)
{
    return (double)size_m(pt, z) * (double)size_n(pt, z) * (double)size_batch(pt, z);
}

static double elements(const ProblemType *pt, const ProblemSize *z)
{
    const double mn = (double)size_m(pt, z) + (double)size_n(pt, z);
    return mn * (double)size_k(pt, z) * (double)size_batch(pt, z) + 2 * elements_of_d(pt, z);
}

double search_cost_client(void) { return CLIENT_S; }

double search_cost_of_size(const ProblemType *pt, const ProblemSize *z)
{
    return SIZE_S + ELEMENT_S * elements(pt, z);
}

double search_cost_kernel(const ProblemType *pt, const ProblemSize *z)
{
    return KERNEL_S + RESULT_S * elements_of_d(pt, z);
}

double search_cost_size(const Search *s, size_t z) { return search_cost_of_size(s->o.pt, &s->o.size[z]); }

/* Seconds of the graph of a kernel. */
static double graph_seconds(const Search *s, size_t z)
{
    if (!s->o.graphs || s->launch_s[z] > SHORT_S) return 0;
    const double copies =
        COPIES_BYTES / (elements(s->o.pt, &s->o.size[z]) * type_bytes((DataType)s->o.pt->DataType));
    return GRAPH_S * fmin(fmax(copies, COPIES_LEAST), COPIES_MOST);
}

double search_cost_pair(const Search *s, size_t z)
{
    return search_cost_kernel(s->o.pt, &s->o.size[z]) + LAUNCHES * s->launch_s[z] + graph_seconds(s, z);
}

double search_cost_sizes(const Search *s)
{
    double sum = CLIENT_S;
    for (size_t z = 0; z < s->o.n_sizes; z++) sum += search_cost_size(s, z);
    return sum;
}

double search_cost_batch(const Search *s, const SearchBatch *b)
{
    bool *has = calloc(s->o.n_sizes + 1, sizeof *has);
    double sum = b && b->n ? CLIENT_S : 0;
    for (size_t i = 0; b && i < b->n; i++) {
        const size_t z = b->v[i].size;
        sum += search_cost_pair(s, z) + (has && !has[z] ? search_cost_size(s, z) : 0);
        if (has) has[z] = true;
    }
    free(has);
    return sum;
}
