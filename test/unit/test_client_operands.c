/* Data of operands that problems share, their copies on a device, and the loops that make them. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/worker/operands.h"
#include "client/worker/parallel.h"
#include "test/support.h"

/* ---- a device whose memory is the host's ---- */

static struct {
    int n_to, n_copies, n_pinned; /* copies from the host, within the device; pinned memory that is there */
    uint64_t room;                /* largest allocation */
} seen;

static Err fake_alloc(Device *d, uint64_t bytes, DeviceGuard guard, DeviceMem *out)
{
    (void)d, (void)guard;
    *out = (DeviceMem){0};
    if (bytes > seen.room) FAIL(ERR_FAILED, "no room");
    void *p = malloc(bytes);
    if (!p) FAIL(ERR_FAILED, "out of memory");
    *out = (DeviceMem){.address = (uint64_t)(uintptr_t)p, .bytes = bytes};
    return ERR_OK;
}

static void fake_free(Device *d, DeviceMem *m)
{
    (void)d;
    free((void *)(uintptr_t)m->address);
    *m = (DeviceMem){0};
}

static Err fake_to(Device *d, const DeviceMem *to, uint64_t offset, const void *from, uint64_t bytes)
{
    (void)d;
    memcpy((char *)(uintptr_t)to->address + offset, from, bytes);
    seen.n_to++;
    return ERR_OK;
}

static Err fake_from(Device *d, void *to, const DeviceMem *from, uint64_t offset, uint64_t bytes)
{
    (void)d;
    memcpy(to, (const char *)(uintptr_t)from->address + offset, bytes);
    return ERR_OK;
}

static Err fake_copy(Device *d, const DeviceMem *to, const DeviceMem *from, uint64_t bytes)
{
    (void)d;
    memcpy((void *)(uintptr_t)to->address, (const void *)(uintptr_t)from->address, bytes);
    seen.n_copies++;
    return ERR_OK;
}

static Err fake_props(Device *d, DeviceProps *out)
{
    (void)d;
    *out = (DeviceProps){.memory_bytes = UINT64_C(128) << 20}; /* copies of up to 2 MiB */
    return ERR_OK;
}

static void *fake_pinned(Device *d, uint64_t bytes)
{
    (void)d;
    seen.n_pinned++;
    return malloc(bytes);
}

static void fake_unpinned(Device *d, void *p)
{
    (void)d;
    seen.n_pinned--;
    free(p);
}

static const DeviceApi gpu = {.is_gpu = true,
                              .props = fake_props,
                              .alloc = fake_alloc,
                              .free = fake_free,
                              .copy_to = fake_to,
                              .copy_from = fake_from,
                              .copy = fake_copy,
                              .pinned_alloc = fake_pinned,
                              .pinned_free = fake_unpinned};

static Operands start(Device *d)
{
    memset(&seen, 0, sizeof seen);
    seen.room = UINT64_MAX;
    *d = (Device){.api = &gpu};
    return operands_make(d, 2);
}

static Tensor vector(DataType t, int64_t n)
{
    Tensor x = {.type = t, .size = {n, 1, 1}, .stride = {1, n, n}};
    assert_int_equal(tensor_finish(&x), ERR_OK);
    return x;
}

/* ---- data ---- */

static void same_as_alone(Operands *o, int number, DataType t, int64_t n, InitType how, uint64_t seed)
{
    const Tensor x = vector(t, n);
    const uint64_t bytes = (uint64_t)(n * type_bytes(t));
    unsigned char *alone = malloc(bytes);
    Operand *shared;
    assert_non_null(alone);
    init_tensor(&x, how, seed, 1, alone);
    assert_int_equal(operand_get(o, number, &x, how, seed, &shared), ERR_OK);
    assert_memory_equal(shared->data, alone, bytes);
    assert_true(operand_hash(shared, bytes, 2) == bytes_hash(alone, bytes, 1));
    free(alone);
}

static void test_shared_data(void **state)
{
    (void)state;
    static const int64_t sizes[] = {5, 300000, 1000, 524288, 1048576, 1, 700001, 2000003, 524289};
    static const DataType types[] = {TYPE_H, TYPE_S, TYPE_C, TYPE_I8, TYPE_F8};
    static const InitType hows[] = {INIT_UNIFORM, INIT_RANDOM, INIT_ONE, INIT_RANDOM_NARROW};
    Device d;
    Operands o = start(&d);
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (size_t h = 0; h < sizeof hows / sizeof *hows; h++)
            for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
                if (hows[h] == INIT_RANDOM_NARROW && (types[t] != TYPE_S || sizes[i] > 1000)) continue;
                same_as_alone(&o, 0, types[t], sizes[i], hows[h], 1);
                same_as_alone(&o, 1, types[t], sizes[i] / 2 + 1, hows[h], 2);
                same_as_alone(&o, 0, types[t], sizes[i], hows[h], 1001);
            }
    operands_free(&o);
    assert_true(operand_is_shared(INIT_NORMAL) && !operand_is_shared(INIT_SERIAL_IDX) &&
                !operand_is_shared(INIT_TRIG_COS));
}

static void test_made_once(void **state)
{
    (void)state;
    Device d;
    Operands o = start(&d);
    const Tensor large = vector(TYPE_H, 400000), small = vector(TYPE_H, 1000);
    Operand *a, *b, *c;
    assert_int_equal(operand_get(&o, 0, &large, INIT_UNIFORM, 1, &a), ERR_OK);
    const unsigned char *data = a->data;
    assert_int_equal(operand_get(&o, 0, &small, INIT_UNIFORM, 1000, &b), ERR_OK);
    assert_int_equal(operand_get(&o, 0, &small, INIT_UNIFORM, 1, &c), ERR_OK);
    assert_true(a == c && a != b && c->data == data && c->bytes == 800000);
    operands_free(&o);
}

static void write_some(Operands *o, Operand *x, const DeviceMem *to, uint64_t bytes)
{
    memset((void *)(uintptr_t)to->address, 0xEE, to->bytes);
    assert_int_equal(operand_write(o, x, to, 64, bytes), ERR_OK);
    assert_memory_equal((char *)(uintptr_t)to->address + 64, x->data, bytes);
    assert_int_equal(((unsigned char *)(uintptr_t)to->address)[63], 0xEE);
    assert_int_equal(((unsigned char *)(uintptr_t)to->address)[64 + bytes], 0xEE);
}

static void test_copy_on_device(void **state)
{
    (void)state;
    Device d;
    Operands o = start(&d);
    const Tensor x = vector(TYPE_H, 400000), huge = vector(TYPE_H, 4000000);
    Operand *a, *b;
    DeviceMem to;
    bool changed;
    assert_int_equal(fake_alloc(&d, 9000000, DEVICE_GUARD_NONE, &to), ERR_OK);
    assert_int_equal(operand_get(&o, 0, &x, INIT_UNIFORM, 1, &a), ERR_OK);
    for (uint64_t bytes = 800000; bytes > 100; bytes /= 3) write_some(&o, a, &to, bytes);
    assert_true(seen.n_to == 1 && seen.n_copies > 3);
    assert_int_equal(operand_restore(&o, a, 800000, &changed), ERR_OK);
    assert_true(!changed && seen.n_to == 1);
    ((unsigned char *)(uintptr_t)a->copy.address)[799999] ^= 1;
    assert_int_equal(operand_restore(&o, a, 799999, &changed), ERR_OK);
    assert_true(!changed); /* behind what was asked about */
    assert_int_equal(operand_restore(&o, a, 800000, &changed), ERR_OK);
    assert_true(changed);
    write_some(&o, a, &to, 800000);
    /* larger than a copy may be, and without room for one */
    assert_int_equal(operand_get(&o, 1, &huge, INIT_UNIFORM, 1, &b), ERR_OK);
    write_some(&o, b, &to, 8000000);
    assert_true(!b->copy.bytes);
    write_some(&o, b, &to, 1000000); /* the beginning of a larger one */
    assert_true(b->n_there == 1000000 && b->copy.bytes == 2 << 20);
    write_some(&o, b, &to, 8000000);
    assert_int_equal(operand_get(&o, 2, &x, INIT_UNIFORM, 1, &b), ERR_OK);
    seen.room = 1000;
    write_some(&o, b, &to, 800000);
    assert_true(!b->copy.bytes);
    assert_int_equal(operand_restore(&o, b, 800000, &changed), ERR_OK);
    assert_false(changed);
    fake_free(&d, &to);
    operands_free(&o);
    assert_int_equal(seen.n_pinned, 0);
}

/* Memory is made for what is to come, data only when they are needed. */
static void test_expected(void **state)
{
    (void)state;
    Device d;
    Operands o = start(&d);
    const Tensor x = vector(TYPE_H, 1000), y = vector(TYPE_H, 500000);
    Operand *a;
    DeviceMem to;
    assert_int_equal(fake_alloc(&d, 9000000, DEVICE_GUARD_NONE, &to), ERR_OK);
    operands_expect(&o, 1, 1000000);
    operands_expect(&o, 1, 2000);
    assert_int_equal(operand_get(&o, 1, &x, INIT_UNIFORM, 1, &a), ERR_OK);
    assert_true(a->bytes == 2000 && a->room == 1000000);
    write_some(&o, a, &to, 2000);
    assert_true(a->n_there == 2000 && a->copy.bytes == 1000000 && seen.n_to == 1);
    const unsigned char *data = a->data;
    assert_int_equal(operand_get(&o, 1, &y, INIT_UNIFORM, 1, &a), ERR_OK);
    write_some(&o, a, &to, 1000000);
    assert_true(a->data == data && a->n_there == 1000000 && seen.n_to == 2);
    same_as_alone(&o, 1, TYPE_H, 500000, INIT_UNIFORM, 1);
    fake_free(&d, &to);
    operands_free(&o);
}

static void test_bounce(void **state)
{
    (void)state;
    Device d;
    Operands o = start(&d);
    assert_int_equal(bounce_room(&o, &o.d_out, 1000), ERR_OK);
    const unsigned char *first = o.d_out.data;
    assert_true(o.d_out.pinned && seen.n_pinned == 1);
    assert_int_equal(bounce_room(&o, &o.d_out, 900), ERR_OK);
    assert_ptr_equal(o.d_out.data, first);
    assert_int_equal(bounce_room(&o, &o.d_out, UINT64_C(100) << 20), ERR_OK);
    assert_true(!o.d_out.pinned && seen.n_pinned == 0);
    operands_free(&o);
}

/* ---- loops ---- */

enum { N = 1000 };
static atomic_int count[N];

static void count_task(void *ctx, int64_t i)
{
    (void)ctx;
    atomic_fetch_add(&count[i], 1);
}

static void nested_task(void *ctx, int64_t i)
{
    (void)i;
    parallel_for(N, 4, count_task, ctx);
}

static bool all_are(int n)
{
    bool good = true;
    for (int i = 0; i < N; i++) good &= atomic_load(&count[i]) == n;
    for (int i = 0; i < N; i++) atomic_store(&count[i], 0);
    return good;
}

static void *other_thread(void *arg)
{
    for (int i = 0; i < 50; i++) parallel_for(N, 3, count_task, arg);
    return NULL;
}

static void test_loops(void **state)
{
    (void)state;
    static const int threads[] = {1, 2, 3, 16, 300, 2};
    for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
        for (int i = 0; i < 100; i++) parallel_for(N, threads[t], count_task, NULL);
        assert_true(all_are(100));
    }
    parallel_for(0, 4, count_task, NULL);
    parallel_for(1, 4, count_task, NULL);
    assert_int_equal(atomic_exchange(&count[0], 0), 1);
    parallel_for(20, 4, nested_task, NULL);
    assert_true(all_are(20));
    pthread_t other;
    assert_int_equal(pthread_create(&other, NULL, other_thread, NULL), 0);
    other_thread(NULL);
    pthread_join(other, NULL);
    assert_true(all_are(100));
}

/* A forked process has none of its parent's threads. */
static void test_loop_after_fork(void **state)
{
    (void)state;
    int status = 0;
    parallel_for(N, 4, count_task, NULL);
    assert_true(all_are(1));
    const pid_t child = fork();
    if (child == 0) {
        alarm(20);
        parallel_for(N, 4, count_task, NULL);
        _exit(all_are(1) ? 7 : 1);
    }
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    parallel_for(N, 4, count_task, NULL);
    assert_true(all_are(1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shared_data),     cmocka_unit_test(test_made_once),
        cmocka_unit_test(test_copy_on_device),  cmocka_unit_test(test_expected),
        cmocka_unit_test(test_bounce),          cmocka_unit_test(test_loops),
        cmocka_unit_test(test_loop_after_fork),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
