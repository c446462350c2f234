/* Inside of libtuner's handle. For tuner*.c alone. */
#ifndef CLIENT_RUNTIME_TUNER_PRIV_H
#define CLIENT_RUNTIME_TUNER_PRIV_H

#include <pthread.h>
#include <stdatomic.h>

#include "client/runtime/gpu.h"
#include "client/runtime/host_pool.h"
#include "client/runtime/launch.h"
#include "client/runtime/tuner.h"

enum { KERNEL_PAGE = 1024, KERNEL_PAGES = 4096, HELPERS_MAX = 1024, MODULES_MAX = 65536, STREAMS_MAX = 64 };

/* Of the library's device. */
typedef union {
    HostKernel host;
    GpuKernel gpu;
} AnyKernel;

/* A kernel that was found in a code object; ready is set last. */
typedef struct {
    AnyKernel kernel;
    atomic_bool ready;
} KernelSlot;

typedef struct {
    char symbol[HELPER_SYMBOL_MAX];
    AnyKernel kernel;
} HelperKernel;

/* A file that is compiled into the program. */
typedef struct EmbeddedFile EmbeddedFile;
struct EmbeddedFile {
    const char *name, *key, *file;
    Str data;
    EmbeddedFile *next;
};

/* The code objects of the directory, opened when a kernel is looked for in them. */
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
    Profile *profile; /* calls with their counts, for layer 4 */
    size_t n_profile, cap_profile;
} CallLog;

struct tuner_library {
    Arena arena;    /* guarded by lock */
    unsigned forks; /* process_forks when it was opened */
    const char *dir, *path;
    Library *library;
    Hardware hw;
    bool can_run, deterministic;
    uint8_t experimental; /* METRIC_EXPERIMENTAL_*, or METRIC_AUTO: none */
    LaunchHardware launch_hw;
    HostPool *pool;
    Gpu *gpu; /* NULL: kernels run on the host */
    GpuInfo gpu_info;
    char device[24]; /* "cuda:0" */
    _Atomic(void *) stream;
    pthread_mutex_t gpu_lock; /* of calls that are more than one launch, and of the workspaces */
    StreamWorkspace workspace[STREAMS_MAX];
    size_t n_workspaces;
    uint64_t operation[32]; /* by transposes and conjugates: operation_index */
    pthread_mutex_t lock;
    CodeObject *code_object;
    size_t n_code_objects;
    _Atomic(KernelSlot *) page[KERNEL_PAGES]; /* by solution number */
    HelperKernel helper[HELPERS_MAX];
    _Atomic uint32_t n_helpers; /* entries below are complete and never change */
    CallLog log;
    const char *offer; /* guarded by lock: text of no_solution, */
    size_t offer_of;   /* made of so many solutions */
};

/* tuner_open.c: how often this process is a fork of the one that started: a library that was opened before
 * has its threads and locks in the other process. */
unsigned process_forks(void);
/* ERR_INPUT for NULL and in a process that was forked since it was opened; call names the function. */
Err library_usable(const tuner_library *t, const char *call);
/* Finds the file (see tuner.h) and reads it. */
Err library_locate(tuner_library *t, const char *path, const tuner_options *o);
/* tuner_embed.c: base is "embedded:NAME" or "embedded:NAME:KEY". */
bool is_embedded(const char *base);
/* All files of it, first with after NULL; NULL at the end. */
const EmbeddedFile *embedded_next(const char *base, const EmbeddedFile *after);
const EmbeddedFile *embedded_find(const char *base, const char *file);
Err embedded_read(const void *base, const char *file, Str *data); /* LibraryFiles.read */
/* tuner_kernel.c */
Err code_objects_list(tuner_library *t);
void code_objects_close(tuner_library *t);
/* Ends of the names of files with code for the library's device; NULL behind the last. */
const char *const *code_suffixes(const tuner_library *t);
Err kernel_of_solution(tuner_library *t, const LibSolution *s, const AnyKernel **out);
Err kernel_of_helper(tuner_library *t, const LibSolution *s, const char *symbol, const AnyKernel **out);
/* tuner_gpu.c: name is "cuda", "hip:1". The library's thread keeps its context. */
Err library_gpu_open(tuner_library *t, const char *name);
/* Device 0 of the kind, when it is there and of that architecture (NULL: any). */
bool library_gpu_try(tuner_library *t, const GpuKind *kind, const char *arch);
void library_gpu_close(tuner_library *t);
Err library_gpu_module(tuner_library *t, const char *path, Str data, GpuModule **out);
/* The launches of one GEMM, queued. */
Err gemm_on_gpu(tuner_library *t, const LaunchInputs *in, const Contraction *p, const LibSolution *s);
/* Arrays of pointers, copied to the host: host is g with them; free *block. */
Err gemm_pointers(tuner_library *t, const tuner_gemm_desc *g, int64_t batch, tuner_gemm_desc *host,
                  void **block);
/* tuner_gemm.c */
Err gemm_contraction(const tuner_library *t, const tuner_gemm_desc *g, Contraction *p);
/* rocBLAS's word for a type: "f32_r". */
const char *tuner_type_word(unsigned type);
/* TUNER_NO_SOLUTION, with what was asked for and what the library has. */
Err no_solution(tuner_library *t, const Contraction *p);
Err gemm_choose(tuner_library *t, const tuner_gemm_desc *g, const Contraction *p, Selection *out);
/* tuner_log.c */
Err log_open(CallLog *log);
void log_close(CallLog *log);
void log_call(CallLog *log, const tuner_gemm_desc *g);
/* A line on stderr, for libraries that ask for it. */
void log_launch(const tuner_library *t, const KernelCall *call);

#endif
