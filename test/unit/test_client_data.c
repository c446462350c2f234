/* Unit tests of the client's numbers, data initialisation, model columns and events. */
#include "test/support.h"

#include <math.h>

#include "client/answer.h"
#include "client/events.h"
#include "client/worker/granularity.h"
#include "client/worker/init.h"
#include "client/worker/number.h"

static void test_half_all_values(void **state)
{
    (void)state;
    for (uint32_t h = 0; h < 65536; h++) {
        uint16_t bits = (uint16_t)h, back;
        double x, im;
        numbers_load(TYPE_H, &bits, 0, 1, 1, &x, &im);
        number_store(TYPE_H, &back, 0, x, 0);
        if (isnan(x))
            assert_true((back & 0x7c00) == 0x7c00 && (back & 0x3ff));
        else if (back != bits)
            fail_msg("half 0x%04x came back as 0x%04x (%g)", bits, back, x);
    }
    assert_true(number_round(TYPE_H, 65519.99) == 65504 && isinf(number_round(TYPE_H, 65520)));
    assert_true(number_round(TYPE_H, 2049) == 2048 && number_round(TYPE_H, 2051) == 2052); /* to even */
    assert_true(number_round(TYPE_H, 0x1p-25) == 0 && number_round(TYPE_H, 0x1.8p-25) == 0x1p-24);
}

/* Many halves at once, real ones, with a rest, equal each alone. */
static void test_halves_at_once(void **state)
{
    enum { N = (1 << 16) - 3 };
    uint16_t *bits = malloc((N + 1) * sizeof *bits);
    double *at_once = malloc(N * sizeof *at_once), one, im;
    (void)state;
    assert_non_null(bits);
    assert_non_null(at_once);
    for (int i = 0; i <= N; i++) bits[i] = (uint16_t)i;
    numbers_load(TYPE_H, bits, 1, 1, N, at_once, NULL);
    for (int i = 0; i < N; i++) {
        numbers_load(TYPE_H, bits, i + 1, 1, 1, &one, &im);
        assert_true(isnan(one) ? isnan(at_once[i])
                               : one == at_once[i] && !signbit(one) == !signbit(at_once[i]));
    }
    free(bits);
    free(at_once);
}

static void test_small_floats_round_trip(void **state)
{
    (void)state;
    static const DataType types[] = {TYPE_F8, TYPE_B8, TYPE_F8_OCP, TYPE_B8_OCP};
    static const struct {
        double max, above, rounded, denorm_min; /* above rounds to rounded */
        int n_nan, n_inf, n_zero;
    } want[] = {{240, 9.5, 10, 0x1p-10, 1, 0, 1},
                {57344, 13, 12, 0x1p-17, 1, 0, 1},
                {448, 465, 448, 0x1p-9, 2, 0, 2},
                {57344, 61440, 57344, 0x1p-16, 6, 2, 2}};
    for (size_t t = 0; t < 4; t++) {
        int n_nan = 0, n_inf = 0, n_zero = 0;
        for (unsigned b = 0; b < 256; b++) {
            uint8_t bits = (uint8_t)b, back;
            double x, im;
            numbers_load(types[t], &bits, 0, 1, 1, &x, &im);
            number_store(types[t], &back, 0, x, 0);
            if (back != bits && !isnan(x))
                fail_msg("%s 0x%02x came back as 0x%02x", type_letter(types[t]), bits, back);
            n_nan += isnan(x) != 0, n_inf += isinf(x) != 0, n_zero += x == 0;
            if (b == number_poison(types[t])) assert_true(isnan(x));
        }
        assert_true(n_nan == want[t].n_nan && n_inf == want[t].n_inf && n_zero == want[t].n_zero);
        assert_true(number_max(types[t]) == want[t].max);
        assert_true(number_round(types[t], 1e9) == want[t].max &&
                    number_round(types[t], -1e9) == -want[t].max);
        assert_true(number_round(types[t], want[t].above) == want[t].rounded);
        assert_true(number_denorm_min(types[t]) == want[t].denorm_min &&
                    number_round(types[t], want[t].denorm_min) == want[t].denorm_min &&
                    number_round(types[t], want[t].denorm_min / 2) == 0);
        assert_true(isnan(number_round(types[t], NAN)));
        assert_true((isinf(number_round(types[t], -INFINITY)) != 0) == (want[t].n_inf > 0));
    }
    assert_int_equal(type_in_format(TYPE_B8, F8_OCP), TYPE_B8_OCP);
    assert_int_equal(type_in_format(TYPE_B8, F8_FNUZ), TYPE_B8);
    assert_int_equal(type_in_format(TYPE_H, F8_OCP), TYPE_H);
    assert_true(number_round(TYPE_B, 1.00390625) == 1); /* half a unit, to even */
    assert_true(number_round(TYPE_I, 2147483648.0) == -2147483648.0);
    assert_true(number_round(TYPE_I8, 130) == -126);
}

static Tensor tensor(DataType type, int64_t m, int64_t n, int64_t ld)
{
    Tensor t = {.type = type, .size = {m, n, 1}, .stride = {1, ld, ld * n}};
    assert_ok(tensor_finish(&t));
    return t;
}

static void test_init_types(void **state)
{
    (void)state;
    Tensor t = tensor(TYPE_S, 3, 4, 5);
    assert_int_equal(t.n_elements, 3 * 5 + 3);
    float x[18];
    const struct {
        InitType how;
        float at00, at21, gap; /* (0,0), (2,1), the element between columns 0 and 1 */
    } want[] = {
        {INIT_ZERO, 0, 0, 0},
        {INIT_ONE, 1, 1, 1},
        {INIT_TWO, 2, 2, 2},
        {INIT_NEG_ONE, -1, -1, -1},
        {INIT_INF, INFINITY, INFINITY, INFINITY},
        {INIT_BAD_OUTPUT, INFINITY, INFINITY, INFINITY},
        {INIT_SERIAL_IDX, 0, 5, 0},
        {INIT_SERIAL_DIM0, 0, 2, 0},
        {INIT_SERIAL_DIM1, 0, 1, 0},
        {INIT_IDENTITY, 1, 0, 0},
        {INIT_TRIG_SIN, 0, (float)-0.95892427466313845, 0},
        {INIT_TRIG_ABS_SIN, 0, (float)0.95892427466313845, 0},
        {INIT_TRIG_COS, 1, (float)0.28366218546322625, 0},
        {INIT_TRIG_ABS_COS, 1, (float)0.28366218546322625, 0},
        {INIT_MAX, 0x1.fffffep127f, 0x1.fffffep127f, 0x1.fffffep127f},
        {INIT_DENORM_MIN, 0x1p-149f, 0x1p-149f, 0x1p-149f},
        {INIT_DENORM_MAX, 0x1.fffffcp-127f, 0x1.fffffcp-127f, 0x1.fffffcp-127f},
    };
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        assert_ok(init_check(want[i].how, TYPE_S, false));
        init_tensor(&t, want[i].how, 1, 2, x);
        if (x[0] != want[i].at00 || x[7] != want[i].at21 || x[3] != want[i].gap)
            fail_msg("%s: %g %g %g", init_name(want[i].how), (double)x[0], (double)x[7], (double)x[3]);
    }
    init_tensor(&t, INIT_NAN, 1, 1, x);
    assert_true(isnan(x[0]) && isnan(x[17]));
    init_tensor(&t, INIT_BAD_INPUT, 1, 1, x);
    assert_true(isnan(x[0]));
}

static void test_init_random(void **state)
{
    (void)state;
    enum { N = 200000 };
    static const struct {
        DataType type;
        int range;
    } want[] = {{TYPE_S, 100}, {TYPE_D, 1000}, {TYPE_H, 3},  {TYPE_B, 3},
                {TYPE_I8, 3},  {TYPE_I, 3},    {TYPE_C, 100}};
    double *buf = malloc(N * 16), *re = malloc(N * 8), *im = malloc(N * 8);
    assert_true(buf && re && im);
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        Tensor t = tensor(want[i].type, N, 1, N);
        init_tensor(&t, INIT_RANDOM, 3, 2, buf);
        numbers_load(want[i].type, buf, 0, 1, N, re, im);
        double sum = 0, lo = 0, hi = 0;
        for (int x = 0; x < N; x++) {
            assert_true(re[x] == nearbyint(re[x]));
            sum += re[x];
            lo = fmin(lo, re[x]);
            hi = fmax(hi, re[x]);
        }
        assert_true(lo == -want[i].range && hi == want[i].range); /* all values occur, none beyond */
        assert_true(fabs(sum / N) < want[i].range * 0.01);
        if (want[i].type == TYPE_C) assert_true(im[0] != re[0] || im[1] != re[1]);
    }
    Tensor t = tensor(TYPE_S, N, 1, N);
    float *one = (float *)buf, *two = (float *)re;
    init_tensor(&t, INIT_RANDOM_NARROW, 3, 1, one);
    init_tensor(&t, INIT_RANDOM_NARROW, 3, 2, two);
    assert_memory_equal(one, two, N * sizeof *one); /* threads make no difference */
    for (int x = 0; x < N; x++) assert_true(fabsf(one[x]) >= 0x1p-100f && fabsf(one[x]) < 2);
    free(buf);
    free(re);
    free(im);
}

/* The four values of an element are different random numbers, and equal values by position; also in gaps.
 */
static void test_init_packed(void **state)
{
    (void)state;
    Tensor t = tensor(TYPE_4XI8, 3, 4, 5);
    int8_t x[18][4], y[18][4];
    const struct {
        InitType how;
        int8_t at00, at21, gap; /* (0,0), (2,1), the element between columns 0 and 1 */
    } want[] = {{INIT_ZERO, 0, 0, 0},
                {INIT_ONE, 1, 1, 1},
                {INIT_TWO, 2, 2, 2},
                {INIT_NEG_ONE, -1, -1, -1},
                {INIT_MAX, 127, 127, 127},
                {INIT_BAD_INPUT, 127, 127, 127},
                {INIT_BAD_OUTPUT, -128, -128, -128},
                {INIT_SERIAL_IDX, 0, 5, 0},
                {INIT_SERIAL_DIM0, 0, 2, 0},
                {INIT_SERIAL_DIM1, 0, 1, 0},
                {INIT_IDENTITY, 1, 0, 0}};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        assert_ok(init_check(want[i].how, TYPE_4XI8, false));
        memset(x, 99, sizeof x);
        init_tensor(&t, want[i].how, 1, 2, x);
        for (int v = 0; v < 4; v++)
            if (x[0][v] != want[i].at00 || x[7][v] != want[i].at21 || x[3][v] != want[i].gap)
                fail_msg("%s, value %d: %d %d %d", init_name(want[i].how), v, x[0][v], x[7][v], x[3][v]);
    }
    static const InitType random[] = {INIT_RANDOM, INIT_RANDOM_NARROW, INIT_UNIFORM, INIT_NORMAL};
    for (size_t i = 0; i < 4; i++) {
        int differ = 0;
        init_tensor(&t, random[i], 1, 2, x);
        init_tensor(&t, random[i], 1, 1, y);
        assert_memory_equal(x, y, sizeof x);
        for (int e = 0; e < 18; e++)
            for (int v = 0; v < 4; v++) {
                assert_in_range(x[e][v] + 3, 0, 6);
                differ += x[e][v] != x[e][0];
            }
        assert_true(differ > 18);
    }
    /* many, from the table: equal to the bytes of as many Int8 */
    enum { MANY = 70001 };
    Tensor packed = tensor(TYPE_4XI8, MANY, 1, MANY), plain = tensor(TYPE_I8, 4 * MANY, 1, 4 * MANY);
    char *a = malloc(4 * MANY), *b = malloc(4 * MANY);
    init_tensor(&packed, INIT_RANDOM, 5, 2, a);
    init_tensor(&plain, INIT_RANDOM, 5, 2, b);
    assert_memory_equal(a, b, 4 * MANY);
    free(a);
    free(b);
}

static void test_init_refusals(void **state)
{
    (void)state;
    InitType how;
    assert_int_equal(init_check(INIT_NAN, TYPE_I, false), ERR_INPUT);
    assert_int_equal(init_check(INIT_SERIAL_IDX, TYPE_S, true), ERR_INPUT);
    assert_int_equal(init_check(INIT_IDENTITY, TYPE_S, true), ERR_INPUT);
    assert_ok(init_check(INIT_RANDOM_NARROW, TYPE_S, true));
    assert_int_equal(init_check(INIT_TRIG_COS, TYPE_I8, false), ERR_INPUT);
    assert_int_equal(init_check(INIT_ZERO, TYPE_F8B8, false), ERR_INPUT);
    assert_int_equal(init_check(INIT_ZERO, TYPE_4XI8, true), ERR_INPUT);
    for (int i = 0; i < INIT_COUNT; i++) /* four integers: what one of them has */
        assert_int_equal(init_check((InitType)i, TYPE_4XI8, false), init_check((InitType)i, TYPE_I8, false));
    assert_ok(init_check(INIT_MAX, TYPE_4XI8, false));
    assert_int_equal(init_find(STR("Randon"), &how), ERR_INPUT);
    assert_non_null(strstr(err_message(), "'Random'"));
    assert_ok(init_find(STR("13"), &how));
    assert_int_equal(how, INIT_TRIG_COS);
    for (int i = 0; i < INIT_COUNT; i++) {
        assert_ok(init_find(str_from(init_name((InitType)i)), &how));
        assert_int_equal(how, i);
    }
    Tensor t = {.type = TYPE_S, .size = {1 << 30, 1 << 30, 1}, .stride = {1, 1 << 30, 1}};
    assert_int_equal(tensor_finish(&t), ERR_INPUT);
}

#define NEAR(a, b) assert_true(fabs((a) - (b)) <= 1e-6 * fabs(b))

static void test_granularity(void **state)
{
    (void)state;
    GranularityInput in = {.m = 1000,
                           .n = 1000,
                           .batch = 1000,
                           .k = 1,
                           .macro_tile0 = 128,
                           .macro_tile1 = 128,
                           .global_split_u = 1,
                           .local_split_u = 1,
                           .n_threads = 256,
                           .n_cu = 60,
                           .a_bytes = 4,
                           .b_bytes = 4,
                           .c_bytes = 4,
                           .d_bytes = 4,
                           .use_beta = true};
    Granularity g;
    granularity_compute(&in, &g);
    NEAR(g.tiles_per_cu, 1066.6666667);
    NEAR(g.cu, 0.99968759);
    NEAR(g.total, 0.953376);
    assert_true(g.wave == 1 && g.used_cus == 60);
    in.m = in.n = 5504;
    in.batch = 1;
    granularity_compute(&in, &g);
    assert_true(g.write_bytes == 121176064);
    NEAR(g.read_bytes, 5504.0 * 5504 * (2.0 / 128 + 1) * 4);
    in.global_split_u = 4;
    granularity_compute(&in, &g);
    assert_true(g.write_bytes == 363528192);
    in.use_beta = false;
    granularity_compute(&in, &g);
    assert_true(g.write_bytes == 121176064.0 * 4);
    in = (GranularityInput){.m = 64,
                            .n = 64,
                            .batch = 1,
                            .k = 64,
                            .macro_tile0 = 64,
                            .macro_tile1 = 64,
                            .global_split_u = 1,
                            .local_split_u = 1,
                            .n_threads = 64,
                            .n_cu = 60};
    granularity_compute(&in, &g);
    assert_true(g.wave == 0.25 && g.used_cus == 1 && g.tile0 == 1);
    NEAR(g.cu, 1.0 / 60);
}

static void test_events(void **state)
{
    (void)state;
    const Event events[] = {
        {.kind = EVENT_ENV, .key = STR("device"), .value = STR("host 0"), .text = STR("")},
        {.kind = EVENT_START, .p = 3, .s = 7},
        {.kind = EVENT_VALID,
         .p = 3,
         .s = 7,
         .status = RUN_FAILED,
         .checked = 4096,
         .max_err = INFINITY,
         .text = STR("D(1,2,0) is nan")},
        {.kind = EVENT_SAMPLE, .p = 3, .s = 7, .sync_no = 2, .n_enqueues = 10, .total_ns = 123456789012},
        {.kind = EVENT_SAMPLE,
         .p = 3,
         .s = -1,
         .n_enqueues = 10,
         .total_ns = 12,
         .state = {.round = 4,
                   .clock_mhz = 1980,
                   .power_w = NAN,
                   .temp_c = 51.5,
                   .throttle = 0x104,
                   .use = SAMPLE_OUTLIER}},
        {.kind = EVENT_END,
         .p = 3,
         .s = 7,
         .status = RUN_TIMEOUT,
         .median_ns = NAN,
         .lo_ns = NAN,
         .hi_ns = NAN,
         .text = STR("")},
        {.kind = EVENT_VERSION},
        {.kind = EVENT_DONE},
    };
    for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
        Buf a, b;
        Event back;
        buf_init(&a);
        buf_init(&b);
        event_format(&events[i], &a);
        assert_ok(event_parse(str_sub(buf_view(&a), 0, a.n - 1), &back));
        event_format(&back, &b);
        assert_string_equal(buf_cstr(&a), buf_cstr(&b));
        buf_fini(&a);
        buf_fini(&b);
    }
}

static void test_events_bad(void **state)
{
    (void)state;
    static const char *const bad[] = {"",
                                      "x",
                                      "start\t1",
                                      "events",
                                      "events\t2",
                                      "events\t1\t1",
                                      "start\t1\t-2",
                                      "start\t1\t2\t3",
                                      "env\ta",
                                      "sample\t1\t2\t0\t0\t5",
                                      "sample\t1\t2\t0\t1\t5\t1\t1980\t100",
                                      "sample\t1\t2\t0\t1\t5\t0\t1980\t100\t40\t0\tfirst",
                                      "sample\t1\t2\t0\t1\t5\t1\t1980\t100\t40\t0\tlast",
                                      "end\t1\t2\tMAYBE\t0\tnan\tnan\tnan\t",
                                      "done\t"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        Event e;
        if (event_parse(str_from(bad[i]), &e) != ERR_INPUT) fail_msg("'%s' was read", bad[i]);
    }
    Event tabs = {.kind = EVENT_ENV, .key = STR("k"), .value = STR("a\tb\nc")};
    Buf out;
    buf_init(&out);
    event_format(&tabs, &out);
    assert_string_equal(buf_cstr(&out), "env\tk\ta b c\n");
    buf_fini(&out);
}

/* ---- answers ---- */

static void answer_make(Buf *out)
{
    buf_init(out);
    answer_begin(out);
    answer_add(&(AnswerRecord){.record = ANSWER_DEVICE,
                               .kind = STR("cuda"),
                               .index = 1,
                               .name = STR("a, \"b\" CUs: x"),
                               .arch = STR("sm_90"),
                               .n_cu = 132,
                               .memory_bytes = INT64_C(1) << 37,
                               .driver = STR("13.0")},
               out);
    answer_add(&(AnswerRecord){.record = ANSWER_ABSENT, .kind = STR("hip"), .text = STR("two\nlines")}, out);
    answer_end(out);
    assert_ok(buf_check(out));
}

static void test_answer_reads_back(void **state)
{
    (void)state;
    Arena a;
    Buf text, line;
    AnswerRecord *r;
    size_t n;
    arena_init(&a, 0);
    buf_init(&line);
    answer_make(&text);
    assert_ok(answer_parse(&a, buf_view(&text), &r, &n));
    assert_int_equal(n, 2);
    assert_true(r[0].record == ANSWER_DEVICE && r[0].index == 1 && r[0].n_cu == 132);
    assert_str(r[0].name, "a, \"b\" CUs: x");
    assert_str(r[1].text, "two\nlines");
    answer_print(&r[0], &line);
    assert_string_equal(buf_cstr(&line), "cuda 1: a, \"b\" CUs: x, sm_90, 132 CUs, 128.0 GiB, 13.0");
    buf_fini(&line);
    buf_fini(&text);
    arena_fini(&a);
}

static void test_answer_damaged(void **state)
{
    (void)state;
    static const char columns[] =
        "record,kind,index,name,architecture,n_cu,memory_bytes,cache_bytes,clock_mhz,driver,text\n";
    static const struct {
        const char *head, *rows, *says;
    } bad[] = {{"", "", "no answer"},
               {"host 0: CPU, x86-64-v4, 2 CUs\n", "", "no answer"},
               {"tuner-answer,2\n", "end,,,,,,,,,,\n", "version 2, expected 1"},
               {"tuner-answer,1\n", "device,host,x,n,sm_90,1,1,1,1,,\nend,,,,,,,,,,\n", "index 'x'"},
               {"tuner-answer,1\n", "device,host,0,n,sm_90,-1,1,1,1,,\nend,,,,,,,,,,\n", "n_cu '-1'"},
               {"tuner-answer,1\n", "thing,host,0,n,sm_90,1,1,1,1,,\nend,,,,,,,,,,\n", "record 'thing'"},
               {"tuner-answer,1\n", "device,host,0\nend,,,,,,,,,,\n", "3 columns, expected 11"}};
    Arena a;
    Buf text;
    AnswerRecord *r;
    size_t n;
    arena_init(&a, 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        buf_init(&text);
        buf_printf(&text, "%s%s%s", bad[i].head, bad[i].rows[0] ? columns : "", bad[i].rows);
        assert_int_equal(answer_parse(&a, buf_view(&text), &r, &n), ERR_INPUT);
        if (!strstr(err_message(), bad[i].says)) fail_msg("'%s' lacks '%s'", err_message(), bad[i].says);
        buf_fini(&text);
    }
    answer_make(&text);
    for (size_t cut = 0; cut + 1 < text.n; cut++)
        if (!answer_parse(&a, str_sub(buf_view(&text), 0, cut), &r, &n)) fail_msg("%zu bytes were read", cut);
    buf_fini(&text);
    arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_halves_at_once),
        cmocka_unit_test(test_half_all_values),
        cmocka_unit_test(test_small_floats_round_trip),
        cmocka_unit_test(test_init_types),
        cmocka_unit_test(test_init_random),
        cmocka_unit_test(test_init_packed),
        cmocka_unit_test(test_init_refusals),
        cmocka_unit_test(test_granularity),
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_events_bad),
        cmocka_unit_test(test_answer_reads_back),
        cmocka_unit_test(test_answer_damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
