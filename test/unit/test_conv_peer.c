/* oneDNN against the reference: random convolutions of every direction, type and format that it implements,
 * with each of its algorithms. Skipped where it is not installed. */
#include "test/lib_conv.h"

#include "client/peer/peer.h"

static const int32_t ops[] = {OP_CONV_FORWARD, OP_CONV_BACKWARD_DATA, OP_CONV_BACKWARD_WEIGHTS};

static void run_all(Peer *p, const ConvDesc *c, InitType how, uint64_t seed)
{
    ConvMemory m;
    conv_memory(c, how, seed, &m);
    const ConvTensor r = conv_result(c);
    const ConvData d = conv_data_of(c, &m);
    const uint64_t address[CONV_TENSORS] = {(uint64_t)(uintptr_t)m.at[0], (uint64_t)(uintptr_t)m.at[1],
                                            (uint64_t)(uintptr_t)m.at[2]};
    for (p->algo = 0; p->algo < p->n_algos; p->algo++) {
        Check check;
        memset(m.at[r], number_poison((DataType)c->type[r]),
               (size_t)(m.n[r] * type_bytes((DataType)c->type[r])));
        assert_ok(peer_conv_launch(p, c, address));
        for (int never_all = 0; never_all < 2; never_all++) {
            assert_ok(conv_check(&d, &(ConvCheckOptions){.seed = seed, .never_all = never_all}, &check));
            if (check.passed && !check.n_suspect) continue;
            Buf text;
            buf_init(&text);
            conv_desc_print(c, &text);
            p->api->algo_name(p, p->algo, &text);
            fail_msg("%s: %s, %lld suspicious", buf_cstr(&text), check.text, (long long)check.n_suspect);
        }
    }
    conv_memory_free(&m);
}

static void test_onednn(void **state)
{
    (void)state;
    static const DataType types[] = {TYPE_S, TYPE_S, TYPE_B, TYPE_I8, TYPE_H};
    Device *host;
    Peer *p;
    unsigned seed = 17;
    int n_done = 0, n_all = 0, of_type[TYPE_COUNT] = {0};
    assert_ok(device_host.open(0, &(DeviceOptions){.n_threads = 1}, &host));
    if (peer_open("onednn", host, 1, &p)) {
        print_message("skipped: %s\n", err_message());
        err_clear();
        host->api->close(host);
        skip();
    }
    for (int i = 0; i < 75; i++) {
        ConvDesc c;
        const DataType t = types[i % 5];
        conv_random(&seed, ops[i / 5 % 3], 2 + i / 15 % 2, t, &c);
        n_all++;
        const Err e = peer_conv(p, &c);
        if (e == ERR_INPUT) {
            assert_non_null(strstr(err_message(), "peer onednn: "));
            err_clear();
            continue;
        }
        assert_ok(e);
        assert_true(p->n_algos >= 1 && p->n_algos <= 2);
        run_all(p, &c, i % 2 && t != TYPE_I8 ? INIT_NORMAL : INIT_RANDOM, (uint64_t)i);
        n_done++, of_type[t]++;
    }
    print_message("%s: %d of %d convolutions; f32 %d bf16 %d i8 %d f16 %d\n", p->version, n_done, n_all,
                  of_type[TYPE_S], of_type[TYPE_B], of_type[TYPE_I8], of_type[TYPE_H]);
    assert_int_equal(of_type[TYPE_S], 30);
    peer_close(p);
    host->api->close(host);
}

/* What is refused, and with which words. */
static void test_refused(void **state)
{
    (void)state;
    Device *host;
    Peer *p;
    assert_ok(device_host.open(0, &(DeviceOptions){.n_threads = 1}, &host));
    assert_int_equal(peer_open("cudnn", host, 1, &p), ERR_NO_DEVICE);
    assert_string_equal(err_message(), "peer cudnn runs on device cuda, not on 'host'");
    assert_int_equal(peer_open("mkl", host, 1, &p), ERR_INPUT);
    assert_string_equal(err_message(),
                        "unknown peer 'mkl' (cublas or openblas; of convolutions cudnn or onednn)");
    assert_true(peer_known("cublas") && !peer_known("onednn") && peer_known_conv("cudnn") &&
                !peer_known_conv("openblas"));
    if (peer_open("onednn", host, 1, &p) == ERR_OK) {
        Problem problem = {.n_sizes = 4};
        ConvDesc c;
        assert_int_equal(peer_problem(p, &problem), ERR_INPUT);
        assert_string_equal(err_message(), "peer onednn is one of convolutions, not of GEMMs");
        conv_desc_init(&c);
        c.xf32 = 1;
        assert_int_equal(peer_conv(p, &c), ERR_INPUT);
        peer_close(p);
    }
    err_clear();
    host->api->close(host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_onednn), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
