# tuner explain of convolutions whose pixels come to local memory once: the model's terms of a kernel with KeepWindow, which loads pixels
# before its main loop (fill), of one that makes lines of pixels (local, fill), and of plain wgmma. On the simulated device.
"$BIN/tuner-nvrtc" --version >/dev/null 2>why || { echo "skipped: $(cat why)"; exit; }
cat >conv.yaml <<'YAML'
GlobalParameters: {NumElementsToValidate: 0, MaxWorkspaceSize: 100000000}
BenchmarkProblems:
  - - {OperationType: ConvolutionForward, DataType: h, DestDataType: h, ComputeDataType: s, HighPrecisionAccumulate: True, UseBeta: False, Batched: True,
       ConvolutionConfig: [{TensorAFormat: NHWC}, {TensorBFormat: KYXC}, {TensorDFormat: NHWC}, {Filter: NxN}, {Stride: NxN}, {Dilation: NxN}, {PadStart: NxN},
         {PadEnd: NxN}, {PackedSpatialDims: 0}, {PackedFilterDims: 0}]}
    - BenchmarkCommonParameters: [StaggerU: [0], NvRing: [1], PackBatchDims: [1]]
      ForkParameters:
        - Groups:
          -
            - {MatrixInstruction: [16, 8, 16, 1, 1, 1, 8, 4, 1], KeepWindow: 90, DepthU: 64, PrefetchGlobalRead: 2, GlobalReadVectorWidth: 8}
            - {MatrixInstruction: [64, 64, 16, 1, 1, 1, 1, 1, 1], PackOperands: 7, PersistentKernel: 1, PersistentKernelAlongBatch: True}
            - {MatrixInstruction: [64, 64, 16, 1, 1, 1, 1, 1, 1], PersistentKernel: 1, PersistentKernelAlongBatch: True}
      BenchmarkFinalParameters: [ProblemSizes: [{Conv: {n: 16, c: 16, h: 32, w: 32, k: 64, y: 3, x: 3, u: 1, v: 1, l: 1, j: 1, p: 1, q: 1, p_: 1, q_: 1, g: 1}}]]
LibraryLogic: {ScheduleName: h200, DeviceNames: ["NVIDIA H200"], ArchitectureName: sm_90a}
YAML
"$BIN/tuner" --arch sm_90a --simulate conv.yaml out >log 2>&1; echo "exit $?"
"$BIN/tuner" explain out n=16,c=16,k=64,h=32,w=32,y=3,x=3,u=1,v=1,l=1,j=1,p=1,q=1,p_=1,q_=1,g=1 | sed -n '
  s/.*\(Cijkl_[A-Za-z_]*_MT\)/\1/; /^Cijkl_.*_MT/s/.*\(KW[0-9]*\).*\(PO[0-9]\).*/\1 \2/p; s/; the hardware.*//; /model: [0-9]/p; /us: math/p; /work-group/p' |
  grep -A3 '^KW'
