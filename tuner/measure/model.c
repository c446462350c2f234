/* The performance model's numbers of kernels and devices. See model.h. */
#include "measure/model.h"

#include "base/fs.h"
#include "kernel/plan.h"
#include "problem/matrix_inst.h"
#include "problem/pack.h"
#include "problem/window.h"
#include "space/keep.h"
#include "space/stream.h"

/* mma.sync reaches this part of wgmma's rate (measured on an H200: 497 of 773 TFlop/s at 8192^3). */
#define MMA_OF_WGMMA 0.62

static int32_t least(int32_t a, int32_t b) { return a < b ? a : b; }

/* ---- rates of compute units ---- */

/* Four real multiplications of a complex one. */
static double complex_factor(DataType t) { return type_info(t)->complex ? 0.25 : 1; }

static void gpu_rate(const GpuPlan *p, const Target *t, ModelKernel *k)
{
    const PartRates *r = part_rates(NULL, t);
    double vector = part_vector_rate(r, p->in.type, p->acc.type), matrix = part_matrix_rate(r, p->math);
    double factor = complex_factor(p->in.type);
    bool has_wgmma = t->matrix == MATRIX_ARCH_SM90 || t->matrix == MATRIX_ARCH_SM90A;
    if (matrix <= 0) matrix = vector;
    k->peak = (float)(part_peak_rate(r, p->in.type, p->math, p->acc.type) * factor);
    if (p->matrix.used && has_wgmma && !p->groups.used && p->in.part_bytes < 8) matrix *= MMA_OF_WGMMA;
    k->rate = (float)((p->matrix.used ? matrix : vector) * factor);
}

/* ---- GPU kernels ---- */

/* Registers of a lane: sums, fragments, loads on their way, addresses. */
static int32_t registers_of(const GpuPlan *p)
{
    int32_t words = gpu_type_bytes(&p->acc) / 4 > 0 ? gpu_type_bytes(&p->acc) / 4 : 1;
    int32_t sums = p->mt[0] * p->mt[1] / p->n_threads * p->lsu * words;
    int32_t side = gpu_type_bytes(&p->in), loads = 0;
    if (!p->ring.used && p->prefetch)
        loads = (p->mt[0] + p->mt[1]) * p->depth_u * side / p->n_threads / 4 * p->n_sets;
    int32_t fragments =
        p->matrix.used ? p->matrix.tiles[0] * 4 + p->matrix.tiles[1] * 2 : (p->tt[0] + p->tt[1]) * words;
    return sums + 2 * fragments + loads + 32;
}

/* Work-groups of a compute unit at once: by local memory, registers and waves. */
static int32_t groups_of(const GpuPlan *p, const Target *t, int32_t local_bytes)
{
    const TargetRegisters *amd = target_registers(t);
    int32_t waves = (p->n_threads + p->wave - 1) / p->wave, registers = registers_of(p), most;
    int32_t granule = amd ? amd->vgpr_granule : 8, limit = amd ? 512 : 255;
    registers = (registers + granule - 1) / granule * granule;
    if (registers > limit) registers = limit;
    if (amd) {
        int32_t of_simd = least(amd->vgprs / registers, amd->waves);
        most = of_simd * 4 / waves; /* four SIMDs in a compute unit, or two of RDNA's with twice the waves */
        if (!most) most = 1;
    } else {
        most = least(65536 / (registers * waves * 32), 64 / waves);
    }
    if (local_bytes > 0) most = least(most, t->lds_bytes / local_bytes);
    return most > 0 ? most : 1;
}

/* The operand of the plan that has a window's pixels, and how these come to local memory; -1: there is no
 * window. */
static int pixels_of(const GpuPlan *p, const Indices *x, Window *w, int32_t *how)
{
    *how = MODEL_PACK_NEVER;
    if (x->is_gemm || window_of(x, w)) return -1;
    if (p->ring.window_bytes) *how = MODEL_PIXELS_KEPT;
    if (p->groups.line_pixels) *how = w->per_tap ? MODEL_PIXELS_OF_CHUNKS : MODEL_PIXELS_OF_TILE;
    return w->pixels;
}

/* What the batch is to kernels of windows. Rows of weights are channels, those of copied or made lines of all
 * taps. Outputs of all images are columns where the batch is packed. */
static int32_t batch_of(const Solution *s, const Window *w, const GpuPlan *p)
{
    if (w->per_tap && !p->groups.used) return 0;
    if (w->group >= 0) return s->PackOperands && !w->per_tap ? MODEL_BATCH_BLOCKS : 0;
    if (w->per_tap) return s->PackOperands ? MODEL_BATCH_PACKED : MODEL_BATCH_SWAPPED;
    return s->PackBatchDims ? MODEL_BATCH_PACKED : 0;
}

static void gpu_local(const GpuPlan *p, int pixels, int32_t how, int32_t taps, ModelKernel *k)
{
    /* Six warps make lines with 26 instructions for 16 bytes: 32 bytes in a clock on an H200, in which 200
     * bytes of other kernels are read and written. */
    static const double OF_LINES = 6;
    double bytes = gpu_type_bytes(&p->in), written = 0, read;
    for (int i = 0; i < 2; i++)
        if (!p->op[i].in_registers && (i != pixels || !how))
            written += p->mt[i] * bytes / (i == pixels ? taps : 1);
    if (p->matrix.used && p->groups.used) {
        /* an instruction reads its rows and its columns from shared memory */
        int32_t rows = p->matrix.swap ? p->mt[1] : p->mt[0];
        int32_t columns = p->matrix.swap ? p->matrix.m : p->matrix.n;
        read = (double)rows / WGMMA_ROWS * (WGMMA_ROWS + columns) * bytes;
    } else if (p->matrix.used) {
        const int32_t block[] = {p->matrix.m, p->matrix.n};
        double side = 0;
        for (int i = 0; i < 2; i++)
            if (!p->op[i].in_registers) side += (double)block[i] * p->matrix.blocks[i] * p->matrix.tiles[i];
        read = (double)p->matrix.waves[0] * p->matrix.waves[1] * side * bytes;
    } else {
        /* lanes with the same row or column read the same words, which counts about half */
        read = 0.5 * p->n_threads / p->lsu * (p->tt[0] + p->tt[1]) * bytes;
    }
    if (how > MODEL_PIXELS_KEPT) written += OF_LINES * p->mt[pixels] * bytes;
    k->local_bytes = (float)(written + read);
}

/* The copy engine stores lines; without it a thread stores one element of D after the other. Sums of a
 * cluster leave its local memory in lines, results with WindowTaps in vectors. */
static int32_t engine_store_bytes(const Solution *s, const GpuPlan *p)
{
    return s->EngineStore || s->ClusterK > 1 || s->WindowTaps > 1 ? 16 : gpu_type_bytes(&p->out);
}

/* Bands of tiles; 8 stands for a width that is chosen at run time, and for Z order, whose waves are about
 * square. */
static int32_t mapping_of(const Solution *s)
{
    if (s->WorkGroupMappingType == WGMT_Z) return 8;
    if (s->WorkGroupMappingDim < 0) return s->WorkGroupMapping;
    const int32_t width = s->WorkGroupMapping > 0 ? s->WorkGroupMapping : 8;
    return s->WorkGroupMappingDim ? width : -width;
}

static Err gpu_kernel_numbers(const Solution *s, const Target *t, ModelKernel *k)
{
    GpuPlan p;
    Indices x;
    Window w;
    TRY(gpu_plan_sketch(&p, s, t));
    TRY(solution_indices(s, &x));
    bool engine = p.groups.used, elements = p.ring.used && p.ring.via_registers;
    int32_t local = engine ? p.lds_bytes : p.ring.used ? p.ring.lds_bytes : p.lds_bytes;
    int32_t stages = engine ? p.groups.stages : p.ring.used ? p.prefetch + 1 : p.prefetch ? 2 : 1;
    int32_t bytes = gpu_type_bytes(&p.in), how;
    /* the kernel's operands that are the problem's A and B */
    const int a = x.exchanged, b = 1 - a, pixels = pixels_of(&p, &x, &w, &how);
    *k = (ModelKernel){.class = engine          ? MODEL_ENGINE
                                : p.matrix.used ? MODEL_MATRIX
                                                : MODEL_VECTOR,
                       .tile_m = p.mt[a],
                       .tile_n = p.mt[b],
                       .depth = p.depth_u,
                       .threads = p.n_threads,
                       .groups = groups_of(&p, t, local),
                       .stages = stages,
                       .persistent = !p.walk.persistent  ? 0
                                     : p.groups.pingpong ? 2
                                                         : 1,
                       .mapping = a ? -mapping_of(s) : mapping_of(s),
                       .cluster_m = engine ? p.groups.cluster[a] : 1,
                       .cluster_n = engine ? p.groups.cluster[b] : 1,
                       .load_a = engine     ? 16
                                 : elements ? bytes
                                            : p.op[a].width * bytes,
                       .load_b = engine     ? 16
                                 : elements ? bytes
                                            : p.op[b].width * bytes,
                       .store = engine ? engine_store_bytes(s, &p) : p.store_width * gpu_type_bytes(&p.out),
                       .free_a = p.op[a].tlu,
                       .free_b = p.op[b].tlu,
                       .steps = engine ? 1 : p.steps / (p.prefetch_local || p.ring.read_ahead ? 2 : 1)};
    if (p.walk.stream_k) {
        k->stream_k = p.walk.stream_k;
        const StreamCost cost = stream_cost(s);
        k->stream_part = cost.part, k->stream_fix = cost.fix, k->stream_blocks = cost.blocks;
    }
    if (engine) k->groups = least(k->groups, 1);
    if (p.ring.used && !engine && p.ring.blocks > k->groups) k->groups = p.ring.blocks;
    const int32_t taps = pixels >= 0 ? s->WindowTaps : 1;
    if (pixels >= 0)
        *(pixels == a ? &k->pack_a : &k->pack_b) = how | batch_of(s, &w, &p) | (taps - 1) * MODEL_TAPS;
    if (taps > 1) k->stages *= taps;
    if (p.ring.window_bytes) k->keep_rows = keep_rows(s);
    gpu_rate(&p, t, k);
    gpu_local(&p, pixels, how, taps, k);
    return ERR_OK;
}

/* ---- CPU kernels ---- */

static Err host_kernel_numbers(const Solution *s, const Target *t, ModelKernel *k)
{
    HostPlan p;
    TRY(host_plan(&p, s, t));
    /* loads of A's vectors and B's elements for one step of k, of a vector each */
    double loads = (p.mv + p.nr) * p.parts, vector = t->vector_bits / 8.0;
    const int tile[2] = {p.mt0, p.mt1}, unit[2] = {p.mr, p.nr}, block[2] = {p.mc, p.nc};
    const int m = p.crossed, n = 1 - m; /* of the program's sides those that are the problem's M and N */
    /* kernels with tiles for edges (host/tile.c) take as many vectors and columns as there are */
    const int step[2] = {p.direct ? p.vl : p.mr, p.direct || p.runs ? 1 : p.nr},
              bytes = type_bytes((DataType)s->pt->DataType);
    *k = (ModelKernel){.class = MODEL_HOST,
                       .mapping = mapping_of(s),
                       .tile_m = tile[m],
                       .tile_n = tile[n],
                       .depth = p.kc,
                       .threads = 1,
                       .groups = 1,
                       .stages = 1,
                       .cluster_m = 1,
                       .cluster_n = 1,
                       .load_a = step[m] * bytes,
                       .load_b = step[n] * bytes,
                       .store = 16,
                       .free_a = !s->pt->TransposeA,
                       .free_b = s->pt->TransposeB,
                       .steps = 16 / p.lsu, /* quarters of a clock from a sum to the next */
                       .unit_m = unit[m],
                       .unit_n = unit[n],
                       .block_m = block[m],
                       .block_n = block[n],
                       .pack_a = p.pack[0],
                       .pack_b = p.pack[1],
                       .rate = (float)(4 * p.vl / (p.parts * p.parts)),
                       .peak = (float)(4 * vector / p.compute.bytes / (p.parts * p.parts)),
                       .local_bytes = (float)(loads * vector)};
    return ERR_OK;
}

static int32_t pack_of(const Solution *s, int32_t operand, bool k_major)
{
    if (!(s->PackOperands & operand)) return MODEL_PACK_NEVER;
    const int bytes = type_bytes((DataType)s->pt->DataType);
    return pack_transposes(bytes, k_major) ? MODEL_PACK_ALWAYS : MODEL_PACK_UNALIGNED;
}

Err model_kernel(const Solution *s, const Target *t, ModelKernel *out)
{
    static Err (*const numbers[])(const Solution *, const Target *,
                                  ModelKernel *) = {[TARGET_HOST] = host_kernel_numbers,
                                                    [TARGET_AMDGCN] = gpu_kernel_numbers,
                                                    [TARGET_NVPTX] = gpu_kernel_numbers};
    const ProblemType *pt = s->pt;
    TRY(numbers[t->family](s, t, out));
    out->split = s->GlobalSplitU > 1 ? s->GlobalSplitU : 1;
    const bool is_gpu = target_family(t)->is_gpu;
    bool workspace = s->GlobalAccumulation == GACC_MULTIPLE || s->GlobalAccumulation == GACC_SINGLE;
    if (!is_gpu) workspace = s->GlobalSplitUAlgorithm == GSUA_MULTIPLE;
    out->split_kind = out->split == 1 ? MODEL_SPLIT_NONE
                      : workspace     ? MODEL_SPLIT_WORKSPACE
                                      : MODEL_SPLIT_ATOMIC;
    if (s->ClusterK > 1) out->split = s->ClusterK, out->split_kind = MODEL_SPLIT_CLUSTER;
    const bool joined = s->GlobalAccumulation == GACC_PARTIALS && out->split > 1;
    if (is_gpu && joined) out->split_kind = MODEL_SPLIT_JOINED;
    if (is_gpu && s->StreamK) out->split_kind = MODEL_SPLIT_STREAM;
    out->bytes_ab = type_bytes((DataType)pt->DataType);
    out->bytes_d = type_bytes((DataType)pt->DestDataType);
    out->bytes_sum = type_bytes((DataType)pt->ComputeDataType);
    out->flags = (pt->UseBeta ? MODEL_READS_C : 0) | (s->DependentLaunch ? MODEL_DEPENDENT : 0) |
                 (s->ConsumerLag ? MODEL_LAGS : 0) | (s->SourceSwap ? MODEL_SWAPS : 0) |
                 (s->SelfResetCounters ? MODEL_RESETS : 0);
    /* of windows other launches copy little: tensors whose elements are each of many rows of A or B */
    if (is_gpu && problem_is_gemm(pt)) {
        out->pack_a = pack_of(s, PACK_A, !pt->TLUA);
        out->pack_b = pack_of(s, PACK_B, !pt->TLUB);
    }
    return ERR_OK;
}

/* ---- devices ---- */

/* A processor of 2023: two threads share nothing that counts here; DRAM serves about twelve of them. */
static void host_device(int n_cu, ModelDevice *d)
{
    int threads = n_cu > 0 ? n_cu : cpu_count();
    *d = (ModelDevice){.n_cu = threads,
                       .clock_hz = 3.2e9,
                       .local_rate = 128,
                       .l2_bytes = 1 << 20,
                       .l2_rate = 100e9,
                       .dram_rate = 40e9 * (threads < 12 ? threads : 12),
                       .dies = 1};
}

void model_of_part(const Target *t, Str part, int n_cu, ModelDevice *out)
{
    const Part *p = NULL;
    if (!target_family(t)->is_gpu) {
        host_device(n_cu, out);
        return;
    }
    if (part.n && part_find(part, t, &p)) p = NULL, err_clear();
    const PartRates *r = part_rates(p, t);
    int cus = n_cu > 0 ? n_cu : p ? p->n_cu : t->n_cu;
    *out = (ModelDevice){.n_cu = cus,
                         .clock_hz = r->clock_mhz * 1e6,
                         .local_rate = r->local_bytes,
                         .l2_bytes = r->l2_kib * 1024,
                         .l2_rate = r->l2_gbs * 1e9,
                         .dram_rate = r->dram_gbs * 1e9,
                         .dies = r->dies};
}

void model_rates_typical(ModelRates r[MODEL_CLASSES])
{
    for (int c = 0; c < MODEL_CLASSES; c++) r[c] = model_rates((ModelClass)c);
}

/* ---- sizes ---- */

static int32_t align_of(const ProblemType *pt, const ProblemSize *s, int tensor, DataType type)
{
    int64_t stride[INDEX_MAX], all = 0;
    int32_t n = size_strides(pt, s, tensor, stride);
    for (int32_t i = 1; i < n; i++) all |= stride[i];
    return model_align(all * type_bytes(type));
}

/* The part of n elements that A or B has in memory, by the extent of its strides. */
static double once_of(const ProblemType *pt, const ProblemSize *s, int tensor, double n)
{
    const double extent = (double)size_tensor_elements(pt, s, tensor);
    return extent > 0 && extent < n ? extent / n : 1;
}

ModelSize model_size(const ProblemType *pt, const ProblemSize *s, bool beta)
{
    DataType a, b;
    problem_ab_types(pt, &a, &b);
    return (ModelSize){.m = (double)size_m(pt, s),
                       .n = (double)size_n(pt, s),
                       .k = (double)size_k(pt, s),
                       .batch = (double)size_batch(pt, s),
                       .align_a = align_of(pt, s, LD_A, a),
                       .align_b = align_of(pt, s, LD_B, b),
                       .align_d = align_of(pt, s, LD_D, (DataType)pt->DestDataType),
                       .reads_c = beta && pt->UseBeta};
}

void model_size_once(const ProblemType *pt, const ProblemSize *s, ModelSize *z)
{
    z->once_a = once_of(pt, s, LD_A, z->m * z->k * z->batch);
    z->once_b = once_of(pt, s, LD_B, z->n * z->k * z->batch);
}
