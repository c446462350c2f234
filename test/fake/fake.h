/* Fake GPU driver libraries for tests: what their files share.
 *
 * Built as libcuda.so.1 and libamdhip64.so*; they check every argument, run nothing and give memory of the
 * host. What a kernel would have done is played for GEMM kernels with Tensile's names and Source arguments
 * (fake_gemm.c). Settings in the environment, TUNER_FAKE="key=value;...":
 *   arch=sm_90 (gfx90a)  devices=1  memory=BYTES (1 GiB)  ns=10000 (of a launch, on the events' clock)
 *   twins=1 (all devices have one name)
 *   gone=N;gone_after=N;gone_file=PATH   device N is lost after so many launches of a process: that makes the
 * file, and while it is there the device gives errors only
 *   illegal= fail= hang= wrong=PATTERN   kernels whose name holds it: fault that stays, error at launch, no
 * end, a wrong element   slow=PATTERN (they take twice the time)   nostart=1 (init fails)
 *   log=PATH (every launch, fill and wrong call is appended)
 *
 * Like a driver, these can be called from several threads, as long as an object is used by one at a time.
 */
#ifndef TEST_FAKE_H
#define TEST_FAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    OK = 0,
    BAD_VALUE = 1,
    NO_MEMORY = 2,
    NOT_STARTED = 3,
    NO_DEVICE = 100,
    BAD_DEVICE = 101,
    BAD_IMAGE = 200,
    BAD_CONTEXT = 201,
    NO_BINARY = 209,
    BAD_HANDLE = 400,
    NOT_FOUND = 500,
    ILLEGAL = 700,
    LAUNCH_FAILED = 719,
    BAD_CAPTURE = 901,
    UNKNOWN = 999
};

/* Value of a setting, or NULL; lives until the next call of this thread. */
const char *fake_setting(const char *key);
int64_t fake_number(const char *key, int64_t otherwise);
/* Does the name hold the setting's pattern? */
bool fake_matches(const char *key, const char *name);
void fake_log(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Logs what was wrong with a call; returns code. */
int fake_wrong(int code, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

typedef enum { BUFFER, MODULE, FUNCTION, STREAM, EVENT, GRAPH, EXEC, N_KINDS } ObjectKind;

typedef struct Object Object;
struct Object {
    uint64_t magic;
    ObjectKind kind;
    _Atomic bool alive;
    Object *next;
    uint64_t size;      /* BUFFER: bytes */
    char *memory;       /* BUFFER; MODULE: its image */
    uint64_t time_ns;   /* EVENT */
    bool recorded;      /* EVENT */
    char name[256];     /* FUNCTION */
    uint32_t arg_bytes; /* FUNCTION: of the image, 0 unknown */
    uint32_t cluster;   /* FUNCTION: its work-groups of a cluster; 0: none */
    uint32_t maps_at;   /* FUNCTION: of the image, where its tensor maps begin; 0: it has none */
    uint32_t max_lds;   /* FUNCTION: dynamic bytes allowed */
    struct Call *call;  /* GRAPH, EXEC: recorded launches; STREAM: while capturing */
    size_t n_calls;
    bool capturing; /* STREAM */
};

typedef struct Call {
    Object *function;
    unsigned grid[3], group[3], lds;
    unsigned char args[1024];
    size_t n_args;
} Call;

/* All objects that were ever made: distinguishes stale handles from invalid ones. */
Object *object_new(ObjectKind kind);
/* NULL when it was freed or is of another kind. */
Object *object_get(const void *handle, ObjectKind kind);
/* Those of the library's own (name[0] set, not a FUNCTION) are not counted. */
size_t objects_alive(ObjectKind kind);
uint64_t objects_bytes(void); /* of live buffers */
/* The live buffer with these bytes. */
Object *buffer_at(uint64_t address, uint64_t bytes);

/* Plays a GEMM or beta-only kernel; false: not one of those. *fault: it touched what is no buffer. */
bool fake_gemm(const Call *call, bool *fault);

#endif
