/* Derivation: facts of a problem type and target, order of the steps, which keys a state has in the end. */
#include "problem/matrix_inst.h"
#include "problem/indices.h"
#include "problem/window.h"
#include "space/derive_internal.h"
#include "space/direct.h"
#include "space/wgmma.h"

#define CAPS_GFX94                                                                                           \
    (CAP_PRELOAD | CAP_NT | CAP_ATOMIC_ADD | CAP_MFMA_VGPR | CAP_FMA_F32 | CAP_ECC_HALF | CAP_ACC_CD)

static unsigned matrix_caps(const int32_t isa[3])
{
    static const unsigned caps[] = {[MATRIX_UNIT_MFMA] = CAP_MFMA, [MATRIX_UNIT_WMMA] = CAP_WMMA};
    const Target *t = target_of_isa(TARGET_AMDGCN, isa);
    const MatrixInst *in;
    unsigned all = 0;
    for (size_t i = 0; t && (in = matrix_inst_at(i)); i++)
        if (in->arches & t->matrix) all |= caps[matrix_unit(in)] | (matrix_is_bf16_1k(in) ? CAP_BF16_1K : 0);
    return all;
}

unsigned isa_caps(const int32_t isa[3])
{
    static const struct {
        int8_t isa[3];
        unsigned caps;
    } table[] = {
#define CAPS(major, minor, step, caps) {{major, minor, step}, caps},
#include "problem/caps.def"
#undef CAPS
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].isa[0] == isa[0] && table[i].isa[1] == isa[1] && table[i].isa[2] == isa[2])
            return table[i].caps | matrix_caps(isa);
    return 0;
}

static bool pads_contiguous(const TupleList *pads, const IndexList *assign)
{
    return pads->n > 0 && pads->v[0][0] == assign->v[0];
}

static void facts_of_indices(Deriver *d, const ProblemType *pt)
{
    d->tlu[0] = pt->TLUA, d->tlu[1] = pt->TLUB;
    d->zero_pad[0] = pt->ZeroPadA.n > 0, d->zero_pad[1] = pt->ZeroPadB.n > 0;
    d->zero_pad_contiguous[0] = pads_contiguous(&pt->ZeroPadA, &pt->IndexAssignmentsA);
    d->zero_pad_contiguous[1] = pads_contiguous(&pt->ZeroPadB, &pt->IndexAssignmentsB);
    d->n_fixed_sizes = conv_fixed_sizes(pt, d->fixed_index, d->fixed_size);
    d->tensor0 = pt->Tensor0;
    d->n_indices_c = pt->NumIndicesC;
    d->n_summation = pt->NumIndicesSummation;
    d->index_unroll = pt->IndexUnroll;
    d->index01[0] = pt->Index01A, d->index01[1] = pt->Index01B;
    d->assign[0] = &pt->IndexAssignmentsA, d->assign[1] = &pt->IndexAssignmentsB;
    for (int32_t i = 0; i < pt->IndicesFree.n; i++) d->free_mask |= 1u << pt->IndicesFree.v[i];
    for (int32_t i = 0; i < pt->IndicesBatch.n; i++) d->batch_mask |= 1u << pt->IndicesBatch.v[i];
}

/* The states that have the key of a STATE row. */
static StateKeys state_keys(ParamId id)
{
    switch (id) {
    case PARAM_MatrixInstM:
    case PARAM_MatrixInstN:
    case PARAM_MatrixInstK:
    case PARAM_MatrixInstB:
    case PARAM_MatrixInstBM:
    case PARAM_MatrixInstBN:
    case PARAM_MFMA_BF16_1K:
    case PARAM_MIBlock:
    case PARAM_MIWaveGroup:
    case PARAM_MIWaveTile:
    case PARAM_MIWaveTileA:
    case PARAM_MIWaveTileB:
    case PARAM_MIInputPerThread:
    case PARAM_MIOutputVectorWidth:
    case PARAM_MIRegPerOut:
        return KEYS_MATRIX;
    case PARAM_LdsNumElementsAlignedA:
    case PARAM_LdsNumElementsAlignedB:
    case PARAM_LdsOffsetA_Blk:
    case PARAM_LdsOffsetB_Blk:
        return KEYS_PREFETCH;
    case PARAM_NumLoadsA:
    case PARAM_NumLoadsB:
        return KEYS_WHOLE_LOADS;
    case PARAM_fractionalPerpOverhangA:
    case PARAM_fractionalPerpOverhangB:
        return KEYS_FRACTIONAL;
    case PARAM_SolutionIndex:
    case PARAM_SolutionNameMin:
    case PARAM_NoTailLoop:
    case PARAM_AllowLRVWBforTLUandMI:
        return KEYS_GIVEN;
    default:
        return KEYS_ALWAYS;
    }
}

/* The group of rows that only one family has; GROUP_STATE: the family has none. */
static int family_group(TargetFamily family)
{
    if (family == TARGET_HOST) return GROUP_HOST;
    return family == TARGET_NVPTX ? GROUP_NV : -1;
}

static void collect_keys(Deriver *d)
{
    for (int i = 0; i < PARAM_COUNT; i++) {
        int group = param_at((ParamId)i)->group;
        bool own = group == family_group(d->target->family);
        if (group != GROUP_STATE && !own && i != PARAM_ISA && i != PARAM_DelayRemainingArguments) continue;
        StateKeys keys = state_keys((ParamId)i);
        if (keys != KEYS_GIVEN) d->keys[keys][i >> 6] |= UINT64_C(1) << (i & 63);
    }
}

Err deriver_init(Deriver *d, const ProblemType *pt, const Target *target, const DeriveLimits *limits)
{
    DeriveLimits l = limits ? *limits : (DeriveLimits){0};
    *d = (Deriver){.pt = pt, .target = target};
    solution_init(&d->defaults, pt);
    d->max_lds = l.max_lds_bytes > 0 ? l.max_lds_bytes : 65536;
    d->device_lds = l.device_lds_bytes > 0 ? l.device_lds_bytes : 65536;
    d->max_depth_u = l.max_depth_u > 0 ? l.max_depth_u : 1024;
    d->unroll_loop_efficiency = l.unroll_loop_efficiency;
    d->source_matrix = l.source_matrix;
    d->writer = l.writer;
    d->custom = l.custom;
    if (d->max_depth_u > 65536) FAIL(ERR_INPUT, "MaxDepthU is out of range: %d", d->max_depth_u);
    if (pt->NumIndicesC > INTLIST_MAX)
        FAIL(ERR_INPUT, "the problem type has %d indices in C; at most %d", pt->NumIndicesC, INTLIST_MAX);
    d->type = pt->DataType, d->dest = pt->DestDataType, d->compute = pt->ComputeDataType,
    d->xdl = pt->F32XdlMathOp;
    d->bpe = type_bytes((DataType)d->type);
    d->dest_bpe = type_bytes((DataType)d->dest);
    d->compute_bpe = type_bytes((DataType)d->compute);
    d->gemm = pt->OperationType == OP_GEMM;
    Indices indices;
    Window window;
    const bool listed = !indices_are_plain_gemm(pt) && !indices_of_type(pt, 0, &indices);
    d->contraction = !indices_are_plain_gemm(pt) && (!listed || !indices_are_gemm(&indices, NULL));
    d->not_window = listed ? window_of(&indices, &window) : "it has no indices";
    if (listed && d->not_window) {
        indices_pack(&indices, 1); /* taps are rows or columns of D with the channels alone */
        d->not_window = window_of(&indices, &window);
    }
    err_clear();
    d->batched = pt->Batched, d->strided_batched = pt->StridedBatched;
    d->hpa = pt->HighPrecisionAccumulate, d->use_beta = pt->UseBeta;
    d->initial_ab = pt->UseInitialStridesAB, d->initial_cd = pt->UseInitialStridesCD;
    d->no_free_dims = pt->AllowNoFreeDims;
    d->fused = problem_fused(pt);
    d->fp16_alt = pt->Fp16AltImpl, d->stochastic = pt->StochasticRounding;
    facts_of_indices(d, pt);
    collect_keys(d);
    return ERR_OK;
}

bool derive_reject(Derive *d, RuleId rule, const int64_t arg[5])
{
    if (d->s->NoReject) return false;
    d->v->rule = rule;
    for (int i = 0; i < 4; i++) d->v->arg[i] = arg[i + 1];
    return true;
}

typedef bool (*Step)(Derive *d);

/* In Tensile's order: later steps use results of earlier ones, and the first rejection is reported. */
static const Step gpu_steps[] = {
    derive_bounds,
    derive_order,
    derive_without_ring,
    derive_without_wgmma,
    derive_matrix_instruction,
    derive_tile,
    derive_accumulation,
    derive_preload,
    derive_modifiers,
    derive_types,
    derive_tensor_tiles,
    derive_persistent,
    derive_strides,
    derive_packing,
    derive_stagger,
    derive_vector_widths,
    derive_global_widths,
    derive_split_u,
    derive_global_split_u,
    derive_atomic_width,
    derive_depth_u,
    derive_load_tiles,
    derive_unit_strides,
    derive_local_read_width,
    derive_direct_to_vgpr,
    derive_lds_padding,
    derive_direct_to_lds,
    derive_no_tail_loop,
    derive_lds_size,
    derive_loop,
    derive_wide_reads,
    derive_edges,
    derive_scalar_offsets,
    derive_vector_store,
    derive_last_checks,
    derive_writer,
    NULL,
};
static const Step host_steps[] = {derive_bounds,       derive_order,   derive_tile, derive_accumulation,
                                  derive_tensor_tiles, derive_strides, derive_host, NULL};
static const Step nvptx_steps[] = {
    derive_bounds,
    derive_order,
    derive_without_wgmma,
    derive_nv_instruction,
    derive_matrix_instruction,
    derive_tile,
    derive_accumulation,
    derive_strides,
    derive_packing,
    derive_tensor_tiles,
    derive_nvptx,
    derive_stagger,
    NULL,
};
static const Step wgmma_steps[] = {
    derive_bounds,  derive_order,        derive_wgmma_tile, derive_accumulation, derive_strides,
    derive_packing, derive_tensor_tiles, derive_wgmma,      derive_stagger,      NULL,
};
static const Step direct_steps[] = {
    derive_bounds,       derive_order,        derive_without_wgmma, derive_nv_instruction,
    derive_tile,         derive_accumulation, derive_strides,       derive_packing,
    derive_tensor_tiles, derive_direct,       derive_stagger,       NULL,
};

static const Step *steps_of(const Deriver *f, const Solution *s, bool ring)
{
    if (f->target->family == TARGET_HOST) return host_steps;
    if (direct_is(s, f->target->family)) return direct_steps;
    if (!ring) return gpu_steps;
    return wgmma_is(s) ? wgmma_steps : nvptx_steps;
}

static void finish(Derive *d)
{
    Solution *s = d->s;
    const uint64_t(*keys)[PARAM_WORDS] = d->f->keys;
    bool has[] = {true, s->EnableMatrixInstruction != 0, s->PrefetchGlobalRead != 0, !s->FractionalLoad,
                  s->FractionalLoad != 0};
    s->Valid = s->AssignedDerivedParameters = s->AssignedProblemIndependentDerivedParameters = 1;
    for (int k = 0; k < KEYS_GIVEN; k++)
        for (int i = 0; i < PARAM_WORDS && has[k]; i++) s->present[i] |= keys[k][i];
    order_finish(s);
}

/* Removes rows that belong to other families only. */
static void drop_other_rows(Solution *s, const Solution *defaults, TargetFamily family)
{
    for (int i = PARAM_HostRepeatM; i < PARAM_COUNT; i++) {
        if (param_at((ParamId)i)->group == family_group(family)) continue;
        param_copy(param_at((ParamId)i), defaults, s);
        s->present[i >> 6] &= ~(UINT64_C(1) << (i & 63));
    }
}

/* Resets rows without meaning on the target to their defaults: other values would make duplicates and change
 * derived values. */
static void drop_meaningless(Solution *s, const Deriver *f)
{
    unsigned scope = f->target->family == TARGET_HOST ? SCOPE_CPU : SCOPE_NV;
    for (int i = 0; i < PARAM_COUNT && param_at((ParamId)i)->group == GROUP_FORK; i++)
        if (!(param_at((ParamId)i)->scope & scope)) param_copy(param_at((ParamId)i), &f->defaults, s);
}

bool solution_derive(const Deriver *f, Solution *s, Verdict *v)
{
    Verdict unused;
    Derive d = {.f = f, .s = s, .v = v ? v : &unused};
    d.v->rule = RULE_NONE;
    d.assembly = s->KernelLanguage == LANG_ASSEMBLY;
    if (!solution_has(s, PARAM_ISA)) {
        bool specific = d.assembly || f->target->family != TARGET_AMDGCN ||
                        (f->source_matrix && s->MatrixInstruction.n > 1);
        s->ISA =
            specific ? intlist3(f->target->isa[0], f->target->isa[1], f->target->isa[2]) : intlist3(0, 0, 0);
    }
    d.caps = f->target->family == TARGET_AMDGCN ? isa_caps(s->ISA.v) : 0;
    drop_other_rows(s, &f->defaults, f->target->family);
    if (f->target->family != TARGET_AMDGCN) drop_meaningless(s, f);
    s->custom = s->CustomKernelName.n && f->custom
                    ? f->custom->find(f->custom->context, s->CustomKernelName, f->pt)
                    : NULL;
    if (s->custom || (s->CustomKernelName.n && f->target->family != TARGET_AMDGCN)) {
        s->Valid = derive_custom(&d);
        if (s->Valid) finish(&d);
        return s->Valid;
    }
    d.ring = nv_has_ring(f, s);
    if (f->target->family == TARGET_NVPTX && !d.ring && !direct_is(s, f->target->family)) s->NvRing = 0;
    const Step *step = steps_of(f, s, d.ring);
    while (*step && (*step)(&d)) step++;
    s->Valid = d.v->rule == RULE_NONE;
    if (!s->Valid) return false;
    if (f->target->family != TARGET_AMDGCN) drop_meaningless(s, f); /* again, for derived rows */
    finish(&d);
    return true;
}
