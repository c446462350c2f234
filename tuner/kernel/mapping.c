/* Integer functions of the work-group mapping; see mapping.h. Sources: tensile-formats 2.4, 8.2, 8.3. */
#include "kernel/mapping.h"

bool mapping_grid(int64_t m, int64_t n, int64_t batch, int32_t mt0, int32_t mt1, int32_t gsu,
                  uint32_t grid[3])
{
    int64_t x = mapping_ceil_div(m, mt0), y = mapping_ceil_div(n, mt1) * gsu;
    if (x > INT32_MAX || y > INT32_MAX || batch > INT32_MAX) return false;
    grid[0] = (uint32_t)x;
    grid[1] = (uint32_t)y;
    grid[2] = (uint32_t)batch;
    return true;
}

void mapping_gsu(uint32_t y, uint32_t tiles1, uint32_t gsu, bool round_robin, uint32_t *part, uint32_t *wg1)
{
    *part = round_robin ? y / tiles1 : y % gsu;
    *wg1 = round_robin ? y % tiles1 : y / gsu;
}

uint32_t mapping_gsu_row(uint32_t part, uint32_t wg1, uint32_t tiles1, uint32_t gsu, bool round_robin)
{
    return round_robin ? part * tiles1 + wg1 : wg1 * gsu + part;
}

MappingChunks mapping_chunks(int64_t k, int32_t depth_u, uint32_t part, uint32_t gsu, bool round_robin)
{
    int64_t n = mapping_ceil_div(k, depth_u), each = n / gsu, more = n % gsu;
    MappingChunks c = {.count = each + (part < more)};
    c.first = round_robin ? (int64_t)part : part * each + (part < more ? part : more);
    c.step = round_robin ? (int64_t)gsu : 1;
    return c;
}

void mapping_wgm(uint32_t wgm, uint32_t tiles0, uint32_t tiles1, uint32_t *wg0, uint32_t *wg1)
{
    if (wgm <= 1) return;
    uint32_t words[3];
    mapping_wgm_words(wgm, tiles1, words);
    uint32_t block = *wg1 / wgm;
    uint64_t serial = *wg0 + (uint64_t)(*wg1 % wgm) * tiles0;
    uint32_t width = block >= words[0] ? words[1] : wgm;
    *wg0 = (uint32_t)(serial / width);
    *wg1 = (uint32_t)(serial % width) + block * wgm;
}

void mapping_wgm_words(uint32_t wgm, uint32_t tiles1, uint32_t words[3])
{
    words[0] = tiles1 / wgm;
    words[1] = tiles1 % wgm ? tiles1 % wgm : wgm;
    words[2] = UINT32_C(0x80000000) / words[1] + 1;
}

uint32_t mapping_stagger_mask(uint32_t stagger_u, uint32_t stride_shift, int64_t k, int32_t depth_u,
                              uint32_t gsu)
{
    int64_t loops = k / depth_u / gsu;
    uint64_t s = stagger_u;
    while (s > 1 && loops < (int64_t)(s << stride_shift)) s /= 2;
    return s >= 1 ? (uint32_t)s - 1 : 0;
}

void mapping_persistent(uint64_t id, uint32_t tiles0, uint32_t tiles1, uint32_t wg[3])
{
    wg[0] = (uint32_t)(id % tiles0);
    wg[1] = (uint32_t)(id / tiles0 % tiles1);
    wg[2] = (uint32_t)(id / tiles0 / tiles1);
}

void mapping_stream_k(uint64_t tiles, int64_t iters_per_tile, uint32_t id, uint32_t n, int64_t *first,
                      int64_t *last)
{
    int64_t total = (int64_t)tiles * iters_per_tile, each = mapping_ceil_div(total, n);
    *first = id * each < total ? id * each : total;
    *last = *first + each < total ? *first + each : total;
}

uint32_t mapping_xcc(uint32_t id, uint32_t n, uint32_t n_xcc)
{
    if (n_xcc <= 1) return id;
    uint32_t each = n / n_xcc, more = n % n_xcc, die = id % n_xcc;
    return die * each + (die < more ? die : more) + id / n_xcc;
}
