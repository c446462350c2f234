/* Convolutions as matrix products: sizes that are published or counted by hand, the phases of backward data
 * against an enumeration of all products, the GEMMs' transposes; MIOpenDriver's lines, good, bad and written
 * again. */
#include "test/support.h"

#include "problem/miopen.h"
#include "problem/conv.h"

static void read_line(const char *line, MiopenConv *out)
{
    if (miopen_read(str_from(line), out)) fail_msg("%s: %s", line, err_message());
}

/* ---- products ---- */

/* n,c,h,w,k,y,x; then sizes that were computed by hand from the definitions. */
static void test_sizes(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        int64_t m, n, k, slice, phases, taps[2], n_gemms;
        double gflop;
    } rows[] = {
        {"conv -n 64 -c 64 -H 56 -W 56 -k 64 -y 3 -x 3 -p 1 -q 1", 64, 200704, 576, 56, 1, {3, 0}, 1, 14.80},
        {"conv -n 64 -c 3 -H 224 -W 224 -k 64 -y 7 -x 7 -p 3 -q 3 -u 2 -v 2",
         64,
         802816,
         147,
         113,
         2,
         {4, 3},
         4,
         15.11},
        {"conv -n 64 -c 256 -H 56 -W 56 -k 512 -y 1 -x 1 -u 2 -v 2",
         512,
         50176,
         256,
         28,
         2,
         {1, 0},
         4,
         13.15},
        {"conv -n 32 -c 128 -H 28 -W 28 -k 128 -y 3 -x 3 -p 1 -q 1 -g 32",
         4,
         25088,
         36,
         28,
         1,
         {3, 0},
         1,
         0.23},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        MiopenConv c;
        ConvGemm g;
        ConvSlices v;
        read_line(rows[i].line, &c);
        assert_int_equal(c.n, 3);
        assert_int_equal(c.conv[0].op, OP_CONV_FORWARD);
        conv_gemm(&c.conv[0], 0, &g);
        assert_int_equal(g.m, rows[i].m), assert_int_equal(g.n, rows[i].n), assert_int_equal(g.k, rows[i].k);
        assert_int_equal((int64_t)(conv_flops(&c.conv[0]) * 1e-7 + 0.5),
                         (int64_t)(rows[i].gflop * 100 + 0.5));
        conv_slices(&c.conv[1].size, 0, &v);
        assert_int_equal(v.size, rows[i].slice), assert_int_equal(v.phases, rows[i].phases);
        for (int p = 0; p < v.phases; p++)
            assert_int_equal(conv_phase_taps(&c.conv[1].size, 0, p), rows[i].taps[p]);
        assert_int_equal(conv_n_gemms(&c.conv[1]), rows[i].n_gemms);
        conv_gemm(&c.conv[2], 0, &g); /* weights: N and K exchanged */
        assert_int_equal(g.m, rows[i].m), assert_int_equal(g.n, rows[i].k), assert_int_equal(g.k, rows[i].n);
    }
    MiopenConv c;
    ConvSlices v;
    read_line("conv -n 64 -c 3 -H 224 -W 224 -k 64 -y 7 -x 7 -p 3 -q 3 -u 2 -v 2", &c);
    conv_slices(&c.conv[1].size, 1, &v);
    assert_int_equal(v.taps, 4), assert_int_equal(v.reach, 115);
    assert_int_equal(v.left, 1), assert_int_equal(v.right, 114);
}

static int64_t pick(unsigned *seed, int64_t from, int64_t to)
{
    return from + (int64_t)rand_r(seed) % (to - from + 1);
}

/* Every pair of an output position and a filter element that hits the input lies in exactly one phase and
 * inside its slice; every phase has the filter elements that it has. */
static void check_dimension(const ConvSize *s)
{
    ConvSlices v;
    int64_t hits[64] = {0}, total = 0, taps = 0;
    conv_slices(s, 0, &v);
    assert_true(v.phases >= 1 && v.phases <= s->stride[0]);
    for (int64_t i = 0; i < v.phases; i++) taps += conv_phase_taps(s, 0, i);
    assert_int_equal(taps, s->filter[0]);
    for (int64_t out = 0; out < conv_out(s, 0); out++)
        for (int64_t y = 0; y < s->filter[0]; y++) {
            const int64_t in = out * s->stride[0] + y * s->dilation[0] - s->pad[0];
            if (in < 0 || in >= s->in[0]) continue;
            total++;
            for (int64_t i = 0; i < v.phases; i++) {
                /* the position of the input that step t of this phase has */
                const int64_t from = in + s->pad[0] - i * s->dilation[0];
                if (from < 0 || from % s->stride[0] || y % v.phases != i) continue;
                const int64_t t = from / s->stride[0];
                assert_true(t >= v.left && t < v.right);
                assert_true(y / v.phases < conv_phase_taps(s, 0, i));
                hits[i < 64 ? i : 63]++;
            }
        }
    for (int i = 0; i < 64; i++) total -= hits[i];
    assert_int_equal(total, 0);
}

static void test_phases(void **state)
{
    (void)state;
    unsigned seed = 7;
    for (int i = 0; i < 20000; i++) {
        ConvDesc c;
        conv_desc_init(&c);
        ConvSize *s = &c.size;
        s->in[0] = pick(&seed, 1, 24), s->filter[0] = pick(&seed, 1, 7), s->stride[0] = pick(&seed, 1, 6);
        s->dilation[0] = pick(&seed, 1, 4), s->pad[0] = pick(&seed, 0, 5), s->pad_end[0] = pick(&seed, 0, 5);
        if (conv_out(s, 0) < 1) {
            i--;
            continue;
        }
        check_dimension(s);
    }
}

/* The transposes of column-major products, derived from how tensors lie in memory. */
static void test_calls(void **state)
{
    (void)state;
    static const struct {
        const char *formats, *direction;
        int64_t m, n, k;
        char op[3];
    } rows[] = {
        /* 2 images, 6 channels to 8 in 2 groups, 5x5, 3x3, pad 1: positions 50, channels 3 and 4, taps 9 */
        {"-I NCHW -f NCHW -O NCHW", "1", 50, 4, 27, "NN"}, {"-I NHWC -f NHWC -O NHWC", "1", 4, 50, 27, "TN"},
        {"-I CHWN -f CHWN -O CHWN", "1", 50, 4, 27, "NT"}, {"-I NHWC -f CYXK -O NHWC", "1", 4, 50, 27, "NN"},
        {"-I NCHW -f NCHW -O NCHW", "2", 50, 3, 36, "NN"}, {"-I NHWC -f NHWC -O NHWC", "2", 3, 50, 36, "NN"},
        {"-I NHWC -f CKYX -O CNHW", "2", 3, 50, 36, "TT"}, {"-I NCHW -f NCHW -O NCHW", "4", 27, 4, 50, "TN"},
        {"-I NHWC -f NHWC -O NHWC", "4", 27, 4, 50, "NT"}, {"-I NHWC -f CYXK -O NCHW", "4", 4, 27, 50, "TT"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char line[200];
        MiopenConv c;
        ConvGemm g;
        GemmCall call;
        bool empty;
        snprintf(line, sizeof line, "convfp16 -n 2 -c 6 -k 8 -g 2 -H 5 -W 5 -p 1 -q 1 %s -F %s",
                 rows[i].formats, rows[i].direction);
        read_line(line, &c);
        assert_int_equal(c.n, 1);
        conv_gemm(&c.conv[0], 0, &g);
        assert_ok(conv_gemm_call(&c.conv[0], &g, &call, &empty));
        assert_false(empty);
        if (call.m != rows[i].m || call.n != rows[i].n || call.k != rows[i].k || call.batch != 2 ||
            call.op[0] != rows[i].op[0] || call.op[1] != rows[i].op[1])
            fail_msg("%s: %lld %lld %lld %c%c", line, (long long)call.m, (long long)call.n, (long long)call.k,
                     call.op[0], call.op[1]);
        assert_int_equal(call.type[CALL_A], TYPE_H), assert_int_equal(call.type[CALL_COMPUTE], TYPE_S);
    }
}

/* ---- tensors ---- */

static void test_tensors(void **state)
{
    (void)state;
    MiopenConv c;
    int64_t size[CONV_DIMS], stride[CONV_DIMS];
    read_line("convint8 -n 2 -c 6 -k 8 -g 2 -H 5 -W 7 -y 3 -x 2 -I CHWN -f CYXK -O NHWC -F 1", &c);
    static const int64_t want[CONV_TENSORS][2][CONV_DIMS] = {{{2, 6, 1, 5, 7}, {1, 70, 0, 14, 2}},
                                                             {{8, 3, 1, 3, 2}, {1, 48, 0, 16, 8}},
                                                             {{2, 8, 1, 3, 6}, {144, 1, 0, 48, 8}}};
    for (int t = 0; t < CONV_TENSORS; t++) {
        conv_tensor(&c.conv[0], (ConvTensor)t, size, stride);
        for (int i = 0; i < CONV_DIMS; i++) {
            assert_int_equal(size[i], want[t][0][i]);
            if (i != 2) assert_int_equal(stride[i], want[t][1][i]);
        }
    }
    assert_int_equal(conv_elements(&c.conv[0], CONV_FILTER), 8 * 3 * 6);
    assert_int_equal(c.conv[0].type[CONV_INPUT], TYPE_I8);
    assert_int_equal(c.conv[0].type[CONV_OUTPUT], TYPE_I);
    assert_int_equal(c.conv[0].compute, TYPE_I);
}

/* ---- lines ---- */

static void test_lines(void **state)
{
    (void)state;
    MiopenConv c;
    read_line("conv", &c); /* the driver's defaults */
    const ConvSize *s = &c.conv[0].size;
    assert_int_equal(c.n, 3), assert_int_equal(s->n, 100), assert_int_equal(s->c, 3);
    assert_int_equal(s->in[0], 32), assert_int_equal(s->in[1], 32), assert_int_equal(s->k, 32);
    assert_int_equal(s->filter[0], 3), assert_int_equal(s->in[2], 1), assert_int_equal(s->filter[2], 1);
    read_line(
        "convbfp16 -_ 3 -! 9 -@ 3 -# 2 -$ 1 -^ 1 -n 4 --in_h=8 -W 7 -p1 --pad_w 2 -l 2 -F 6 -b 1 -V 0 -i 5",
        &c);
    s = &c.conv[0].size;
    assert_int_equal(c.n, 2), assert_int_equal(c.conv[0].op, OP_CONV_BACKWARD_DATA);
    assert_int_equal(c.conv[1].op, OP_CONV_BACKWARD_WEIGHTS);
    assert_string_equal(c.conv[0].format[CONV_FILTER], "KCZYX");
    assert_int_equal(s->in[2], 9), assert_int_equal(s->stride[2], 2), assert_int_equal(s->pad[2], 1);
    assert_int_equal(s->in[1], 8), assert_int_equal(s->in[0], 7), assert_int_equal(s->pad[0], 2);
    assert_int_equal(s->dilation[1], 2), assert_int_equal(s->pad_end[0], 2);
    assert_true(c.bias && !c.verify && c.iters == 5);
    /* transposed: its forward pass is the data pass of the convolution from its output */
    read_line("conv -m trans -n 2 -c 8 -H 7 -W 7 -k 4 -u 2 -v 2 -p 1 -q 1 -Y 1 -X 1 -I NHWC -F 1 --out_h 14",
              &c);
    s = &c.conv[0].size;
    assert_int_equal(c.conv[0].op, OP_CONV_BACKWARD_DATA);
    assert_int_equal(s->in[0], 14), assert_int_equal(s->c, 4), assert_int_equal(s->k, 8);
    assert_int_equal(conv_out(s, 0), 7);
    assert_string_equal(c.conv[0].format[CONV_OUTPUT], "NHWC");
    assert_string_equal(c.conv[0].format[CONV_INPUT], "NCHW");
    read_line("conv -H 28 -W 29 -u 2 -v 2 -y 5 -x 5 -z same -F 1", &c);
    assert_int_equal(c.conv[0].size.pad[1], 1); /* (5 - 2) / 2 */
    assert_int_equal(c.conv[0].size.pad[0], 2); /* (5 - 29 % 2) / 2 */
    read_line("conv -z valid -p 1 -q 1 -F 1", &c);
    assert_int_equal(c.conv[0].size.pad[1], 0);
    read_line("conv --pad_h_end 3 -F 1 -p 1 --out_h 34", &c);
    assert_int_equal(c.conv[0].size.pad_end[1], 3), assert_int_equal(c.conv[0].size.pad_end[0], 0);
}

static void test_bad_lines(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"pool -n 1", "MIOpenDriver pool is no convolution"},
        {"conv -n 0", "--batchsize: '0' is not an integer from 1 to 2147483647"},
        {"conv -n", "--batchsize: '' is not an integer from 1 to 2147483647"},
        {"conv -c 3x", "--in_channels: '3x' is not an integer from 1 to 2147483647"},
        {"conv -n 4294967296", "--batchsize: '4294967296' is not an integer from 1 to 2147483647"},
        {"conv -F 8", "--forw: '8' is not an integer from 0 to 7"},
        {"conv -Q 1", "MIOpenDriver has no option '-Q'"},
        {"conv --in_x 1", "MIOpenDriver has no option '--in_x'"},
        {"conv 12", "MIOpenDriver: '12', expected an option"},
        {"conv -g 2", "2 groups do not divide 3 input and 32 output channels"},
        {"conv -m up", "--mode: 'up', expected conv or trans"},
        {"conv -z full", "--pad_mode: 'full', expected same, valid or default"},
        {"conv -r 1", "--pad_val: '1', expected 0: others are not supported"},
        {"conv -L 4", "--vector_length: '4', expected 1: others are not supported"},
        {"conv -U fp8", "--in_cast_type: 'fp8', expected -1: casts are not supported"},
        {"conv -I NWHC",
         "format 'NWHC' of the input, expected NCHW, NHWC, CNHW or CHWN, each also with D or Z"},
        {"conv -f KXYC",
         "format 'KXYC' of the filter, expected KCYX, KYXC, CKYX or CYXK, each also with D or Z"},
        {"conv -O NCDHW", "format NCDHW of the output has 5 dimensions, expected 4"},
        {"conv -H 2",
         "along H the filter of 3 elements with dilation 1 does not fit the input of 2 with pads 0 "
         "and 0"},
        {"conv --out_h 31", "--out_h: 31 does not follow from input 32, filter 3, pads 0 and 0, stride 1, "
                            "dilation 1, which give 30"},
        {"conv -m trans -u 2 -Y 2",
         "transposed along H: an output of 67 positions does not give back the input "
         "of 32 (output pad 2, stride 2)"},
        {"conv -n 2147483647 -c 2147483647", "the input has more than 70368744177664 elements"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        MiopenConv c;
        assert_int_equal(miopen_read(str_from(rows[i][0]), &c), ERR_INPUT);
        assert_string_equal(err_message(), rows[i][1]);
        err_clear();
    }
}

/* Random convolutions are the same after writing and reading. */
static void test_round(void **state)
{
    (void)state;
    static const char *const images[] = {"NCHW", "NHWC", "CNHW", "CHWN"};
    static const DataType types[] = {TYPE_S, TYPE_H, TYPE_B, TYPE_I8};
    unsigned seed = 3;
    Buf text;
    buf_init(&text);
    for (int i = 0; i < 2000; i++) {
        ConvDesc c;
        MiopenConv again;
        conv_desc_init(&c);
        c.op = (int32_t)pick(&seed, OP_CONV_FORWARD, OP_CONV_BACKWARD_WEIGHTS);
        c.n_spatial = (int32_t)pick(&seed, 2, 3);
        conv_desc_types(&c, types[pick(&seed, 0, 3)]);
        conv_desc_formats(&c, pick(&seed, 0, 1));
        c.xf32 = c.type[CONV_FILTER] == TYPE_S && pick(&seed, 0, 3) == 0;
        if (c.n_spatial == 2)
            for (int t = 0; t < CONV_TENSORS; t++)
                assert_ok(conv_desc_format(&c, (ConvTensor)t, str_from(images[pick(&seed, 0, 3)])));
        ConvSize *s = &c.size;
        s->groups = pick(&seed, 1, 3), s->n = pick(&seed, 1, 9);
        s->c = s->groups * pick(&seed, 1, 5), s->k = s->groups * pick(&seed, 1, 5);
        for (int d = 0; d < c.n_spatial; d++) {
            s->filter[d] = pick(&seed, 1, 5), s->stride[d] = pick(&seed, 1, 3),
            s->dilation[d] = pick(&seed, 1, 3);
            s->pad[d] = pick(&seed, 0, 3), s->pad_end[d] = pick(&seed, 0, 1) ? s->pad[d] : pick(&seed, 0, 3);
            s->in[d] = pick(&seed, 1, 30) + s->filter[d] * s->dilation[d];
        }
        buf_reset(&text);
        miopen_print(&c, &text);
        read_line(buf_cstr(&text), &again);
        assert_int_equal(again.n, 1);
        if (memcmp(&again.conv[0], &c, sizeof c)) fail_msg("%s", buf_cstr(&text));
        ProblemType pt;
        assert_ok(conv_problem_type(&c, &pt));
    }
    buf_fini(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sizes), cmocka_unit_test(test_phases),
                                       cmocka_unit_test(test_calls), cmocka_unit_test(test_tensors),
                                       cmocka_unit_test(test_lines), cmocka_unit_test(test_bad_lines),
                                       cmocka_unit_test(test_round)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
