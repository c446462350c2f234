/* traffic_bench: what it takes to choose a work-group order, which the launch of a new size does
 * (traffic_choose), on an H200's numbers, for tiles of 256x128 elements of 16 bits and 400 drawn sizes.
 * Prints the median with its 95% interval over n repetitions, and a sum over the choices, which must not
 * change when choosing is made faster. */
#include <stdint.h>
#include <stdio.h>

#include "base/fs.h"
#include "measure/stats.h"
#include "problem/part.h"
#include "problem/traffic.h"

enum { N_SIZES = 400, REPEAT = 15, TILE_M = 256, TILE_N = 128, BYTES = 2, N_CUS = 132 };

static int64_t draw(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return TILE_M + (int64_t)(*state >> 40) % 16384;
}

static TrafficGrid grid_draw(uint64_t *state)
{
    const int64_t m = draw(state), n = draw(state), k = draw(state);
    return (TrafficGrid){.tiles_m = (m + TILE_M - 1) / TILE_M,
                         .tiles_n = (n + TILE_N - 1) / TILE_N,
                         .dim = (int32_t)(k % 2),
                         .bytes_m = TILE_M * (double)k * BYTES,
                         .bytes_n = TILE_N * (double)k * BYTES,
                         .bytes_tile = TILE_M * TILE_N * BYTES};
}

int main(void)
{
    static TrafficGrid grid[N_SIZES];
    const TrafficDevice d = part_traffic(STR("sm_90"), N_CUS);
    uint64_t state = 1;
    double ns[REPEAT];
    long long sum = 0;
    for (int i = 0; i < N_SIZES; i++) grid[i] = grid_draw(&state);
    for (int r = 0; r < REPEAT; r++) {
        const uint64_t from = clock_ns();
        for (int i = 0; i < N_SIZES; i++) {
            const Mapping m = traffic_choose(&d, &grid[i]);
            if (r == 0) sum += m.wgm * (i + 1);
        }
        ns[r] = (double)(clock_ns() - from) / N_SIZES;
    }
    Summary s;
    stats_summary(ns, REPEAT, 0.95, &s);
    printf("traffic_bench: choice of a work-group order %8.4g ns [%.4g, %.4g] n %d; sum %lld\n", s.median,
           s.lo, s.hi, REPEAT, sum);
    return 0;
}
