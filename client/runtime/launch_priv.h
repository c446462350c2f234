/* Private to launch*.c: the argument writer and the geometry that main and helper kernels share. */
#ifndef CLIENT_RUNTIME_LAUNCH_PRIV_H
#define CLIENT_RUNTIME_LAUNCH_PRIV_H

#include <string.h>

#include "client/runtime/launch.h"
#include "problem/datatype.h"
#include "problem/lines.h"
#include "problem/window.h"

/* Arguments are appended with the natural alignment of their type; gaps are 0. The longest list (StreamK,
 * complex, general batched) has 344 bytes; LAUNCH_ARGS_MAX leaves room for
 * tensor maps after it. */
typedef struct {
    unsigned char *at;
    uint32_t n;
    bool overflow; /* something did not fit 32 bits */
} Args;

static inline uint64_t ceil_div(uint64_t a, uint64_t b) { return a / b + (a % b != 0); }

/* Whether the copy engine has maps of A and B alone, so that threads store D and load C. */
static inline bool threads_store(const LibSolution *s) { return s->map.n_tensor_maps <= 2; }
static inline bool stores_elements(const LibSolution *s)
{
    return window_stores_elements(!threads_store(s), s->map.cluster[2]);
}

static inline void put_align(Args *a, uint32_t align)
{
    while (a->n % align) a->at[a->n++] = 0;
}
static inline void put_u32(Args *a, uint32_t v)
{
    put_align(a, 4);
    memcpy(a->at + a->n, &v, 4);
    a->n += 4;
}
static inline void put_u64(Args *a, uint64_t v)
{
    put_align(a, 8);
    memcpy(a->at + a->n, &v, 8);
    a->n += 8;
}
/* Appends a structure that has no padding: 64-bit fields first, then smaller ones. */
static inline void put_struct(Args *a, const void *x, uint32_t bytes)
{
    put_align(a, 8);
    memcpy(a->at + a->n, x, bytes);
    a->n += bytes;
}
static inline void put_ptr(Args *a, const void *p) { put_u64(a, (uint64_t)(uintptr_t)p); }
static inline void put_size(Args *a, int64_t v)
{
    a->overflow |= v < 0 || v > UINT32_MAX;
    put_u32(a, (uint32_t)v);
}

/* The algorithm of magic_division() in the walks of persistent and stream-K kernels, whatever the solution's
 * other divisions use. */
enum { MAGIC_OF_WALKS = 2 };

/* The number and the shift by which kernels divide. */
static inline void put_magic(Args *a, int alg, uint64_t divisor)
{
    uint32_t number, shift;
    magic_division(alg, (uint32_t)divisor, &number, &shift);
    put_u32(a, number);
    put_u32(a, shift);
}

static inline DataType tensor_type(const Contraction *p, unsigned tensor)
{
    return (DataType)(p->types >> (8 * tensor) & 0xff);
}
/* The tensor's first element; general batched: the array of pointers, offsets follow on their own. */
static inline void put_tensor(Args *a, const LibSolution *s, const void *base, int64_t offset, DataType type)
{
    uint64_t bytes = s->strided_batched && offset ? (uint64_t)offset * (uint64_t)type_bytes(type) : 0;
    put_u64(a, (uint64_t)(uintptr_t)base + bytes);
}
static inline void put_scalar(Args *a, const Contraction *p, const void *value)
{
    uint32_t bytes = (uint32_t)type_bytes((DataType)p->compute_type);
    put_align(a, p->compute_type == TYPE_C ? 4 : bytes > 8 ? 8 : bytes);
    memcpy(a->at + a->n, value, bytes);
    a->n += bytes;
}
static inline void put_strides(Args *a, const Contraction *p, const int64_t stride[3], int first)
{
    for (int i = first; i < 2; i++) put_size(a, stride[i]);
    if (p->batched && p->batch > 1)
        put_size(a, stride[2]);
    else if (p->batched)
        put_u32(a, (uint32_t)stride[2]); /* kernels do not use it, so it may be cut to 32 bits */
}

/* ---- contractions that are no GEMM: launch_dims.c ---- */

/* The strides of tensor t (A to D) from index `first` on. */
void put_dim_strides(Args *a, const IndexSizes *x, int t, int first);
/* The strides of a packed D, as in the workspace. */
void put_workspace_strides(Args *a, const IndexSizes *x, int first);
/* The same with stride 0 for dimensions of one element, as beta-only kernels take them; t: C or D. */
void put_dim_beta_strides(Args *a, const IndexSizes *x, int t, bool workspace, int first);
/* The first n sizes. empty: the sum has no elements, and the last size is passed as 0. */
void put_dim_sizes(Args *a, const IndexSizes *x, int n, bool empty);
/* The magic numbers by which kernels divide to unpack packed indices, and the zero pads. */
void put_dim_numbers(Args *a, const IndexSizes *x, const SizeMapping *map);
/* 1 + sum of stride * (size - 1) over the tensor's dimensions, batch dimensions only with_batch. */
uint64_t dim_elements(const IndexSizes *x, int t, bool with_batch);

/* The grid and the numbers of tiles from which it is computed. */
typedef struct {
    uint64_t tiles0, tiles1, tiles2, tiles, grid[3], cu, sk_grid;
    uint64_t padded_tiles; /* in whole clusters */
} Geometry;

void geometry_init(Geometry *g, const Contraction *p, const LibSolution *s, const LaunchHardware *hw);
/* Bytes at the beginning of the workspace for results; the copies of PackOperands follow. */
uint64_t launch_results_bytes(const Contraction *p, const LibSolution *s, const LaunchHardware *hw);

/* The parts of a tile are counted with 16 bits (kernel/gpu/text/parts.h). */
enum { STREAM_GROUPS_MAX = 65535 };
/* Work-groups of a stream-K launch; launch_stream.c. */
uint64_t stream_grid(const Contraction *p, const LibSolution *s, const LaunchHardware *hw, const Geometry *g);
/* Parts of each tile of kernels with SizeMapping.stream_k_blocks. */
uint64_t stream_even(const Contraction *p, const LibSolution *s, const Geometry *g);
/* Whether tiles of that launch may have parts. */
bool stream_has_parts(const Contraction *p, const LibSolution *s, const Geometry *g);
/* The arguments of stream-K. */
void put_streamk(const Contraction *p, const LibSolution *s, const LaunchHardware *hw, const Geometry *g,
                 Args *args);

/* The consecutive areas of a workspace of partial tiles: sums, then 32-bit flags. */
typedef struct {
    uint64_t sum_bytes, n_flags;
} WorkspaceParts;
WorkspaceParts workspace_parts(const LibSolution *s, const Geometry *g);

/* Starts a call and its argument list; call_done checks and closes it. */
Err call_add(LaunchList *out, CallRole role, const char *symbol, const uint64_t grid[3], uint32_t work_group,
             Args *args);
Err call_done(LaunchList *out, const Args *args);

typedef struct {
    const Contraction *p;
    const LibSolution *s;
    const LaunchInputs *in;
    const Geometry *g;
    uint64_t copies;          /* address after the results in the workspace */
    const WindowPlace *place; /* of a window whose results belong to blocks of pixels; else NULL */
    const LineNumbers *lines; /* of a window whose lines of pixels the kernel makes; else NULL */
    int64_t outs_w;           /* as in WindowCopy */
} Helper;

/* Whether there is anything to add up; if not, A and B may be NULL. */
static inline bool launch_reads_ab(const Contraction *p) { return p->k > 0 && p->alpha != SCALAR_ZERO; }

/* What a kernel reads of an operand: the copy that PackOperands makes, or the operand where that fits. */
typedef struct {
    bool is_copied, transposes;
    uint64_t line, lines; /* elements of the contiguous dimension, and of the other one */
    uint64_t ld, matrix;  /* of the copy, in bytes */
} PackedOperand;

/* Operand 0 (A) or 1 (B); launch_pack.c. */
PackedOperand packed_operand(const Contraction *p, const LibSolution *s, unsigned operand);
/* Bytes of workspace for the copies; UINT64_MAX when they do not fit 64 bits. */
uint64_t launch_pack_bytes(const Contraction *p, const LibSolution *s);
/* Where the operand's copy begins. */
uint64_t packed_address(const Helper *h, unsigned operand);
/* The kernel that copies operands, if there is anything to copy. */
Err pack_call(const Helper *h, LaunchList *out);

/* The roles of the problem's indices as the kernel has them; false: it is no window. */
bool window_roles(const LibSolution *s, const Contraction *p, Window *w);

/* A window whose operands PackOperands copies (launch_copy.c), or whose lines of outputs the kernel counts
 * longer (launch_wide.c): the contraction that the kernel is launched for. */
typedef struct {
    Contraction problem; /* its sizes are dims: this struct is not to be moved */
    IndexSizes dims;
    Window window;
    PackPixels pixels; /* blocks 0: the pixels are not copied */
    PackFilter filter;
    WindowPlace place; /* rows 0: results are not of blocks */
    bool has_lines;    /* the kernel makes lines of the pixels */
    int64_t outs_w; /* outputs of a line that there are, where the kernel counts more (WindowTaps); else 0 */
    LineNumbers lines;
    uint64_t bytes[2]; /* of the copies of pixels and filter, multiples of PACK_START_BYTES */
} WindowCopy;
/* Has the solution's kernel another contraction than windows have as they are? */
static inline bool copies_windows(const LibSolution *s)
{
    return s->map.pack_operands || s->map.window_taps > 1;
}
/* False: the problem has nothing that can be copied so. Addresses are not set. */
bool window_copy(const LibSolution *s, const Contraction *p, WindowCopy *out);
/* The same of lines that the kernel makes (launch_lines.c); the numbers of the filter's copy, whose lines lie
 * along W; the kernel's numbers. */
bool window_lines(const LibSolution *s, const IndexSizes *x, WindowCopy *out);
/* The same of lines of outputs with the padding between them (launch_wide.c). */
bool window_wide(const LibSolution *s, const IndexSizes *x, WindowCopy *out);
void lines_of_filter(const IndexSizes *x, const Window *w, PackFilter *f);
void put_lines(const Helper *h, Args *a);
/* Bytes of workspace for the copies. */
uint64_t window_copy_bytes(const WindowCopy *c);
/* Adds the kernel that copies, if there is anything to multiply, and sets what the main kernel reads. */
Err window_copy_call(WindowCopy *c, const Helper *h, LaunchInputs *in, LaunchList *out);

/* Maps of a contraction's tensors (launch_window.c): whether the copy engine takes them, describing tensor t
 * (A to D), and the kernel's numbers in front of the maps. */
bool window_fits(const LibSolution *s, const Contraction *p);
/* launch_keep.c: whether a kernel that keeps pixels and filters in local memory takes the problem. */
bool keep_fits(const LibSolution *s, const Contraction *p);
/* Appends that kernel's numbers (problem/keep.h). */
Err put_keep(const LibSolution *s, const Contraction *p, Args *a);
/* Rows, columns and matrices of D as a kernel with windows has them; false: it has none. */
bool window_sides(const LibSolution *s, const Contraction *p, uint64_t side[3]);
/* The copy engine loads a contraction that is no GEMM only if it is a window (problem/window.h). */
static inline bool is_window(const Contraction *p) { return p->dims && !p->dims->indices.is_gemm; }
Err describe_window(const Helper *h, unsigned t, TensorMap *out);
Err put_window(const Helper *h, Args *a);
/* Appends the tensor maps of the solution's sizeMapping (launch_maps.c). */
Err put_tensor_maps(const Helper *h, Args *a);
/* Appends the arguments of fused operations, which are the last of Tensile's. */
void put_fused(const Helper *h, Args *a);
Err beta_only_call(const Helper *h, LaunchList *out);
Err post_gsu_call(const Helper *h, LaunchList *out);
Err streamk_init_call(const Helper *h, LaunchList *out);

#endif
