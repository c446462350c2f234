/* Private to tuner*.c: the structure behind the handle, and shared functions. */
#ifndef CLIENT_RUNTIME_TUNER_PRIV_H
#define CLIENT_RUNTIME_TUNER_PRIV_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/vec.h"
#include "client/runtime/gpu.h"
#include "client/runtime/host_pool.h"
#include "client/runtime/launch.h"
#include "client/runtime/tuner.h"
#include "problem/conv_desc.h"

enum {
    KERNEL_PAGE = 1024,
    KERNEL_PAGES = 4096,
    LOADED_HELPERS_MAX = 1024,
    MODULES_MAX = 65536,
    STREAMS_MAX = 64
};

/* A tuner_epilogue that was checked, as the launcher takes it. */
typedef struct {
    Fused op;
    const void *operand[FUSED_OPERANDS];
    int64_t bias_stride;
    double arg[2];
    _Alignas(8) unsigned char number[16]; /* the activation's numbers, in the compute type */
} Epilogue;

/* A kernel on the library's device. */
typedef union {
    HostKernel host;
    GpuKernel gpu;
} AnyKernel;

/* The kernel of a solution; ready is set after kernel. */
typedef struct {
    AnyKernel kernel;
    atomic_bool ready;
} KernelSlot;

/* A helper kernel that a launch has asked for. */
typedef struct {
    char symbol[HELPER_SYMBOL_MAX];
    AnyKernel kernel;
} LoadedHelper;

/* A file that is compiled into the program (tuner_embedded_add). */
typedef struct EmbeddedFile EmbeddedFile;
struct EmbeddedFile {
    const char *name, *key, *file;
    Str data;
    EmbeddedFile *next;
};

/* A code object of the directory; it is opened when a kernel is first searched in it. */
typedef struct {
    const char *file; /* name in the directory */
    const EmbeddedFile *embedded;
    HostModule *host;
    GpuModule *gpu;
    bool failed;
} CodeObject;

/* Device memory for the calls on one stream. */
typedef struct {
    void *stream;
    uint64_t address, bytes;
} StreamWorkspace;

typedef struct Profile Profile;

/* TUNER_LAYER, ROCBLAS_LAYER. */
typedef enum { LOG_TRACE, LOG_BENCH, LOG_PROFILE, LOG_LAYERS } LogLayer;
typedef struct {
    int layer; /* bits, by LogLayer */
    int fd[LOG_LAYERS];
    pthread_mutex_t lock;
    VEC(Profile) profile; /* calls with their counts, for layer 4 */
} CallLog;

struct tuner_library {
    Arena arena;    /* guarded by lock */
    unsigned forks; /* process_forks() when the library was opened */
    const char *dir, *path;
    Library *library;
    Hardware hw;
    bool can_run, deterministic;
    uint8_t experimental;              /* METRIC_EXPERIMENTAL_*, or METRIC_AUTO: none */
    unsigned fp16_alt, fp16_alt_fixed; /* bits that the environment sets, and those that it determines */
    LaunchHardware launch_hw;
    HostPool *pool;
    Gpu *gpu; /* NULL: kernels run on the host */
    GpuInfo gpu_info;
    char device[24]; /* "cuda:0" */
    _Atomic(void *) stream;
    _Atomic uint64_t mapping; /* words of tuner_set_mapping, the first one in the low half; 0: none */
    pthread_mutex_t gpu_lock; /* guards calls with more than one launch, and the workspaces */
    StreamWorkspace workspace[STREAMS_MAX];
    size_t n_workspaces;
    uint64_t operation[32]; /* by operation_index: transposes and conjugates */
    pthread_mutex_t lock;
    CodeObject *code_object;
    size_t n_code_objects;
    _Atomic(KernelSlot *) page[KERNEL_PAGES]; /* by solution number */
    LoadedHelper helper[LOADED_HELPERS_MAX];
    _Atomic uint32_t n_helpers; /* entries below this index are complete and never change */
    CallLog log;
    struct ConvCache *conv; /* guarded by lock; NULL: no convolution ran yet */
    const char *offer;      /* guarded by lock: list of kinds for no_solution */
    size_t offer_of;        /* number of solutions that were read when offer was made */
};

/* tuner_open.c: number of forks from the first process to this one. A library that was opened before a fork
 * has its threads in another process. */
unsigned process_forks(void);
/* ERR_INPUT if t is NULL or this process was forked since t was opened; call: the function, for the
 * message. */
Err library_usable(const tuner_library *t, const char *call);
/* The same, and ERR_INPUT if desc, the description of what is to be computed, is NULL. */
Err call_usable(const tuner_library *t, const void *desc, const char *call);
/* Finds the file (see tuner.h) and reads it. */
Err library_locate(tuner_library *t, const char *path, const tuner_options *o);
/* tuner_embed.c: base is "embedded:NAME" or "embedded:NAME:KEY". */
bool is_embedded(const char *base);
/* Iterates over its files: the first one with after NULL; NULL after the last one. */
const EmbeddedFile *embedded_next(const char *base, const EmbeddedFile *after);
const EmbeddedFile *embedded_find(const char *base, const char *file);
Err embedded_read(const void *base, const char *file, Str *data); /* LibraryFiles.read */
/* tuner_kernel.c */
Err code_objects_list(tuner_library *t);
void code_objects_close(tuner_library *t);
/* Suffixes of code objects for the library's device; NULL ends the list. */
const char *const *code_suffixes(const tuner_library *t);
/* The kernel that a call of the solution starts: its own or a helper's. */
Err kernel_of_call(tuner_library *t, const LibSolution *s, const KernelCall *call, const AnyKernel **out);
/* tuner_gpu.c: opens a device like "cuda" or "hip:1"; the calling thread's context does not change. */
Err library_gpu_open(tuner_library *t, const char *name);
/* Opens device 0 of the kind if it exists and has the architecture (NULL: any); false if not. */
bool library_gpu_try(tuner_library *t, const GpuKind *kind, const char *arch);
void library_gpu_close(tuner_library *t);
Err library_gpu_module(tuner_library *t, const char *path, Str data, GpuModule **out);
/* Queues the launches of one GEMM. */
Err gemm_on_gpu(tuner_library *t, const LaunchInputs *in, const Contraction *p, const LibSolution *s);
/* Copies arrays of pointers to the host; *host is g with the copies. The caller frees *block. */
Err gemm_pointers(tuner_library *t, const tuner_gemm_desc *g, int64_t batch, tuner_gemm_desc *host,
                  void **block);
/* tuner_gemm.c */
Err check_type(const char *what, tuner_type t);
/* A structure whose first member is its size. first: its size in the first release, known: today's. A program
 * that was compiled against a later header may call with members that this library does not have, as long as
 * they ask for nothing. ERR_INPUT with the name and the numbers. */
Err check_struct(const char *name, const void *s, size_t first, size_t known);
/* ERR_INPUT unless the value is 0 to max. */
Err check_member(const char *name, const char *member, int32_t value, int32_t max);
Err gemm_contraction(const tuner_library *t, const tuner_gemm_desc *g, const Epilogue *f, Contraction *p);
/* What is known of a scalar: SCALAR_ONE, .. */
uint8_t scalar_kind(tuner_type type, const void *value);
/* Bytes of workspace that a call may allocate; solutions that need more are not chosen. */
#define WORKSPACE_MAX (UINT64_C(1) << 32)
/* tuner_epilogue.c: e NULL: no operations. */
Err epilogue_of_call(const tuner_gemm_desc *g, const tuner_epilogue *e, Epilogue *out);
/* ERR_INPUT: an operation has no pointer. */
Err epilogue_pointers(const Epilogue *f);
/* Matrix i of a batch as a GEMM of its own. */
Epilogue epilogue_of_matrix(const Epilogue *f, int64_t i);
/* rocBLAS's name of a type: "f32_r". */
const char *tuner_type_word(unsigned type);
/* Returns TUNER_NO_SOLUTION with a message that has the problem and the kinds of problems that the library
 * can solve. */
Err no_solution(tuner_library *t, const Contraction *p, const Fused *op);
/* The same for a convolution in words. */
Err no_conv_solution(tuner_library *t, const char *conv);
/* ---- tuner_run.c: a problem with its operands ---- */

/* The solution; solution_index > 0: that one (index in the file + 1). A problem that may use xf32 takes
 * solutions that do not where there are none that do. */
Err call_choose(tuner_library *t, const Contraction *p, const Fused *op, int64_t solution_index,
                Selection *out);
/* Runs it (GPU: queues it); workspace and mapping of the operands are set here. */
Err call_run(tuner_library *t, const Contraction *p, const Selection *chosen, const LaunchInputs *operands);
Err call_describe(tuner_library *t, const Contraction *p, const Selection *chosen,
                  const LaunchInputs *operands, bool by_index, tuner_selection *out);
Err call_visit(tuner_library *t, const Contraction *p, const Selection *chosen, const LaunchInputs *operands,
               void (*visit)(void *ctx, const tuner_launch *launch), void *ctx);
/* tuner_log.c */
Err log_open(CallLog *log);
void log_close(CallLog *log);
void log_call(CallLog *log, const tuner_gemm_desc *g, const Epilogue *f);
/* A convolution; the profile has GEMMs alone. */
void log_conv(CallLog *log, const ConvDesc *c);
/* Prints a launch on stderr (createlib --library-print-debug). */
void log_launch(const tuner_library *t, const KernelCall *call);

#endif
