/* Solutions whose parameters test_effect.c changes one by one: each kind of kernel, and every parameter that
 * matters only where another is set. */
#ifndef TEST_UNIT_EFFECT_BASES_H
#define TEST_UNIT_EFFECT_BASES_H

typedef struct {
    const char *arch, *problem, *solution;
} Base;

#define SGEMM "{DataType: s, Batched: true, TransposeB: false}"
#define SGEMM_TN "{DataType: s, Batched: true, TransposeA: true, TransposeB: false}"
#define HGEMM "{DataType: h, Batched: true, TransposeB: false, HighPrecisionAccumulate: true}"
#define HGEMM_TN                                                                                             \
    "{DataType: h, Batched: true, TransposeA: true, TransposeB: false, HighPrecisionAccumulate: true}"
#define DGEMM "{DataType: d, Batched: true, TransposeB: false}"
#define XGEMM "{DataType: s, F32XdlMathOp: x, Batched: true, TransposeB: false}"
#define TILE "WorkGroup: [16, 16, 1], ThreadTile: [4, 4], DepthU: 16"
#define MFMA "KernelLanguage: Assembly, MatrixInstruction: [32, 32, 8, 1, 1, 2, 2, 2, 2], DepthU: 32"
#define MFMA_S "KernelLanguage: Assembly, MatrixInstruction: [32, 32, 2, 1, 1, 2, 2, 2, 2], DepthU: 16"
#define MMA_H "MatrixInstruction: [16, 8, 16, 1, 1, 4, 8, 2, 2], DepthU: 32, PrefetchGlobalRead: 3"
#define MMA_S "MatrixInstruction: [16, 8, 8, 1, 1, 4, 8, 2, 2], DepthU: 32, PrefetchGlobalRead: 3"

#define DIRECT                                                                                               \
    "WorkGroup: [8, 1, 16], ThreadTile: [4, 2], DepthU: 128, StaggerU: 0, DirectToVgprA: true, "             \
    "DirectToVgprB: true"
static const Base bases[] = {
    {"gfx90a", SGEMM, "{" TILE "}"},
    {"gfx90a", SGEMM, "{" TILE ", KernelLanguage: Assembly}"},
    {"gfx90a", SGEMM_TN, "{" TILE ", KernelLanguage: Assembly}"},
    {"gfx90a", SGEMM, "{" TILE ", KernelLanguage: Assembly, GlobalSplitU: 2}"},
    {"gfx90a", SGEMM, "{" TILE ", GlobalSplitU: 4, GlobalSplitUAlgorithm: MultipleBuffer}"},
    {"gfx90a", SGEMM_TN,
     "{WorkGroup: [16, 16, 1], MatrixInstruction: [32, 32, 2, 1, 1, 1, 1, 2, 2], DepthU: 32, "
     "KernelLanguage: Assembly, ScheduleIterAlg: 3, TransposeLDS: 1, GlobalReadVectorWidth: 4}"},
    {"gfx90a", SGEMM, "{" TILE ", KernelLanguage: Assembly, GlobalSplitU: 2, VectorAtomicWidth: 1}"},
    {"gfx942", SGEMM,
     "{" TILE ", KernelLanguage: Assembly, WorkGroupMapping: 1, StaggerU: 0, PreloadKernelArguments: 1}"},
    {"gfx90a", SGEMM, "{" TILE ", KernelLanguage: Assembly, PersistentKernel: 2}"},
    {"gfx90a", SGEMM,
     "{" TILE ", KernelLanguage: Assembly, PersistentKernel: 2, PersistentKernelAlongBatch: true}"},
    {"gfx90a", SGEMM, "{WorkGroup: [8, 8, 4], ThreadTile: [4, 4], DepthU: 32, KernelLanguage: Assembly}"},
    {"gfx90a", "{DataType: s, Batched: true, TransposeB: true}",
     "{KernelLanguage: Assembly, ExpandPointerSwap: 1, ScheduleIterAlg: 3, DepthU: 16, VectorWidth: 2, "
     "VectorWidthB: 2, GlobalReadVectorWidth: 2, MatrixInstruction: [16, 16, 4, 1, 1, 2, 2, 1, 1]}"},
    {"gfx90a", HGEMM, "{" MFMA "}"},
    {"gfx90a", HGEMM_TN, "{" MFMA "}"},
    {"gfx90a", HGEMM_TN, "{" MFMA ", ScheduleIterAlg: 3, TransposeLDS: 1}"},
    {"gfx90a", HGEMM, "{" MFMA ", ScheduleIterAlg: 3, SourceSwap: true}"},
    {"gfx90a", HGEMM, "{" MFMA ", GlobalSplitU: 2, GlobalSplitUAlgorithm: MultipleBuffer}"},
    {"gfx90a", SGEMM, "{" MFMA_S ", GlobalSplitU: 2}"},
    {"gfx90a", SGEMM_TN, "{" MFMA_S "}"},
    {"gfx90a", "{DataType: s, Batched: true, TransposeB: true}",
     "{" MFMA_S ", GlobalReadVectorWidth: 1, DirectToLdsA: true}"},
    {"gfx90a", SGEMM,
     "{" TILE
     ", GlobalSplitU: 2, LoopTail: false, AssertSummationElementMultiple: 16, KernelLanguage: Assembly}"},
    {"gfx942", SGEMM, "{" TILE ", KernelLanguage: Assembly, WorkGroupMapping: 1, StaggerU: 0}"},
    {"gfx942", HGEMM, "{" MFMA ", WorkGroupMapping: 1, StaggerU: 0}"},
    {"gfx1100", SGEMM, "{" TILE ", KernelLanguage: Assembly, WavefrontSize: 32}"},
    {"gfx90a", SGEMM,
     "{WorkGroup: [16, 16, 1], ThreadTile: [6, 4], DepthU: 16, KernelLanguage: Assembly, FractionalLoad: 1}"},
    {"gfx942", SGEMM, "{" MFMA_S ", StreamK: 2}"},
    {"gfx90a", SGEMM, "{" MFMA_S ", StreamK: 1, StreamKAtomic: 1}"},
    {"gfx906", HGEMM,
     "{" TILE ", KernelLanguage: Assembly, VectorWidth: 2, LocalDotLayout: 2, InnerUnroll: 2}"},
    {"gfx906", SGEMM, "{" TILE ", EdgeType: ShiftPtr, GlobalReadVectorWidth: 1, VectorWidth: 1}"},
    {"gfx906", SGEMM, "{" TILE ", KernelLanguage: Assembly, BufferLoad: false, BufferStore: false}"},
    {"sm_90", SGEMM, "{" TILE "}"},
    {"sm_90", SGEMM, "{" TILE ", WorkGroupMapping: 1}"},
    {"gfx90a", DGEMM,
     "{KernelLanguage: Assembly, MatrixInstruction: [16, 16, 4, 1, 1, 2, 2, 2, 2], DepthU: 16, "
     "SourceSwap: true, AssertBetaValue: 1, AssertCEqualsD: true}"},
    {"sm_90", SGEMM_TN, "{" TILE ", PrefetchGlobalRead: 0}"},
    {"sm_90", SGEMM, "{" TILE ", GlobalSplitU: 2}"},
    {"sm_90", SGEMM, "{" TILE ", GlobalSplitU: 4, GlobalSplitUAlgorithm: MultipleBuffer}"},
    {"sm_90", SGEMM, "{" TILE ", PrefetchGlobalRead: 3, NvRing: 1, PersistentKernel: 1}"},
    {"sm_90", SGEMM, "{" TILE ", NvRing: 0}"},
    {"sm_90", SGEMM, "{" TILE ", NvRing: 1, StreamK: 1}"},
    {"sm_90", SGEMM, "{" TILE ", NvRing: 0, StreamK: 3, StreamKAtomic: 1}"},
    {"sm_90", SGEMM_TN, "{" TILE ", NvRing: 0, KernelLanguage: Assembly}"},
    {"sm_90", SGEMM,
     "{" TILE ", NvRing: 0, LoopTail: false, AssertSummationElementMultiple: 16, GlobalSplitU: 2, "
     "KernelLanguage: Assembly}"},
    {"sm_90", SGEMM,
     "{" TILE ", LoopTail: false, AssertSummationElementMultiple: 16, PrefetchGlobalRead: 3}"},
    {"sm_90", SGEMM, "{" TILE ", NvRing: 0, PersistentKernel: 2, KernelLanguage: Assembly}"},
    {"sm_90", SGEMM, "{WorkGroup: [8, 8, 4], ThreadTile: [4, 4], DepthU: 32}"},
    {"sm_90", SGEMM, "{" DIRECT "}"},
    {"sm_90", SGEMM, "{" DIRECT ", PersistentKernel: 1}"},
    {"sm_90", SGEMM, "{" DIRECT ", StreamK: 3}"},
    {"sm_90", SGEMM_TN, "{" DIRECT ", GlobalSplitU: 2, GlobalSplitUAlgorithm: MultipleBuffer}"},
    {"sm_90", HGEMM, "{" MMA_H "}"},
    {"sm_90", HGEMM_TN, "{" MMA_H "}"},
    {"sm_90a", HGEMM,
     "{MatrixInstruction: [128, 64, 16, 1, 1, 1, 1, 1, 2], PersistentKernel: 1, PersistentKernelAlongBatch: "
     "true}"},
    {"sm_90a", HGEMM,
     "{MatrixInstruction: [128, 64, 16, 1, 1, 1, 2, 1, 1], ConsumerSchedule: PingPong, PersistentKernel: 1, "
     "PersistentKernelAlongBatch: true}"},
    {"sm_90a", HGEMM,
     "{MatrixInstruction: [128, 64, 16, 1, 1, 1, 1, 1, 2], ConsumerLag: 2, PersistentKernel: 1, "
     "PersistentKernelAlongBatch: true}"},
    {"sm_90a", HGEMM,
     "{MatrixInstruction: [64, 128, 16, 1], WorkGroup: [384, 1, 1], ThreadTile: [1, 1], PersistentKernel: 1, "
     "PersistentKernelAlongBatch: true, GlobalSplitU: 2, GlobalSplitUAlgorithm: MultipleBuffer}"},
    {"sm_90a", HGEMM,
     "{MatrixInstruction: [128, 64, 16, 1, 1, 1, 1, 1, 2], PersistentKernel: 1, PersistentKernelAlongBatch: "
     "true, GlobalSplitU: 4, GlobalSplitUAlgorithm: MultipleBufferSingleKernel}"},
    {"sm_90a",
     "{OperationType: ConvolutionForward, DataType: h, DestDataType: h, ComputeDataType: s, "
     "HighPrecisionAccumulate: true, UseBeta: false, Batched: true, ConvolutionConfig: [{TensorAFormat: "
     "NHWC}, "
     "{TensorBFormat: KYXC}, {TensorDFormat: NHWC}, {Filter: NxN}, {Stride: NxN}, {Dilation: NxN}, "
     "{PadStart: NxN}, {PadEnd: NxN}, {PackedSpatialDims: 0}, {PackedFilterDims: 0}]}",
     "{MatrixInstruction: [64, 128, 16, 1, 1, 1, 1, 1, 1], PersistentKernel: 1, PersistentKernelAlongBatch: "
     "true, PackBatchDims: 1, EngineStore: false}"},
    {"sm_90a", XGEMM,
     "{MatrixInstruction: [64, 128, 8, 1, 1, 1, 1, 1, 1], PersistentKernel: 1, PersistentKernelAlongBatch: "
     "true, RowsFromRegisters: true}"},
    {"sm_90a", XGEMM,
     "{MatrixInstruction: [64, 128, 8, 1, 1, 1, 1, 1, 1], PersistentKernel: 1, PersistentKernelAlongBatch: "
     "true, PackOperands: 1}"},
    {"sm_90a",
     "{DataType: F8, DestDataType: s, ComputeDataType: s, HighPrecisionAccumulate: true, Batched: true, "
     "TransposeA: true, TransposeB: false}",
     "{MatrixInstruction: [128, 64, 32, 1, 1, 1, 1, 1, 2], PersistentKernel: 1, PersistentKernelAlongBatch: "
     "true}"},
    {"sm_80", DGEMM, "{MatrixInstruction: [8, 8, 4, 1, 1, 4, 4, 2, 2], DepthU: 16, PrefetchGlobalRead: 3}"},
    {"sm_90", DGEMM, "{MatrixInstruction: [16, 8, 8, 1, 1, 2, 4, 2, 2], DepthU: 16, PrefetchGlobalRead: 3}"},
    {"sm_90", "{DataType: s, Batched: true, TransposeA: true, TransposeB: true}",
     "{" TILE ", NvRing: 1, PrefetchGlobalRead: 3}"},
    {"sm_90", XGEMM, "{" MMA_S "}"},
    {"sm_90", XGEMM, "{" MMA_S ", GlobalSplitU: 2}"},
    {"x86-64-v3", SGEMM, "{WorkGroup: [4, 8, 1], ThreadTile: [16, 4], DepthU: 32}"},
    {"x86-64-v3", SGEMM,
     "{WorkGroup: [4, 8, 1], ThreadTile: [16, 4], DepthU: 32, HostPackA: 0, HostPackB: 0}"},
    {"x86-64-v3", SGEMM, "{WorkGroup: [4, 8, 1], ThreadTile: [8, 4], DepthU: 32, GlobalSplitU: 2}"},
    {"x86-64-v3", SGEMM,
     "{WorkGroup: [4, 8, 1], ThreadTile: [8, 4], DepthU: 32, GlobalSplitU: 2, GlobalSplitUAlgorithm: "
     "MultipleBuffer}"},
    {"x86-64-v3", SGEMM,
     "{WorkGroup: [4, 8, 1], ThreadTile: [8, 4], DepthU: 32, AssertFree0ElementMultiple: 16, "
     "AssertFree1ElementMultiple: 4, AssertSummationElementMultiple: 32}"},
    {"x86-64-v3", SGEMM, "{WorkGroup: [4, 8, 1], ThreadTile: [8, 4], DepthU: 32, PersistentKernel: 1}"},
    {"x86-64-v3", SGEMM, "{WorkGroup: [4, 8, 1], ThreadTile: [8, 4], DepthU: 32, WorkGroupMapping: 1}"},
    {"x86-64-v3", HGEMM, "{WorkGroup: [4, 8, 1], ThreadTile: [16, 4], DepthU: 32}"},
};

#endif
