/* Elements of any data type as numbers, and memory that faults just outside; for test_host_kernels.c. */
#ifndef TEST_UNIT_HOST_VALUES_H
#define TEST_UNIT_HOST_VALUES_H

#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

#include "problem/datatype.h"
#include "test/support.h"

/* ---- numbers of any type ---- */

static inline int parts_of(DataType t) { return type_info(t)->complex ? 2 : 1; }

static long double get(DataType t, const void *p, int64_t at)
{
    switch (t) {
    case TYPE_S:
    case TYPE_C:
        return ((const float *)p)[at];
    case TYPE_D:
    case TYPE_Z:
        return ((const double *)p)[at];
    case TYPE_I8:
        return ((const int8_t *)p)[at];
    case TYPE_I:
        return ((const int32_t *)p)[at];
    case TYPE_B: {
        uint32_t u = (uint32_t)((const uint16_t *)p)[at] << 16;
        float f;
        memcpy(&f, &u, 4);
        return f;
    }
    default: {
        uint16_t h = ((const uint16_t *)p)[at];
        int e = h >> 10 & 31, m = h & 1023;
        long double v = e == 31 ? (m ? NAN : INFINITY) : e ? ldexpl(1024 + m, e - 25) : ldexpl(m, -24);
        return h >> 15 ? -v : v;
    }
    }
}

/* Values that every type holds exactly: multiples of 1/8 in [-2, 2), integers for int8. */
static void put(DataType t, void *p, int64_t at, int eighths)
{
    float f = (float)eighths / 8;
    switch (t) {
    case TYPE_S:
    case TYPE_C:
        ((float *)p)[at] = f;
        break;
    case TYPE_D:
    case TYPE_Z:
        ((double *)p)[at] = f;
        break;
    case TYPE_I8:
        ((int8_t *)p)[at] = (int8_t)eighths;
        break;
    case TYPE_I:
        ((int32_t *)p)[at] = eighths;
        break;
    case TYPE_B: {
        uint32_t u;
        memcpy(&u, &f, 4);
        ((uint16_t *)p)[at] = (uint16_t)(u >> 16);
        break;
    }
    default: {
        int e;
        float m = frexpf(fabsf(f), &e);
        ((uint16_t *)p)[at] =
            (uint16_t)((f < 0 ? 0x8000 : 0) | (f == 0 ? 0 : (e + 14) << 10 | ((int)(m * 2048) & 1023)));
    }
    }
}

static long double epsilon(DataType t)
{
    switch (t) {
    case TYPE_S:
    case TYPE_C:
        return 0x1p-23L;
    case TYPE_D:
    case TYPE_Z:
        return 0x1p-52L;
    case TYPE_H:
        return 0x1p-10L;
    case TYPE_B:
        return 0x1p-7L;
    default:
        return 0;
    }
}

/* ---- memory that faults just outside ---- */

typedef struct {
    char *map, *data;
    size_t map_bytes;
} Guarded;

static Guarded guarded_new(size_t bytes, bool at_end)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), inner = (bytes + page - 1) / page * page;
    Guarded g = {.map_bytes = inner + 2 * page};
    g.map = mmap(NULL, g.map_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(g.map != MAP_FAILED);
    if (inner) assert_int_equal(mprotect(g.map + page, inner, PROT_READ | PROT_WRITE), 0);
    g.data = at_end ? g.map + page + inner - bytes : g.map + page;
    return g;
}

static void guarded_free(Guarded *g) { munmap(g->map, g->map_bytes); }

/* ---- flags of a row of host_kernels.def ---- */

enum {
    GB = 1,
    CONJ_A = 2,
    CONJ_B = 4,
    NO_BETA = 8,
    FLAT = 16,
    MULTI = 32,
    CHUNK_BLOCKS = 64,
    GROUP_RR = 128,
    NO_EDGES = 256,
    PERSISTENT = 512,
    ALONG_BATCH = 1024,
    STREAM_1 = 2048,
    STREAM_2 = 4096,
    STREAM_3 = 8192,
    JOIN = 16384, /* GlobalSplitUAlgorithm MultipleBufferSingleKernel */
    Z_ORDER = 32768,
    KEEP_B = 65536, /* HostKeepB 2 */
    STREAM_D = 131072,
    READ_AHEAD = 262144, /* HostReadAheadA 1 */
    STREAMS = STREAM_1 | STREAM_2 | STREAM_3,
    PARTS = STREAMS | JOIN,
    GROUPS = 4 /* of persistent and stream-K kernels */
};

#endif
