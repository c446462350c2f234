/* Kernels of the host ABI for the tests of tuner-client: right ones and every kind of wrong one. All compute
 * D = alpha * A * B + beta * C for f32, column-major, not transposed, arguments in Tensile's Source layout. Built by the tests:
 * cc -O2 -fPIC -shared. One work-group is one 16 x 16 tile.
 * What is wrong happens behind the last work-group, when no other thread writes there any more. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <unistd.h>

typedef struct {
    float *d;
    const float *c, *a, *b;
    float alpha, beta;
    uint32_t sd1, sd2, sc1, sc2, sa1, sa2, sb1, sb2, m, n, batch, k;
} Args;

static void tile(const Args *g, const uint32_t grid[3], uint64_t id)
{
    uint32_t x = (uint32_t)(id % grid[0]), y = (uint32_t)(id / grid[0] % grid[1]), z = (uint32_t)(id / grid[0] / grid[1]);
    for (uint32_t j = y * 16; j < y * 16 + 16 && j < g->n; j++)
        for (uint32_t i = x * 16; i < x * 16 + 16 && i < g->m; i++) {
            float s = 0;
            for (uint32_t l = 0; l < g->k; l++)
                s += g->a[(uint64_t)z * g->sa2 + (uint64_t)l * g->sa1 + i] * g->b[(uint64_t)z * g->sb2 + (uint64_t)j * g->sb1 + l];
            float c = g->beta == 0 ? 0 : g->beta * g->c[(uint64_t)z * g->sc2 + (uint64_t)j * g->sc1 + i];
            g->d[(uint64_t)z * g->sd2 + (uint64_t)j * g->sd1 + i] = g->alpha * s + c;
        }
}

static void right(const void *kernarg, const uint32_t grid[3], uint64_t first, uint64_t last)
{
    for (uint64_t id = first; id < last; id++) tile(kernarg, grid, id);
}

#define KERNEL(name, after)                                                                                      \
    const uint64_t name##_local_bytes = 0;                                                                       \
    void name(const void *kernarg, const uint32_t grid[3], uint64_t first, uint64_t last, void *local)           \
    {                                                                                                            \
        const Args *g = kernarg;                                                                                 \
        uint64_t end = (uint64_t)(g->batch - 1) * g->sd2 + (uint64_t)(g->n - 1) * g->sd1 + g->m; /* of D */      \
        (void)local, (void)end;                                                                                  \
        right(kernarg, grid, first, last);                                                                       \
        if (last == (uint64_t)grid[0] * grid[1] * grid[2]) {                                                                                        \
            after;                                                                                               \
        }                                                                                                        \
    }

static void overrun(volatile float *at) { *at = 1; }
static float overread(const volatile float *at) { return *at; }

KERNEL(good, )
KERNEL(wrong_element, g->d[end - 1] = g->d[end - 1] * 1.5f + 3)
KERNEL(write_behind, overrun(g->d + end))
KERNEL(write_before, overrun(g->d - 1))
KERNEL(read_behind, overread(g->a + (uint64_t)(g->batch - 1) * g->sa2 + (uint64_t)(g->k - 1) * g->sa1 + g->m))
KERNEL(write_input, ((float *)g->a)[0] += 1)
KERNEL(write_gap, if (g->sd1 > g->m) g->d[g->m] = 0)
KERNEL(segfault, *(volatile int *)8 = 1)
KERNEL(illegal, __builtin_trap())
KERNEL(bus_error, raise(SIGBUS))
KERNEL(aborts, abort())
KERNEL(exits, exit(0))
KERNEL(killed, kill(getpid(), SIGKILL))
KERNEL(endless, for (volatile int i = 0;;) i++)
KERNEL(prints, (void)!write(1, "kernel prints\n", 14))
KERNEL(slow, usleep(200000))
