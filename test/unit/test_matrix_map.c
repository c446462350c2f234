/* Maps of contractions: columns that are read in runs against single elements and against the definition,
 * with zero pads, gaps and strides of 0, and the elements that belong to D. */
#include "test/support.h"

#include "client/worker/matrix_map.h"

#include <stdlib.h>

enum { VALUES = 1 << 14 };

/* D[i, j, k] = sum over l, m of A[i, j, l, m] * B[l, m, k]; a pad of A along j and l. */
static void make(IndexSizes *x, unsigned *seed)
{
    assert_ok(indices_read(str_from("Contraction_lm_Aijlm_Blmk_Cijk_Dijk"), &x->indices));
    for (int i = 0; i < x->indices.n; i++) x->size[i] = 1 + rand_r(seed) % 9;
    for (int t = 0; t < INDICES_TENSORS; t++) {
        const IndexList *l = &x->indices.tensor[t];
        int64_t stride = 1 + rand_r(seed) % 2;
        for (int32_t i = 0; i < l->n; i++) {
            x->stride[t][i] = t < 2 && rand_r(seed) % 8 == 0 ? 0 : stride;
            stride *= x->size[l->v[i]];
            stride += rand_r(seed) % 3 ? 0 : rand_r(seed) % 4;
        }
    }
    if (rand_r(seed) % 4 == 0) return;
    x->indices.n_pads[0] = 1;
    x->indices.pad[0][0].free = 1, x->indices.pad[0][0].sum = 3;
    x->stride[0][1] = 1 + rand_r(seed) % 3, x->stride[0][2] = 1 + rand_r(seed) % 3;
    x->pad_start[0][0] = rand_r(seed) % 3, x->pad_end[0][0] = rand_r(seed) % 3;
}

/* By the definition: of A (0) or B (1), or D (3); the elements of A start `pad` behind the first number. */
static double element(const IndexSizes *x, int t, const float *value, IndexGroup rows, IndexGroup columns,
                      int64_t r, int64_t c)
{
    int64_t at = index_group_offset(x, rows, t, r) + index_group_offset(x, columns, t, c);
    for (int i = 0; t < 2 && i < x->indices.n_pads[t]; i++) {
        const int64_t here = index_pad_position(x, t, i, rows, r) + index_pad_position(x, t, i, columns, c);
        if (here < x->pad_start[t][i] || here >= index_pad_edge(x, t, i)) return 0;
        at -= x->pad_start[t][i];
    }
    return (double)value[at];
}

static void check_columns(const IndexSizes *x, const MatrixMaps *maps, int t, bool transposed,
                          const float *value)
{
    static const IndexGroup side[2][2] = {{INDICES_M, INDICES_K}, {INDICES_K, INDICES_N}};
    const IndexGroup rows = side[t][transposed], columns = side[t][!transposed];
    const int64_t n = index_group_size(x, rows), n_columns = index_group_size(x, columns);
    const Matrix m = {.type = TYPE_S, .data = value, .map = &maps->map[t], .map_transposed = transposed};
    double *re = calloc((size_t)n, sizeof *re);
    assert_non_null(re);
    for (int64_t c = 0; c < n_columns; c++)
        for (int64_t first = 0; first < n; first += 1 + n / 3) {
            matrix_column(&m, first, c, 0, n - first, re, NULL);
            for (int64_t r = first; r < n; r++)
                if (re[r - first] != element(x, t, value, rows, columns, r, c) ||
                    re[r - first] != matrix_at(&m, r, c, 0).re)
                    fail_msg("%c: row %d of column %d is %g", "AB"[t], (int)r, (int)c, re[r - first]);
        }
    free(re);
}

static void check_used(const IndexSizes *x, const MatrixMaps *maps)
{
    int64_t n;
    uint64_t *used;
    unsigned char *want;
    assert_ok(matrix_map_elements(x, 3, &n));
    assert_non_null(want = calloc((size_t)n, 1));
    bool gaps = false;
    for (int64_t c = 0; c < index_group_size(x, INDICES_N); c++)
        for (int64_t r = 0; r < index_group_size(x, INDICES_M); r++)
            want[index_group_offset(x, INDICES_M, 3, r) + index_group_offset(x, INDICES_N, 3, c)] = 1;
    assert_ok(matrix_map_used(&maps->map[3], x, n, &used));
    for (int64_t i = 0; i < n; i++) {
        gaps |= !want[i];
        if (used) assert_int_equal(used[i / 64] >> i % 64 & 1, want[i]);
    }
    for (int64_t i = n; used && i % 64; i++) assert_true(used[i / 64] >> i % 64 & 1);
    assert_int_equal(used != NULL, gaps);
    free(used), free(want);
}

static void test_random(void **state)
{
    (void)state;
    unsigned seed = 1;
    float *value = calloc(VALUES, sizeof *value);
    assert_non_null(value);
    for (int i = 0; i < VALUES; i++) value[i] = (float)(i % 1009 + 1);
    for (int i = 0; i < 300; i++) {
        IndexSizes x = {.size = {0}};
        MatrixMaps maps;
        make(&x, &seed);
        assert_ok(matrix_maps_init(&maps, &x));
        /* Some positions in front of a pad's start are negative; they are never read. */
        for (int t = 0; t < 2; t++)
            for (int transposed = 0; transposed < 2; transposed++)
                check_columns(&x, &maps, t, transposed, value);
        check_used(&x, &maps);
        matrix_maps_fini(&maps);
    }
    free(value);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
