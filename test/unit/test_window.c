/* Windows of pixels: which contractions are any, and their numbers against the addresses and zero pads of
 * convolutions of all directions. */
#include "test/support.h"

#include "problem/conv.h"
#include "problem/window.h"

static void problem_of(ConvDesc *c, OperationKind op, const char *image, const char *filter, ProblemType *pt)
{
    conv_desc_init(c);
    conv_desc_types(c, TYPE_H);
    c->op = (int32_t)op;
    assert_ok(conv_desc_format(c, CONV_INPUT, str_from(image)));
    assert_ok(conv_desc_format(c, CONV_OUTPUT, str_from(image)));
    assert_ok(conv_desc_format(c, CONV_FILTER, str_from(filter)));
    assert_ok(conv_problem_type(c, pt));
}

static void test_roles(void **state)
{
    (void)state;
    static const struct {
        OperationKind op;
        const char *image, *filter;
        int32_t pack;
        bool is_window, per_tap;
    } cases[] = {/* images in CHWN are contiguous: a product for each output position */
                 {OP_CONV_FORWARD, "NHWC", "KYXC", 1, true, false},
                 {OP_CONV_FORWARD, "NHWC", "KYXC", 0, true, false},
                 {OP_CONV_FORWARD, "NHWC", "KYXC", 2, false, false},
                 {OP_CONV_FORWARD, "NHWC", "CYXK", 1, true, false},
                 {OP_CONV_FORWARD, "NHWC", "KCYX", 1, false, false},
                 {OP_CONV_FORWARD, "NCHW", "KCYX", 1, false, false},
                 {OP_CONV_FORWARD, "CHWN", "CYXK", 1, true, true},
                 {OP_CONV_BACKWARD_DATA, "NHWC", "KYXC", 1, true, false},
                 {OP_CONV_BACKWARD_DATA, "NCHW", "KCYX", 1, false, false},
                 {OP_CONV_BACKWARD_WEIGHTS, "NHWC", "KYXC", 1, true, true},
                 {OP_CONV_BACKWARD_WEIGHTS, "NHWC", "KYXC", 0, false, false},
                 {OP_CONV_BACKWARD_WEIGHTS, "NHWC", "KCYX", 1, false, false},
                 {OP_CONV_BACKWARD_WEIGHTS, "NCHW", "KCYX", 1, false, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ConvDesc c;
        ProblemType pt;
        Indices x;
        Window w;
        problem_of(&c, cases[i].op, cases[i].image, cases[i].filter, &pt);
        assert_ok(indices_of_type(&pt, cases[i].pack, &x));
        const char *why = window_of(&x, &w);
        if (!why != cases[i].is_window) fail_msg("case %d: %s", (int)i, why ? why : "it is a window");
        if (why) continue;
        assert_int_equal(w.per_tap, cases[i].per_tap);
        assert_int_equal(w.mirrored[0] && w.mirrored[1], cases[i].op == OP_CONV_BACKWARD_DATA);
        assert_int_equal(w.image_in_batch, cases[i].pack == 0);
        assert_int_equal(w.group, -1);
        assert_int_equal(w.other_k_major, cases[i].op == OP_CONV_FORWARD && cases[i].filter[0] == 'K');
    }
}

/* Groups of channels are the batch, the images belong to the columns, or of weights to K. */
static void test_groups(void **state)
{
    (void)state;
    static const OperationKind ops[] = {OP_CONV_FORWARD, OP_CONV_BACKWARD_DATA, OP_CONV_BACKWARD_WEIGHTS};
    for (int i = 0; i < 3; i++) {
        ConvDesc c;
        ProblemType pt;
        Indices x;
        Window w;
        conv_desc_init(&c);
        conv_desc_types(&c, TYPE_H);
        c.op = (int32_t)ops[i], c.size.groups = 4;
        assert_ok(conv_desc_format(&c, CONV_INPUT, STR("NHWC")));
        assert_ok(conv_desc_format(&c, CONV_OUTPUT, STR("NHWC")));
        assert_ok(conv_desc_format(&c, CONV_FILTER, STR("KYXC")));
        assert_ok(conv_problem_type(&c, &pt));
        assert_ok(indices_of_type(&pt, 0, &x));
        const bool weights = ops[i] == OP_CONV_BACKWARD_WEIGHTS;
        assert_null(window_of(&x, &w));
        assert_true(w.group >= 0 && w.image >= 0 && !w.image_in_batch && w.per_tap == weights);
        assert_true(index_list_has(&x.group[INDICES_BATCH], w.group));
        assert_int_equal(x.tensor[3].v[weights ? 4 : 1], w.group); /* filters of groups follow one another */
        assert_ok(indices_of_type(&pt, 1, &x));                    /* groups cannot be rows or columns */
        assert_non_null(window_of(&x, &w));
    }
}

static int64_t stride_of(const IndexSizes *x, int t, int32_t index)
{
    return x->stride[t][index_list_find(&x->indices.tensor[t], index)];
}

/* Position of every output and tap: inside of the map exactly where the contraction reads no zero, and there
 * at its address. The outputs are all positions of the bounding box. */
static void check_positions(const IndexSizes *x, const Window *w, int d, const WindowShape *s)
{
    const int t = w->pixels;
    int64_t start = 0, edge = INT64_MAX;
    for (int32_t p = 0; p < x->indices.n_pads[t]; p++)
        if (x->indices.pad[t][p].free == w->out[d] || x->indices.pad[t][p].sum == w->out[d])
            start = x->pad_start[t][p], edge = index_pad_edge(x, t, p);
    for (int64_t out = 0; out < x->size[w->out[d]]; out++) {
        assert_in_range(s->lower + out * s->step - s->lower, 0, s->size + s->upper - s->lower - 1);
        for (int64_t tap = 0; tap < x->size[w->tap[d]]; tap++) {
            const int64_t at = out * stride_of(x, t, w->out[d]) + tap * stride_of(x, t, w->tap[d]);
            const int64_t position = out * s->step + tap * s->dilation + s->lower;
            const bool inside = at >= start && at < edge;
            assert_int_equal(position >= 0 && position < s->size, inside);
            if (inside) assert_true(position * s->pitch == at - start);
        }
    }
    assert_true(s->lower + x->size[w->out[d]] * s->step >= s->size + s->upper);
}

/* A linear congruential generator (Knuth's MMIX), its upper bits. */
static int64_t next(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)(*seed >> 40);
}

static void test_shapes(void **state)
{
    (void)state;
    static const OperationKind ops[] = {OP_CONV_FORWARD, OP_CONV_BACKWARD_DATA, OP_CONV_BACKWARD_WEIGHTS};
    uint64_t seed = 7;
    unsigned n = 0;
    for (int i = 0; i < 3000; i++) {
        ConvDesc c;
        ProblemType pt;
        ConvPart part;
        Window w;
        WindowShape shape[WINDOW_SPATIAL];
        const OperationKind op = ops[i % 3];
        problem_of(&c, op, "NHWC", "KYXC", &pt);
        ConvSize *s = &c.size;
        s->n = 1 + next(&seed) % 3, s->c = 8, s->k = 16;
        for (int d = 0; d < 2; d++) {
            s->in[d] = 1 + next(&seed) % 12, s->filter[d] = 1 + next(&seed) % 4;
            s->stride[d] = op == OP_CONV_BACKWARD_DATA ? 1 : 1 + next(&seed) % 3;
            s->dilation[d] = 1 + next(&seed) % 3;
            s->pad[d] = next(&seed) % 4, s->pad_end[d] = next(&seed) % 4;
        }
        if (conv_part(&pt, s, 0, &part)) {
            err_clear();
            continue;
        }
        part.size.extra = &part.extra;
        IndexSizes x = {.size = {0}};
        assert_ok(indices_of_type(&pt, 1, &x.indices));
        memcpy(x.size, part.size.v, sizeof x.size);
        memcpy(x.pad_start, part.extra.pad_start, sizeof x.pad_start);
        memcpy(x.pad_end, part.extra.pad_end, sizeof x.pad_end);
        static const int tensors[] = {LD_A, LD_B, LD_C, LD_D};
        for (int t = 0; t < INDICES_TENSORS; t++)
            (void)size_strides(&pt, &part.size, tensors[t], x.stride[t]);
        assert_null(window_of(&x.indices, &w));
        if (window_shape(&x, &w, shape)) { /* all of it is padding */
            assert_non_null(strstr(err_message(), "the copy engine has no such window"));
            err_clear();
            continue;
        }
        for (int d = 0; d < WINDOW_SPATIAL; d++) check_positions(&x, &w, d, &shape[d]);
        n++;
    }
    assert_in_range(n, 1500, 3000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_roles), cmocka_unit_test(test_groups),
                                       cmocka_unit_test(test_shapes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
