/* Modules of kernel/amdgcn and what they share: matrix instructions, dot products, buffer loads and stores,
 * the layout of local memory. The contract of the modules is in kernel/gpu/gpu.h. */
#ifndef KERNEL_AMDGCN_AMDGCN_H
#define KERNEL_AMDGCN_AMDGCN_H

#include "kernel/gpu/gpu.h"
#include "problem/matrix_inst.h"

extern const GpuCompute amdgcn_matrix; /* MFMA and WMMA */
extern const GpuCompute amdgcn_dot;    /* dot products of 16-bit and 8-bit elements */
/* Does the processor have dot products for the plan's types? */
bool dot_applies(const GpuPlan *p);
extern const GpuCopy amdgcn_buffer; /* raw buffer loads with range check */

/* ---- pointer.c: addresses in local memory ---- */

enum { AMDGCN_POINTERS_MAX = 128 };
typedef struct {
    Stmts *s;
    const char *name, *from; /* "a", a_1, a_2 ...: from + offset */
    bool is_const;
    bool steps_apart; /* the step's part of an address is added last: a constant after unrolling */
    const Expr *base[AMDGCN_POINTERS_MAX];
    const Value *pointer[AMDGCN_POINTERS_MAX];
    int n;
} AmdgcnPointers;
/* Returns the access at byte offset `at`; declares a pointer if no pointer so far differs by a constant. */
Access amdgcn_access(AmdgcnPointers *q, const char *type, int bytes, const Expr *at);

/* ---- store.c: raw buffers, stores of D through them ---- */

/* @w2, @w4, @raw_load<bytes>, @raw_store<bytes> and @descriptor: part of the prelude. */
void amdgcn_raw_buffers(const GpuPlan *p, Stmts *s);
/* A named constant of a text. */
typedef struct {
    const char *type, *name;
    int64_t value;
} AmdgcnConstant;
void amdgcn_constants(Stmts *s, const AmdgcnConstant *c, size_t n);
/* Prints the statements that make() emits; running out of memory marks the Buf as failed. */
void amdgcn_print(const GpuPlan *p, void (*make)(const GpuPlan *p, Stmts *s), Buf *out);
/* Converts NonTemporal's bits to cache policy bits of a buffer instruction: 1 glc or sc0, 2 slc or nt,
 * 4 sc1. */
int amdgcn_policy(const GpuPlan *p, int hint);
/* Do accumulators take most of a register file of 256? */
bool amdgcn_fills_file(const GpuPlan *p);
/* Architectures whose waves divide one file of vector and accumulation registers. */
enum { AMDGCN_ONE_FILE = MATRIX_ARCH_GFX90A | MATRIX_ARCH_GFX940 | MATRIX_ARCH_GFX950 };
/* Do the sums of matrix instructions stay in accumulation registers until they are stored? */
bool amdgcn_sums_in_agprs(const GpuPlan *p);
/* GpuDialect.finish. */
bool amdgcn_finish(const GpuPlan *p, Buf *out);

/* ---- matrix.c ---- */

/* A place in an operand's tile. */
typedef struct {
    const Expr *free, *k;
} AmdgcnPlace;

/* On processors with one file of 512 vector and accumulation registers: does a kernel of amdgcn_matrix need
 * about half of it? The compiler then keeps accumulators in one half and inserts no copies between the
 * halves. */
bool matrix_fits_half(const GpuPlan *p);

/* The loads that fill the fragments of operand i (GpuOperand.in_registers): for each step of a chunk,
 * `vectors` times `runs`, the latter fastest, each for one @Run of the operand's fragments. */
typedef struct {
    int vectors, runs;
    int tiles, elements; /* of each load: interleaved tiles, elements of K */
} AmdgcnFragments;
AmdgcnFragments amdgcn_fragments(const GpuPlan *p, int i);
/* The element that this thread loads first, and its distance in vector v, run r of a step. */
AmdgcnPlace amdgcn_fragment_first(ExprPool *pool, const GpuPlan *p, int i);
AmdgcnPlace amdgcn_fragment(ExprPool *pool, const GpuPlan *p, int i, const Expr *step, const Expr *v,
                            const Expr *r);

/* The types of an instruction and the instruction as functions of a text: @Op of a lane's part of an operand,
 * @AccV of its accumulators, @AccV @inst(@Op first, @Op second, @AccV). */
void amdgcn_instruction(const MatrixInst *in, Stmts *s);

/* ---- matrix_sums.c ---- */

typedef struct {
    AmdgcnFragments loads;
    bool k_major; /* runs of `run` elements of K for each tile; else of `vec` tiles for each element of K */
    bool conjugate;
    int vec, run, align_bytes;
} AmdgcnSumsOperand;
typedef struct {
    int parts;        /* 2 for complex numbers, else 1 */
    int tiles[2];     /* of a wave, along M and N */
    int kpl;          /* elements of K of a lane in an instruction */
    int instructions; /* of a step, along K */
    int n_acc;        /* accumulators of an instruction */
    bool fences;      /* scheduling fences between the instructions along K */
    bool pins;        /* with @acc_pin and @acc_pin_batch */
    AmdgcnSumsOperand of[2];
} AmdgcnSums;
/* Prints the types @RunA, @FragA, the same of B, @Frag, @Place, @Acc, behind @Op and @AccV. */
void amdgcn_matrix_types(const AmdgcnSums *x, Stmts *s);
/* Prints @frag_mac, @acc_zero, @acc_get, @acc_set and, with pins, @acc_pin, @acc_pin_batch, behind @inst and
 * @place. */
void amdgcn_matrix_sums(const AmdgcnSums *x, Stmts *s);

/* ---- layout.c: pads of local memory ---- */

/* One access of a wave: byte offsets of its lanes into the operand's tile, bytes per lane. */
typedef struct {
    int n_lanes, bytes;
    bool crossed; /* a read by a processor with MFMA: layout.c */
    int64_t at[EXPR_LANES_MAX];
} LdsAccess;

/* Counts the extra cycles of bank conflicts: 0 when no two lanes of a cycle access the same bank. */
int lds_conflicts(const LdsAccess *a);

/* Can the operand be read and written with the pieces of its lines swizzled as x->layout says? */
typedef bool (*LdsExchange)(const GpuPlan *p, const GpuOperand *x);
/* Chooses pads of both operands by counting conflicts of the reads and of amdgcn_buffer's writes; where pads
 * leave some, or there is no room for them, an exchange of pieces (NULL: none can be used). lines_unit: of
 * each operand, blocks of lines between pads divide it. */
void lds_choose_pads(GpuPlan *p, GpuAccesses reads, LdsExchange exchange, const int lines_unit[2]);
/* The layout of an operand whose loads write local memory themselves (DirectToLds), with `pad` elements
 * behind each load of a wave. */
void amdgcn_layout_to_local(const GpuPlan *p, GpuOperand *x, int pad);
/* Elements of K that lie together in local memory in such layouts; INT32_MAX where no line is cut. */
int amdgcn_k_together(const GpuPlan *p);
/* GpuDialect.pads. In kernels of gpu_valu, pads of operands that come transposed (K contiguous in memory, the
 * free dimension in local memory) go between blocks of lines where that has fewer conflicts than LdsPad
 * elements behind each line and takes no more room. */
void amdgcn_valu_pads(GpuPlan *p);
/* Counts the conflicts of all accesses of a kind with the layout that x has. */
int lds_count(const GpuPlan *p, int x, GpuAccesses accesses);
/* Does the same for the plan's modules: for the reads of a step, or the writes of a load. */
int amdgcn_conflicts(const GpuPlan *p, int x, bool writes);
/* The reads of the plan's compute module. */
GpuAccesses amdgcn_reads(const GpuPlan *p);
/* The reads of amdgcn_matrix and of amdgcn_dot, the writes of amdgcn_buffer. */
bool amdgcn_matrix_reads(const GpuPlan *p, const GpuOperand *x, int i, ExprPool *pool, GpuAccess *a);
bool amdgcn_dot_reads(const GpuPlan *p, const GpuOperand *x, int i, ExprPool *pool, GpuAccess *a);
bool amdgcn_buffer_writes(const GpuPlan *p, const GpuOperand *x, int i, ExprPool *pool, GpuAccess *a);
/* Deals the loads of an operand to threads, once k_major is known: GpuOperand.lanes and run. */
void amdgcn_deal_loads(GpuPlan *p, int i);
/* Can the plan's copy module write lines whose pieces are swizzled? */
bool amdgcn_copy_exchanges(const GpuPlan *p, const GpuOperand *x);

#endif
