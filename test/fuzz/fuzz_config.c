/* Fuzz target: any bytes as a config. What is accepted must also expand: sizes stream to the announced count,
 * and names and permutations can be computed. */
#include <stdlib.h>

#include "space/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expand(const SizeGroup *g)
{
    SizeIter it;
    ProblemSize s;
    int64_t n = 0;
    size_iter_init(&it, &g->sizes);
    while (n < 100000 && size_iter_next(&it, &s)) {
        if (s.n != g->sizes.pt.TotalIndices + g->sizes.pt.NumIndicesLD) abort();
        for (int t = 0; t < 4; t++)
            if (size_tensor_elements(&g->sizes.pt, &s, t) < 0) abort();
        n++;
    }
    if (n != (g->sizes.count < 100000 ? g->sizes.count : 100000)) abort();
    if (size_group_permutations(g) < 1) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena a;
    Node *root;
    Config *c;
    arena_init(&a, (size_t)64 << 20);
    const NodeLimits limits = {.max_nodes = 20000};
    const ConfigOptions options = {.alternate = size > 0 && data[size - 1] == 'A'};
    if (!yaml_parse(&a, "f", (Str){(const char *)data, size}, &limits, &root) &&
        !config_from_node(&a, "f", root, &options, &c)) {
        for (size_t i = 0; i < c->n_problems; i++) {
            Buf name;
            buf_init(&name);
            problem_type_name(&c->problem[i].pt, &name);
            problem_operation_identifier(&c->problem[i].pt, &name);
            buf_fini(&name);
            for (size_t j = 0; j < c->problem[i].n_size_groups; j++) expand(&c->problem[i].size_group[j]);
        }
    }
    arena_fini(&a);
    return 0;
}
