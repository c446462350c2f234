/* GPU kernels as text: one skeleton that writes HIP C++ (amdgcn) and CUDA C++ (nvptx) from a Solution.
 *
 * A GpuPlan holds all numbers of one kernel. The text is put together from a dialect (what the language and
 * the machine call things), a compute module (multiplies what is in local memory), a copy module (global
 * memory to local memory) and the skeleton (arguments, work-group mapping, the loop over K, edges, split
 * sums, the stores of D). Here: the plan and the contracts between the four. Not here: toolchains
 * (build/), what a solution's parameters mean (space/). Files of kernel/gpu, kernel/amdgcn and kernel/nvptx
 * use this header; kernel.c sees GpuDialect's two and gpu_lower and its sisters at the end.
 *
 * ---- the text of a kernel ----
 *
 * Order: GpuDialect.prelude, types (gpu_types), struct @Tile, GpuCompute.emit, GpuCopy.emit, the skeleton's
 * own device functions, the kernel. Every name but parameters and locals starts with '@', which becomes "g_";
 * all of it stands in a namespace named after the content's hash, and macros are undefined at its end, so
 * that texts can be concatenated.
 * No includes: amdgcn text compiles with -nogpulib -nogpuinc, nvptx text with NVRTC as with nvcc.
 * Every device function is @DEV (static, inlined), so that the compiler sees constants everywhere; loops over
 * register arrays carry @UNROLL and constant bounds.
 *
 * Names that the dialect's prelude defines:
 *   @DEV                     static inlined device function; @UNROLL, @NOUNROLL: pragmas in front of a loop
 *   @tid()                   flat thread number in the work-group; @group_x() _y() _z(): work-group number
 *   @grid_x()                number of work-groups along x
 *   @uniform(unsigned) @uniform64(unsigned long long): the same value, known to be equal in all threads of a
 *                            wave
 *   @barrier()               all threads of the work-group, local memory writes before it are seen behind it
 *   @fma(x, y, z)            float and double: products are summed in no smaller type
 *   @h2f(u16) @f2h(float)    binary16 bits; @b2f @f2b: bfloat16 bits; round to nearest even
 *   @f8_to_f(u8) @f_to_f8(float): F8's bits, in Target.f8's format; @b8_to_f @f_to_b8: B8's; in kernels that
 *                            have them
 *   @dot4(int, int, int)     four signed bytes each, added to the third
 *   @mad24(int, int, int)    product and sum of numbers of 24 bits or less
 *   @atomic_add(float *, float), (double *, double), (int *, int): relaxed, device scope, no result
 *   @cas32(unsigned *, unsigned, unsigned): compare and swap, the old value
 *   @pointer(V *const *, unsigned): pointer number z of a table, known to point to global memory
 *   @load_nt(const V *), @store_nt(V *, V): non-temporal access to a vector or scalar; with hint_levels
 *                            @load_nt<h> and @store_nt<h>, for the values h of NonTemporal that it has
 *   @keep_order()            compilers move nothing over it (GpuDialect.steps_per_fence)
 *
 * Types made by gpu_types, with GpuDialect.vector (elements by x[i]; aligned to their size):
 *   @T     element of A and B in local memory (of the same size in memory). Complex: struct {@P re, im;};
 *          otherwise @P.
 *   @P     part: float, double, _Float16 or unsigned short, signed or unsigned char, int
 *   @TC @PC   accumulator element and its part; @TD @PD: element of C and D (or of the workspace)
 *   @TS    alpha and beta as passed; @VP<n>: n parts of @T; @VD<n>: n parts of @TD; @VC<n>: n parts of @TC
 *   @to_c(@TD) -> @TC, @from_c(@TC) -> @TD, @from_s(@TS) -> @TC, @to_s(@TC) -> @TS: conversions;
 *   @to_bf16(u16): half's bits to bf16's, @to_bf16x2(int): two of them in a register (only with to_bf16);
 *   @zero() @is_zero(x) @add(x, y) @mul(x, y) @madd(x, y, z) of @TC
 *
 * struct @Tile: what is equal for all threads of a work-group (filled by the skeleton):
 *   const char *a, *b;          first element of this batch's A and B
 *   unsigned long long lda, ldb;   elements between columns of memory (stride of index 1)
 *   unsigned m, n, k;           sizes
 *   unsigned m0, n0;            first row and column of the macro tile
 *   int slow;                   1: only copy_tail may touch A and B (below)
 *
 * ---- compute module: emits ----
 *
 *   struct @Acc; struct @Frag;
 *   @DEV void @acc_zero(@Acc &);
 *   @DEV void @frag_load(@Frag &, const char *lds_a, const char *lds_b, unsigned tid, int step);
 *   @DEV void @frag_mac(@Acc &, const @Frag &);
 *       One stage of local memory (DepthU elements of K) is done in GpuPlan.steps steps; a step loads this
 *       thread's fragments from local memory and multiplies them. With local split U, steps are those of the
 *       thread's own part (gpu.lsu_of_thread). step is a constant in unrolled loops, a variable in the tail.
 *       The skeleton orders loads, macs and barriers (PrefetchLocalRead: loads run ahead of macs, over the
 *       end of a stage too).
 *   @DEV @TC @acc_get(const @Acc &, int i);  @DEV void @acc_set(@Acc &, int i, @TC);
 *   @DEV unsigned @acc_row(unsigned tid, int i);  @DEV unsigned @acc_col(unsigned tid, int i);
 *       Accumulator i of GpuPlan.n_acc: its place in the macro tile. GpuPlan.acc_run consecutive ones
 *       (i % acc_run == 0 begins a run) are consecutive rows of one column.
 *
 * ---- copy module: emits ----
 *
 *   struct @Copy;
 *   @DEV void @copy_init(@Copy &, const @Tile &, unsigned tid);     at K element 0
 *   @DEV void @copy_move(@Copy &, const @Tile &, long long a, long long b);  bytes along K; equal in all
 *   threads
 *   @DEV void @copy_load(@Copy &, int set, char *stage);   starts the loads of DepthU elements of K: into
 *                                                          register set `set`, or (to_local) into stage
 *   @DEV void @copy_store(@Copy &, int set, char *stage);  registers to stage (to_local: nothing)
 *   @DEV void @copy_shift(@Copy &);   the second register set becomes the first (only if n_sets is 2)
 *   Operands with in_registers: copy_load has a fourth argument, how many chunks ahead of the current one the
 *   loaded one is; and there are
 *   @DEV void @copy_turn(@Copy &);    the chunk behind the current one becomes it (only if prefetch is not 0)
 *   @DEV void @frag_take(@Frag &, const @Copy &, int step);   fragments of a step of the current chunk
 *   @DEV void @frag_rest(@Frag &, const @Tile &, unsigned tid, unsigned k0, int step);  those of the chunk
 *                                     from K element k0 on, as copy_tail
 *   @DEV void @copy_wait(int n);  template or macro, constant n: all but the newest n copy_loads of this
 *                                 thread into local memory have arrived (n is 0 where one operand alone goes
 *                                 there)
 *   @DEV void @copy_tail(const @Tile &, unsigned tid, char *stage, unsigned k0);   K elements
 *       k0 .. k0 + DepthU - 1 into stage, zero from t.k on; any size, any alignment, any stride; used for the
 *       rest of K and, when t.slow, for all of it. It may be slow; it reads nothing outside the operands.
 *   @DEV int @copy_slow(const @Tile &);   1: the fast functions cannot do this problem (alignment, offsets of
 *                                         more than 32 bits, sides shorter than a vector)
 * Only whole chunks of K go through copy_load, so that it has no guard on K. Rows and columns behind M and N
 * may get any value, but nothing outside the operand may be read. Where a vector along the free dimension
 * straddles the edge, it is read from the edge back (EdgeType ShiftPtr) and GpuOperand.shift says so: the
 * row of D that tile position r holds is then gpu_edge_row's (text: @edge_row, @edge_col).
 *
 * ---- parameters ----
 *
 * Which parameters are honoured, have no effect or are rejected is in space/effect.def. Honoured in part:
 * LdsPad (amdgcn's matrix and dot modules choose pads by bank conflicts, amdgcn_valu_pads where they go),
 * VectorWidth (not in the matrix module), PreloadKernelArguments (order of arguments), KernelLanguage
 * (form of arguments), the Assert parameters (drop the shift of vectors that cannot straddle an edge;
 * otherwise predicates of the library). gpu_plan refuses, of the problem type: unknown first strides, zero
 * padding, mirrored dimensions, stochastic rounding; 8-bit floats where Target.f8 is none.
 *
 * ---- launch ----
 *
 * Arguments are those of client/runtime/launch.c, in the Source or Assembly form (GpuPlan.args, in order,
 * natural alignment; complex float aligned 4, complex double 8). Block (n_threads, 1, 1); helper kernels 256.
 * Local memory: one static block up to GpuDialect.static_lds bytes; more is dynamic and announced by
 *     extern "C" __device__ const unsigned SYMBOL_dynamic_lds = bytes;
 */
#ifndef KERNEL_GPU_GPU_H
#define KERNEL_GPU_GPU_H

#include "index/layout.h"
#include "kernel/epilogue.h"
#include "kernel/lower/stmt.h"
#include "kernel/program.h"
#include "problem/problem.h"
#include "problem/target.h"

typedef struct GpuDialect GpuDialect;

/* An element type. Complex numbers are pairs of parts. */
typedef struct {
    DataType type;
    const char *part; /* C type of a part in memory */
    int part_bytes, parts;
} GpuType;
static inline int gpu_type_bytes(const GpuType *t) { return t->part_bytes * t->parts; }
static inline bool gpu_is_f8(DataType t) { return t >= TYPE_F8 && t <= TYPE_B8F8; }
/* Text in front of a bracketed element that makes a float of it; "" when it is a number as it is. */
const char *gpu_widen(DataType type);
/* The other way. */
const char *gpu_narrow(DataType type);

/* A (0) or B (1). Its free dimension is M or N; "line" is a run of elements contiguous in local memory. */
typedef struct {
    GpuType type;
    char name; /* 'a' 'b' */
    bool tlu;  /* the free dimension is contiguous in global memory, else K is */
    bool conj;
    int tile;     /* macro tile side */
    int width;    /* elements per global load (GlobalLoadVectorWidth) */
    int nlc, nlp; /* loads per thread along and across the contiguous dimension */
    int lsc, lsp; /* elements that one load of all threads covers, along and across */
    int lvc;      /* threads along: lsc / width */
    int n_waves;  /* WaveSeparateGlobalRead: groups of threads that load a part of the lines each; else 1 */
    int groups;   /* ThreadSeparateGlobalRead: groups of a wave's lanes that share every line; else 1 */
    bool grouped; /* neighbouring threads load along a line first (GlobalReadCoalesceGroup) */
    bool fractional;    /* FractionalLoad: some loads of some threads lie outside the tile */
    int parts;          /* lanes that share an element: loads have less than one (DirectToLds); else 1 */
    bool to_local;      /* loads write local memory themselves: DirectToLds, asynchronous copies of a ring */
    bool in_registers;  /* loads fill the fragments of a whole chunk without local memory: DirectToVgpr */
    int lanes, run;     /* of amdgcn_buffer: lanes side by side along, neighbours across that a thread has */
    bool k_major;       /* local memory: K is contiguous in a line, else the free dimension is */
    int pad, pad_block; /* LdsPad, LdsBlockSizePerPad in elements; 0: padding behind each line */
    Layout layout;      /* line 0: not chosen yet */
    int lds_offset;     /* bytes from the start of a stage */
    int lds_bytes;
    int shift; /* > 1: the elements of vectors that are shifted back at the edge */
    int hint;  /* NonTemporal bits */
} GpuOperand;

/* Memory for the statements of a kernel at most. */
enum { GPU_STMTS_BYTES = 256 << 20 };

/* An argument of the kernel, in order. */
typedef struct {
    const char *type; /* C type, '@' names allowed */
    const char *name;
    int bytes, align, offset;
} GpuArg;
enum { GPU_ARGS_MAX = 192 };

typedef struct GpuCompute {
    const char *name;
    bool in_elements; /* Layout.in_elements of both operands */
    /* Sets steps, k_step, n_acc, acc_run; may change the local memory layout of both operands (k_major, pad),
     * before offsets are laid out. ERR_INPUT: what it cannot do. */
    Err (*plan)(GpuPlan *p);
    /* Sets n_acc and acc_run from the program's maps. ERR_INPUT: they are none of its kernels. */
    Err (*shape)(GpuPlan *p);
    void (*emit)(const GpuPlan *p, Buf *out);
    /* Does the text have @acc_pin(@Acc &), which keeps the sums in accumulation registers between stages?
     * NULL: no kernel of this module has it. */
    bool (*pins)(const GpuPlan *p);
} GpuCompute;

typedef struct GpuCopy {
    const char *name;
    bool async;        /* copy_load always writes local memory itself */
    bool direct;       /* it can, for operands with to_local */
    bool to_registers; /* it has operands with in_registers, of matrix instructions */
    bool in_runs; /* GpuOperand.lanes and run are its own, else copy_load deals loads as copy_tail does */
    /* May set n_stages, n_sets, shift; after compute's plan, before offsets. */
    Err (*plan)(GpuPlan *p);
    /* Of a program that was read: local memory has room for the copies. NULL: there are no further rules. */
    Err (*check)(const GpuPlan *p);
    void (*emit)(const GpuPlan *p, Buf *out);
} GpuCopy;

/* What a family calls things: amdgcn/dialect.c, nvptx/dialect.c. */
struct GpuDialect {
    const char *language; /* "HIP C++" */
    const StmtWords *words;
    int static_lds;     /* bytes of local memory that a kernel may declare statically */
    bool dynamic_lds;   /* more is asked for at the launch */
    bool aligned_loads; /* vectors in global memory must be aligned to their size */
    /* @keep_order() follows every N k-steps, so that not all fragment loads are hoisted; 0: never. */
    int steps_per_fence;
    bool separates_threads; /* ThreadSeparateGlobalRead divides the lanes of a wave */
    bool divides_chunks;    /* DepthULdsDivisor divides a chunk of K; elsewhere it has no meaning */
    bool hint_levels;       /* NonTemporal's values have different effects */
    /* Text in front of "x)": the bits of unsigned x as a float, and of float x as unsigned. */
    const char *as_float, *as_bits;
    const char *exp[2]; /* e^x of a float and of a double */
    const char
        *fast_tanh; /* embedded text of @tanh and @sigmoid for results of 11 bits or less; NULL: none */
    const char *e4m3_to_f; /* embedded text of OCP's @f8_to_f(unsigned char x); NULL: it is computed */
    const char *parts;     /* embedded text of what parts.c calls: @count_in @flag @release @acquire */
    const char *dependent; /* embedded text of wait_for_previous(), which helper kernels call; NULL: none */
    int parts_ahead;       /* parts of K that the helper kernel which adds them up loads at once; 0: one */
    /* The names listed above. */
    void (*prelude)(const GpuPlan *p, Buf *out);
    /* Type of a vector of n parts, aligned to its size (n a power of 2), elements by x[i]; and NAMEu, the
     * same in global memory: aligned to a part unless aligned_loads. n is 1, 2, 3, 4, 6, 8 or 16. */
    void (*vector)(const char *name, const char *part, int part_bytes, int n, Buf *out);
    /* `extern "C" ... void SYMBOL(` with the launch bounds; threads: of a work-group. */
    void (*kernel_head)(const GpuPlan *p, Str symbol, int threads, Buf *out);
    /* Declares `char *lds`, 16-byte aligned, p->lds_bytes of it; body_line: inside the kernel. file_line
     * stands in front of it (dynamic local memory's announcement); either may print nothing. */
    void (*lds_file)(const GpuPlan *p, Str symbol, Buf *out);
    void (*lds_body)(const GpuPlan *p, Buf *out);
    /* Emits @finish (gpu_store) its own way; false: it emitted nothing, pointers do. NULL: they always do. */
    bool (*finish)(const GpuPlan *p, Buf *out);
    /* May move pads of local memory, before offsets are laid out. NULL: never. */
    void (*pads)(GpuPlan *p);
    /* The modules for a plan whose numbers are filled in. ERR_INPUT: why there are none. */
    Err (*choose)(GpuPlan *p, const GpuCompute **compute, const GpuCopy **copy);
};
extern const GpuDialect dialect_amdgcn, dialect_nvptx;

/* Tensile's MatrixInstruction, MIWaveTile and MIWaveGroup. */
typedef struct {
    bool used;
    int m, n, k, b;         /* of the instruction: sides and blocks */
    int blocks[2];          /* of one instruction along M and N */
    int tiles[2], waves[2]; /* instructions of a wave, waves of a work-group, along M and N */
    bool swap;              /* B is the instruction's first operand (SourceSwap) */
    int vec[2];             /* tiles that are interleaved along M and N: neighbours of one lane */
    int vk;                 /* elements of K of a lane in a step */
} GpuMatrix;

/* Kernels of nvptx with a ring of asynchronous copies (NvRing). */
typedef struct {
    bool used;
    int blocks;         /* work-groups on a processor, for the launch bounds */
    int lanes_m;        /* lanes of a warp along M, of FMA kernels */
    int read_ahead;     /* steps by which fragments are read ahead (PrefetchLocalRead) */
    bool shifts;        /* 32-bit rows of any alignment are copied from a 16-byte boundary (NvShift) */
    bool shift_ptr;     /* tiles that overhang D are shifted back inside (EdgeType ShiftPtr) */
    int rounds_xf32;    /* how f32 becomes tf32 (NvRoundXF32) */
    bool k_major[2];    /* A, B may keep K contiguous in shared memory */
    bool k_vectors;     /* FMA kernels read vectors along K */
    bool via_registers; /* 16-bit operands are copied through registers (GlobalReadVectorWidth 1) */
    bool gathered_via_registers[2]; /* the same of A and B of contractions */
    bool pad_bits;                  /* contractions: a bit says whether an element is outside of a zero pad */
    int lds_bytes, stage_bytes;
    int window_bytes; /* pixels and filters stay in so much shared memory (KeepWindow); 0: a ring of stages */
    bool dependent_launch; /* of those: begins before the launch in front of it has ended */
    int window_piece;      /* elements of the filter that are copied at once */
} GpuRing;

/* Kernels of nvptx whose warp groups have a role each: one starts copies by the copy engine, the others
 * multiply by wgmma (space/wgmma.h). The instruction is GpuPlan.matrix, with swap its 64 rows lie along N. */
typedef struct {
    bool used;
    int stages;         /* of the ring */
    int consumers;      /* warp groups that multiply */
    bool promotes;      /* a stage's products have sums of their own, which are then added to those of all */
    int promotion_sets; /* sets of registers for them: with 2, wgmma and these additions overlap */
    bool rows_from_registers; /* the operand along the instruction's rows goes through registers */
    bool pingpong;   /* ping-pong schedule: each consumer warp group has a tile; else all share one */
    int lag;         /* last stages of a tile that the second consumer multiplies behind the first one's */
    int window_taps; /* taps along W in a stage, which share its pixels (problem/window.h); 1: one tap */
    bool per_tap;    /* D has the taps: those of a stage are rows of a tile */
    int producer_registers, consumer_registers; /* of a thread; 0: as compiled */
    int cluster[2];                             /* work-groups along M and N that copy for one another */
    bool engine_store;                          /* the copy engine stores D and reads C */
    int slice_row, slice_n; /* results leave in slices: rows along M of a block of one, columns */
    bool dependent_launch;  /* begins before the launch in front of it has ended */
    bool self_reset;        /* parts of K: the kernel makes its counters valid, and resets them */
    int line_pixels; /* outputs whose lines of pixels threads make at once (problem/lines.h); 0: none */
    bool mends; /* A is a copy with zeros in blocks: sums that are NaN are made again (nvptx/hopper_mend.c) */
} GpuWarpGroups;

struct GpuPlan {
    bool main; /* not a helper kernel */
    const Target *target;
    const GpuDialect *dialect;
    const GpuCompute *compute;
    const GpuCopy *copy;
    GpuType in, acc;     /* local memory; accumulators */
    bool to_bf16;        /* Fp16AltImpl: A and B are half in memory, bf16 in local memory; types.c */
    bool to_bf16_rounds; /* Fp16AltImplRound: that conversion is to the nearest */
    GpuType dest;        /* C and D of the problem */
    GpuType out;         /* what this kernel writes: dest, or the workspace's type */
    GpuType scalar;      /* alpha and beta as passed */
    GpuOperand op[2];
    const Indices *indices; /* of a contraction (kernel/contract.h); NULL: a GEMM */
    const View *view[4];    /* of A, B, C, D: of the program's tiles, behind gpu_maps_read */
    bool assembly;          /* argument order of assembly kernels */
    bool batched, strided, use_beta, workspace;
    Fused fused;           /* of the problem type, and of the epilogue's ops */
    bool partial_sums;     /* D is written by the last one of a tile's parts; their sums are in a workspace */
    bool adds_shares;      /* shares of tiles (stream-K), or tiles (AtomicAddC), are added to D atomically */
    int n_threads, wave;   /* of a work-group; lanes of a wave */
    int mt[2], depth_u;    /* elements of K in local memory: a chunk of the walk, or a part of one */
    int sg[2], tt[2], lsu; /* threads and elements per thread along M and N; local split U */
    int vw;                /* VectorWidth */
    int steps, k_step;     /* of a stage, per thread; elements of K of one step */
    int n_acc, acc_run;
    int store_width;    /* elements of a store of D */
    int n_stages;       /* copies of A's and B's tile in local memory */
    int n_sets;         /* register sets of the copy module */
    bool sketch;        /* no text is made of it: pads of local memory are not chosen */
    int prefetch;       /* chunks loaded ahead: PrefetchGlobalRead */
    int prefetch_local; /* 1: fragments are loaded one step ahead */
    int stage_bytes, lds_bytes;
    int gsu;
    bool gsu_multiple;
    Walk walk;
    GpuMatrix matrix;
    GpuRing ring;
    GpuWarpGroups groups;
    DataType math;      /* of products: the type of A and B, or TYPE_X for f32 in reduced precision */
    bool f8_clips;      /* conversions to 8-bit floats saturate (Fp32toFp8SWClip) */
    int hint_c, hint_d; /* NonTemporal bits of C and D */
    int batch_store;    /* elements of D between fences of memory order (NumElementsPerBatchStore); 0: none */
    bool buffer_load, buffer_store;
    bool preloads_args; /* order of arguments that are preloaded into registers */
    bool one_loop;      /* the last iterations of the main loop skip their loads (SuppressNoLoadLoop) */
    int lds_reserve;    /* bytes of local memory at least (MaxOccupancy) */
    bool direct;        /* threads load A and B into registers without local memory: kernel/gpu/direct.c */
    const Tile *tile;   /* of the program */
    const Op *epilogue; /* the program's ops behind the loops, behind gpu_epilogue_read */
    GpuArg arg[GPU_ARGS_MAX];
    int n_args, arg_bytes;
};

enum { GPU_SETS_MAX = 64 }; /* register sets of loads */

/* Parts in which a chunk of K is written to local memory, one behind another (DepthULdsDivisor); depth_u is
 * the depth of one part, and each has a register set of its own. */
static inline int gpu_chunk_parts(const GpuPlan *p)
{
    return p->walk.depth_u > p->depth_u && p->depth_u > 0 ? p->walk.depth_u / p->depth_u : 1;
}

static inline bool gpu_compute_pins(const GpuPlan *p)
{
    return p->compute && p->compute->pins && p->compute->pins(p);
}

/* Has the plan's walk a next tile, and its kernel loads that may be issued before that tile's turn? */
bool gpu_can_prefetch(const GpuPlan *p);
GpuType gpu_type(DataType type);

/* An empty plan of a target. */
void gpu_plan_init(GpuPlan *p, const Target *t);
/* Modules and arguments of a plan whose numbers are all known. ERR_INPUT: there is no such module. */
Err gpu_plan_modules(GpuPlan *p);
/* The last step of a plan: modules, layouts, arguments. ERR_INPUT says what cannot be done. */
Err gpu_plan_finish(GpuPlan *p);
/* The fields that do not come from a solution: for helper kernels. In kernel/plan_gpu.c. */
Err gpu_plan_types(GpuPlan *p, const ProblemType *pt, const Target *t);
/* Fills arg, n_args, arg_bytes; part of gpu_plan. */
Err gpu_args(GpuPlan *p);
/* Adds the arguments of fused operations, which are the last ones (problem/fused.h). */
Err gpu_fused_args(GpuPlan *p);

/* ---- tiles in local memory ---- */

/* Lines of an operand's tile in local memory, and elements of each. */
static inline int gpu_lines(const GpuPlan *p, const GpuOperand *x)
{
    return x->k_major ? x->tile : p->depth_u;
}
static inline int gpu_line_length(const GpuPlan *p, const GpuOperand *x)
{
    return x->k_major ? p->depth_u : x->tile;
}

/* ---- index expressions: index.c ---- */

/* Slots of the variables. */
typedef enum {
    GPU_TID,
    GPU_STEP, /* of a stage: @frag_load's argument */
    GPU_I,    /* counters of the text's loops */
    GPU_E,
    GPU_Q,
    GPU_NUMBER, /* of an accumulator */
    GPU_PART,   /* of a chunk of K */
    GPU_SLOTS
} GpuSlot;

/* Expressions, evaluated, not printed, on the stack. One that needs more nodes fails (pool.failed). */
enum { GPU_INDEX_NODES = 2048 };
typedef struct {
    ExprPool pool;
    Expr node[GPU_INDEX_NODES];
} GpuIndex;
void gpu_index_init(GpuIndex *x);

/* Elements from a tensor's first one (0 A, 1 B, 2 C, 3 D) to (row, column), by the program's view. ld: its
 * leading dimension. */
const Expr *gpu_address(ExprPool *pool, const GpuPlan *p, int tensor, const Expr *row, const Expr *col,
                        const Expr *ld);
/* Are neighbours along the tensor's rows neighbours in memory? */
bool gpu_contiguous_rows(const GpuPlan *p, int tensor);
/* Are they in both C and D? Results are stored in vectors only then. */
bool gpu_contiguous_results(const GpuPlan *p);
/* The address in A or B: along M or N, and along K. */
const Expr *gpu_operand_address(ExprPool *pool, const GpuPlan *p, const GpuOperand *x, const Expr *free,
                                const Expr *k, const Expr *ld);

/* Thread of the work-group; a counter below n. */
const Expr *gpu_tid(ExprPool *pool, const GpuPlan *p);
const Expr *gpu_counter(ExprPool *pool, const char *name, GpuSlot slot, int n);
/* LocalSplitU: the part of K that the thread takes. */
const Expr *gpu_part_of_k(ExprPool *pool, const GpuPlan *p);
/* Row (i 0) or column of the tile: element e of the piece of VectorWidth elements of a thread of gpu_valu. */
const Expr *gpu_thread_free(ExprPool *pool, const GpuPlan *p, int i, const Expr *piece, const Expr *e);

/* A place in an operand's tile, along and across the dimension that is contiguous in global memory. */
typedef struct {
    const Expr *along, *across;
} GpuPlace;
/* ThreadSeparateGlobalRead: the place in a wave's order of loads that a thread takes. Each group of lanes has
 * its share of every line, as in the reference. */
const Expr *gpu_load_thread(ExprPool *pool, const GpuPlan *p, const GpuOperand *x);
/* The thread's first element in gpu_copy_register's first load; FractionalLoad: outside of the tile where the
 * thread has none. */
GpuPlace gpu_load_place(ExprPool *pool, const GpuPlan *p, const GpuOperand *x);

/* Byte offset of an element in the operand's part of a stage. */
const Expr *gpu_lds_at(ExprPool *pool, const GpuOperand *x, const Expr *k, const Expr *free);
const Expr *gpu_lds_place(ExprPool *pool, const GpuOperand *x, GpuPlace at);

/* An access of the threads to an operand's tile in local memory: the element that each begins with. */
typedef struct {
    const Expr *k, *free; /* of GPU_TID */
    int bytes;            /* that a thread accesses */
    int n_threads;        /* threads from 0 on that access it, in waves */
    bool is_mfma_read;    /* on a processor with MFMA: amdgcn/layout.c */
} GpuAccess;
/* Access number i (0 ..) of a kind; false behind the last. */
typedef bool (*GpuAccesses)(const GpuPlan *p, const GpuOperand *x, int i, ExprPool *pool, GpuAccess *a);
/* The reads of a step of gpu_valu, the writes of a load of gpu_copy_register. */
bool gpu_valu_reads(const GpuPlan *p, const GpuOperand *x, int i, ExprPool *pool, GpuAccess *a);
bool gpu_register_writes(const GpuPlan *p, const GpuOperand *x, int i, ExprPool *pool, GpuAccess *a);

/* ---- pieces of the text ---- */

/* Prints the statements of a piece and frees them; when memory was missing, the Buf fails. */
void gpu_put(const GpuPlan *p, Stmts *s, Buf *out);
/* Variables of the text: a size or a count, below 2^31; a leading dimension, which is 64 bits wide. */
const Expr *gpu_size(Stmts *s, const char *name);
const Expr *gpu_stride(Stmts *s, const char *name);
/* Members of `@Tile t` for operand A (i 0) or B: M or N, the tile's first row or column, the leading
 * dimension, the address. */
const Expr *gpu_side(Stmts *s, int i);
const Expr *gpu_origin(Stmts *s, int i);
const Expr *gpu_leading(Stmts *s, int i);
const Value *gpu_operand_start(Stmts *s, int i);
static inline int gpu_operand_index(const GpuOperand *x) { return x->name == 'b'; }
/* The row of A or column of B that position `at` of the tile may read. */
const Value *gpu_near(Stmts *s, int i, const Value *tile, const Expr *at);
/* Whether there are whole chunks of K: 0 < whole. */
const Expr *gpu_any_whole(Stmts *s);
/* The bits of x as a float; of the float x as unsigned. */
const Value *gpu_as_float(const GpuDialect *d, Stmts *s, const Value *x);
const Value *gpu_as_bits(const GpuDialect *d, Stmts *s, const Value *x);
/* A comment between two empty lines, which heads a part of the text. */
void gpu_heading(Stmts *s, const char *text);

void gpu_types(const GpuPlan *p, Buf *out);
/* For preludes: conversions of 8-bit floats, where a kernel has any. */
void gpu_small_floats(const GpuPlan *p, Buf *out);
/* struct @Tile, @near_row, @near_col (a row or column of A or B that tile position r may read), @edge_row,
 * @edge_col (row or column of D that position r holds; ~0u: none). */
void gpu_tile(const GpuPlan *p, Buf *out);
/* Statements of @copy_slow: `slow` is set where an operand's side is shorter than a vector, or, on machines
 * that mind, where its vectors are misaligned. */
void gpu_slow_vectors(const GpuPlan *p, Stmts *s, const GpuOperand *x);
/* struct @Acc, @acc_zero, @acc_get and @acc_set: sums as an array of numbers. */
void gpu_sums(const GpuPlan *p, Stmts *s);
/* Kernels without local memory: loads, products, and the loop over K of the program. */
void gpu_direct(const GpuPlan *p, Buf *out);
Err gpu_direct_loop(const GpuPlan *p, const Program *program, Stmts *s);
/* Of a walk that prefetches: declares the loop's counter and first chunk; loads that chunk where `where` is
 * true. gpu_direct_loop then leaves it out. */
void gpu_direct_first(const GpuPlan *p, const Program *program, Stmts *s, const Value *where);
/* @copy_tail as the register module writes it, for other copy modules. */
void gpu_copy_tail(const GpuPlan *p, Buf *out);
/* The steps of a stage, the loop over K, the stores of D, the kernel. */
void gpu_stage(const GpuPlan *p, Stmts *s);
Err gpu_loop(const GpuPlan *p, const Program *program, Stmts *s);
/* Of a walk that prefetches: the loop's counters and, where `where` is true, the loads in front of it, which
 * gpu_loop then leaves out. */
Err gpu_loop_first(const GpuPlan *p, const Program *program, Stmts *s, const Value *where);
void gpu_store(const GpuPlan *p, Buf *out);
/* ---- the epilogue: epilogue.c ---- */

/* The epilogue of the planner's numbers. */
Epilogue gpu_epilogue(const GpuPlan *p);
/* Makes the plan's numbers those of the program's ops behind its loops. ERR_INPUT: "NAME:LINE: what". */
Err gpu_epilogue_read(Program *p, const char *name);
/* What belongs to an element: the elements of fused operations' vectors for its row (@OfRow) and its column
 * (@OfCol), and the element of C, as it is in memory (NULL where beta is 0). */
typedef struct {
    const Value *of_row, *of_col, *c;
} GpuPoint;
/* What an op of the epilogue makes of an element x of the sums. Scalars and numbers are in an @Ops o. */
const Value *gpu_element_op(const GpuPlan *p, Stmts *s, const Op *o, const GpuPoint *at, const Value *x);
/* Prints what the ops take and do:
 *     @Ops                  alpha, beta, numbers, pointers of vectors, sizes of vectors
 *     @OfRow @OfCol         elements of the vectors along M, along N; empty structs where there are none
 *     @rows_whole<N>(o, at, n)      n elements exist from `at` on, and N may be loaded at once
 *     @rows<N>(o, at, whole, to)    loads N elements from `at` on of each vector along M. whole: at once;
 *                                   otherwise singly, the last one again in place of those past the end
 *     @cols_whole<N> @cols<N>       the same along N
 *     @load_numbers(o)      loads single numbers; @find_bias(o, z): moves the bias to that of matrix z
 *     @scaled(o, x)         alpha * x: the op that may come before sums pass through local memory
 *     @combined(o, x, c, with_c, of_row, of_col)   what all other ops but those that convert and store make
 *                           of a scaled sum; @before_relu(..), if gpu_relu_of_pairs(): without the ReLU */
void gpu_ops(const GpuPlan *p, Stmts *s);
bool gpu_relu_of_pairs(const GpuPlan *p); /* a last ReLU is done behind the rounding, on two results */
/* Are there vectors along M or N? */
bool gpu_has_vectors(const GpuPlan *p, Along along);
/* Sets the fields of an @Ops from the kernel's arguments; and loads numbers, finds the bias of matrix wg2. */
void gpu_set_ops(const GpuPlan *p, Stmts *s, const char *o);
void gpu_load_ops(const GpuPlan *p, Stmts *s, const char *o);
/* C is read, and alpha applied, by this kernel (else by a helper kernel). */
bool gpu_reads_c(const GpuPlan *p);
bool gpu_scales(const GpuPlan *p);
/* D is added to, in atomic operations. */
bool gpu_adds(const GpuPlan *p);
/* D is stored element by element: wgmma kernels without the copy engine's stores and without ClusterK. */
bool gpu_stores_elements(const GpuPlan *p);
bool gpu_slices_results(const GpuPlan *p); /* results pass through local memory in D's type */
/* The sums of a tile's parts in a workspace (GpuPlan.partial_sums): @join; whether this work-group is to
 * store the tile's results. */
void gpu_parts(const GpuPlan *p, Stmts *s);
const Value *gpu_joined(const GpuPlan *p, Stmts *s, const Value *lds);
/* Accumulators that a thread stores when the parts of a local split have been added up: its part's share of
 * them, or all in part 0 when they cannot be shared out in whole vectors. */
int gpu_share(const GpuPlan *p);
Err gpu_kernel(const GpuPlan *p, const Program *program, Str symbol, Buf *out);
/* Parts of the kernel: all up to its opening brace; the base of one tensor ('a' to 'd') in this batch. */
void gpu_signature(const GpuPlan *p, Str symbol, Buf *out);
/* Of a walk that prefetches: keeps what results need of this tile's parts; moves on to the next tile. */
void gpu_next_tile(const GpuPlan *p, Stmts *s);
void gpu_tensor(const GpuPlan *p, char n, bool strided, Buf *out);
const Value *gpu_tensor_value(const GpuPlan *p, Stmts *s, char n, bool strided);
/* Elements in front of this part's sums in the workspace (GlobalSplitU with several buffers). */
const Value *gpu_workspace_part(const GpuPlan *p, Stmts *s);
/* Header with title and content hash, then body in its namespace with '@' replaced. */
Err gpu_finish(const GpuPlan *p, Str title, Str body, Buf *out);
/* The same with the title of a program's kernel. */
Err gpu_finish_program(const Program *program, Str symbol, Str body, Buf *out);

/* ---- modules and entry points ---- */

extern const GpuCompute gpu_valu; /* any type, any target */
/* For modules whose threads hold ThreadTile0 x ThreadTile1 elements of D as gpu_valu's do: ERR_INPUT when
 * these do not make up the macro tile; @acc_row and @acc_col. */
Err gpu_check_thread_tile(const GpuPlan *p);
/* The GpuCompute.shape of these modules, which checks the same. */
Err gpu_thread_shape(GpuPlan *p);
void gpu_thread_tile(const GpuPlan *p, Stmts *s);
/* Prints the functions of gpu_thread_tile. */
void gpu_thread_tile_places(const GpuPlan *p, Buf *out);
extern const GpuCopy gpu_copy_register; /* global memory -> registers -> local memory */

Err gpu_lower(const Program *program, Str symbol, Buf *out);
/* Sets n 32-bit flags to 0. */
Err gpu_flags(const ProblemType *pt, const Target *t, Str symbol, Buf *out);
Err gpu_beta_only(const ProblemType *pt, const Target *t, bool ga, Str symbol, Buf *out);
Err gpu_post_gsu(const ProblemType *pt, const Target *t, Str symbol, Buf *out);

#endif
