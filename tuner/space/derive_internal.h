/* For the derive_*.c and rules_*.c files: the derivation in progress, and the macros with which a step
 * rejects.
 *
 * A step returns false to stop. REJECT records the reason and stops, unless NoReject is set: then it
 * continues. STOP is for reasons after which nothing can be derived: it stops with NoReject too.
 */
#ifndef MODEL_DERIVE_INTERNAL_H
#define MODEL_DERIVE_INTERNAL_H

#include "problem/datatype.h"
#include "space/derive.h"
#include "problem/problem.h"

typedef struct {
    const Deriver *f; /* constants of the fork */
    Solution *s;
    Verdict *v;
    unsigned caps;
    bool assembly, buffer_load, packed0, packed1, ring;
    bool auto_pad[2]; /* LdsPadA/B was -1 */
    bool wide_lrvw_b;
    bool tlu[2];      /* of kernels with a ring: Deriver.tlu, with PackBatchDims taken into account */
    bool has_runs[2]; /* of the same kernels: elements that follow each other in memory do so in the tile too
                       * (indices_run), so that vectors can be copied */
    int32_t vectors_coalesced[2], elements_perp[2]; /* of the loaded tile, for the found DepthU */
} Derive;

/* True when the derivation must stop. */
bool derive_reject(Derive *d, RuleId rule, const int64_t arg[5]);
#define REJECT(d, id, ...)                                                                                   \
    do {                                                                                                     \
        if (derive_reject((d), RULE_##id, (const int64_t[5]){0, __VA_ARGS__})) return false;                 \
    } while (0)
#define STOP(d, id, ...)                                                                                     \
    do {                                                                                                     \
        derive_reject((d), RULE_##id, (const int64_t[5]){0, __VA_ARGS__});                                   \
        return false;                                                                                        \
    } while (0)

/* Rules of contractions that are no GEMM, on all families that make kernels of them. False: stop. */
bool check_contraction(Derive *d);
/* Checks the rows ONLY of effect.def for one kind of kernels (ONLY_AMD, ONLY_RING, ONLY_CPU). False: stop. */
bool check_only(Derive *d, unsigned where);
/* GlobalSplitU of kernels for CUDA cores and mma: rejects parts of K that are added to D where the sums are
 * complex, for which there is no atomic addition. Sets the order of the work-groups. False: stop. */
bool check_split(Derive *d);

static inline bool is_f8(int32_t type) { return type >= TYPE_F8 && type <= TYPE_B8F8; }
static inline bool is_complex(int32_t type) { return type == TYPE_C || type == TYPE_Z; }
/* Half, bf16: two bytes each. */
static inline bool is_16bit(int32_t type) { return type == TYPE_H || type == TYPE_B; }

/* Whether the kernel computes a tensor's indices from the number of a row, a column or an element of K by
 * division (kernel/contract.h), because a side of the matrix product may have several of them. */
static inline bool gathers(const Derive *d) { return d->f->contraction || d->s->PackBatchDims; }

/* Field of tensor A (t = 0) or B (t = 1). */
#define AB(s, field, t) (*((t) ? &(s)->field##B : &(s)->field##A))

static inline int32_t ceil_div(int32_t a, int32_t b) { return b > 0 ? (a + b - 1) / b : 0; }
static inline int32_t min32(int32_t a, int32_t b) { return a < b ? a : b; }
static inline int32_t max32(int32_t a, int32_t b) { return a > b ? a : b; }
static inline bool is_pow2(int64_t v) { return v > 0 && (v & (v - 1)) == 0; }
/* Global load width as a fraction: DirectToLds of types over 4 bytes loads parts of an element, stored as
 * width 0. */
static inline int32_t width_num(int32_t width) { return width ? width : 1; }
static inline int32_t width_den(const Deriver *f, int32_t width)
{
    return width || f->bpe <= 4 ? 1 : f->bpe / 4;
}
/* ceil(n / width). */
static inline int32_t vectors(const Deriver *f, int32_t n, int32_t width)
{
    return ceil_div(n * width_den(f, width), width_num(width));
}

bool derive_bounds(Derive *d);
/* Rules of the work-group order (derive_order.c). */
bool derive_order(Derive *d);
/* An order that is part of the kernel: bands along N, of 1 tile at least. */
void order_along_n(Solution *s);
/* Whether the rows of group ORDER are part of the state. */
void order_finish(Solution *s);
bool derive_matrix_instruction(Derive *d);
bool derive_tile(Derive *d);
bool derive_tensor_tiles(Derive *d);
bool derive_accumulation(Derive *d);
bool derive_preload(Derive *d);
bool derive_modifiers(Derive *d);
bool derive_types(Derive *d);
bool derive_persistent(Derive *d);
bool derive_strides(Derive *d);
bool derive_packing(Derive *d);
bool derive_stagger(Derive *d);
bool derive_vector_widths(Derive *d);
bool derive_global_widths(Derive *d);
bool derive_split_u(Derive *d);
bool derive_global_split_u(Derive *d);
bool derive_atomic_width(Derive *d);
bool derive_depth_u(Derive *d);
bool derive_load_tile_fractional(Derive *d, int t, int32_t depth_u, int32_t width);
bool derive_load_tiles(Derive *d);
bool derive_unit_strides(Derive *d);
bool derive_local_read_width(Derive *d);
bool derive_direct_to_vgpr(Derive *d);
bool derive_direct_to_lds(Derive *d);
bool derive_packing_registers(Derive *d);
bool derive_lds_padding(Derive *d);
bool derive_no_tail_loop(Derive *d);
bool derive_lds_size(Derive *d);
bool derive_store(Derive *d);
bool derive_store_remap(Derive *d, int64_t *lds_elements);
bool derive_store_in_loop(Derive *d);
bool derive_dot_layout(Derive *d);
bool derive_loop(Derive *d);
bool derive_wide_reads(Derive *d);
bool derive_edges(Derive *d);
bool derive_scalar_offsets(Derive *d);
bool derive_vector_store(Derive *d);
bool derive_last_checks(Derive *d);

/* Rules of the host (rules_host.c). */
bool derive_host(Derive *d);
/* Rules of nvptx (rules_nvptx.c): whether the kernel has a ring of stages; rows of params.def that need one;
 * rules before the matrix instruction; all others. */
bool nv_has_ring(const Deriver *f, const Solution *s);
bool derive_without_ring(Derive *d);
bool derive_nv_instruction(Derive *d);
bool derive_nvptx(Derive *d);
/* Rules of nvptx kernels with wgmma (rules_wgmma.c): tile and warp groups; all others; rows of params.def
 * that only these kernels have. */
bool derive_wgmma_tile(Derive *d);
bool derive_wgmma(Derive *d);
bool derive_without_wgmma(Derive *d);
/* Rules of kernels without local memory (rules_direct.c). */
bool derive_direct(Derive *d);
/* Rules of the amdgcn kernel writer (rules_amdgcn.c). */
bool derive_writer(Derive *d);
/* Derives a kernel that is written by hand; no other step is taken then. */
bool derive_custom(Derive *d);

#endif
