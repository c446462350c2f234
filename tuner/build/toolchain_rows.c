/* The table of toolchains. See toolchain.h and toolchain_row.h. */
#include <stdlib.h>
#include <string.h>

#include "build/toolchain_row.h"

/* By default compilers prefer 256-bit vectors on AVX-512. They split vectors that are wider than the level's
 * registers. -Wno-psabi: the calling convention of such vectors differs between levels, which does not matter
 * inside one file. */
static void host_flags(const Target *t, const char **args, size_t *n)
{
    if (t->vector_bits == 512) args[(*n)++] = "-mprefer-vector-width=512";
}

/* LLVM 15 knows gfx11 but encodes 16-bit operations on v128 and above wrongly. */
static const char *hip_unfit(const Target *t, const char *version)
{
    enum { FIT_FOR_GFX11 = 16 };
    const char *at = strstr(version, "clang version ");
    int major = at ? atoi(at + strlen("clang version ")) : 0;
    if (t->isa[0] < 11 || major >= FIT_FOR_GFX11) return NULL;
    return "LLVM before 16 encodes 16-bit operations of gfx11 wrongly";
}

static const ToolchainRow rows[] = {
    {.name = "cc",
     .programs = {"cc", "gcc", "clang"},
     .install_hint = "install gcc or clang",
     .source_suffix = ".c",
     .object_suffix = ".o",
     .headers = "#include <immintrin.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <string.h>\n",
     .fixed = {"-std=gnu11", "-O2", "-fPIC", "-pipe", "-fno-math-errno", "-fno-asynchronous-unwind-tables",
               "-Wno-psabi", "-c"},
     .output = {"-c"},
     .probe = {"-fsyntax-only", "-x", "c", "/dev/null"},
     .architecture_prefix = "-march=",
     .flags = host_flags,
     .link = {"-shared", "-Wl,-z,noexecstack", "-Wl,--build-id=none", "-lm"}},
    /* Objects are relocatable, and one call of the linker makes a code object of any number of them. '-S'
     * with '-emit-obj', because the driver would otherwise link and bundle each object in further processes.
     * All ROCm releases since 5 load version 4 of the code object. Objects of LLVM 18 and newer all define
     * __hip_cuid_. */
    {.name = "hip",
     .programs = {"clang++-22",
                  "clang-22",
                  "clang++-21",
                  "clang-21",
                  "clang++-20",
                  "clang-20",
                  "clang++-19",
                  "clang-19",
                  "clang++-18",
                  "clang-18",
                  "clang++-17",
                  "clang-17",
                  "clang++-16",
                  "clang-16",
                  "$ROCM_PATH/llvm/bin/clang++",
                  "/opt/rocm/llvm/bin/clang++",
                  "clang++-15",
                  "clang-15",
                  "clang++",
                  "clang",
                  "hipcc",
                  "$ROCM_PATH/bin/hipcc",
                  "/opt/rocm/bin/hipcc"},
     .install_hint = "install clang 16 or newer with lld, or ROCm",
     .version_word = "clang version",
     .source_suffix = ".hip",
     .object_suffix = ".o",
     .fixed = {"-x", "hip", "--cuda-device-only", "-nogpulib", "-nogpuinc", "-std=c++17", "-O3", "-w",
               "-mcode-object-version=4", "-fuse-cuid=none", "-Qunused-arguments", "-S", "-Xclang",
               "-emit-obj"},
     .output = {"-S", "-Xclang", "-emit-obj"},
     .probe = {"-fsyntax-only", "/dev/null"},
     .architecture_prefix = "--offload-arch=",
     .unfit = hip_unfit,
     /* Where sums take all 256 accumulation registers, each matrix instruction must write over its own sum.
      * LLVM's allocator finds such registers from the end of a block, but not from its beginning (gfx942 ZB
      * TN 128x128x8: 256 spilled registers, none with this). Other kernels are not better for it. */
     .marked_word = "/* sums fill the accumulation registers */",
     .marked = {"-mllvm", "-greedy-reverse-local-assignment=1"},
     .linker = "ld.lld",
     .disassembler = "llvm-objdump",
     .link = {"-shared", "--no-undefined", "--build-id=none", "--allow-multiple-definition"}},
    /* Whole programs, never linked: with -rdc=true a 128x128x16 sgemm of 128 registers takes 156 (CUDA 13.0).
     * Kernels that belong into one file are compiled together; their code is the same as alone. */
    {.name = "cuda",
     .programs = {"%/tuner-nvrtc", "%/../bin/tuner-nvrtc", "tuner-nvrtc"},
     .forced_word = "nvrtc",
     .install_hint = "install the CUDA toolkit: libnvrtc or nvcc",
     .version_word = "NVRTC ",
     .source_suffix = ".cu",
     .object_suffix = ".cubin",
     .fixed = {"-std=c++17", "-w"},
     .probe = {"--check"},
     .architecture_prefix = "-arch="},
    {.name = "cuda",
     .programs = {"nvcc", "$CUDA_HOME/bin/nvcc", "$CUDA_PATH/bin/nvcc", "/usr/local/cuda/bin/nvcc"},
     .install_hint = "install the CUDA toolkit: libnvrtc or nvcc",
     .version_word = "release",
     .source_suffix = ".cu",
     .object_suffix = ".cubin",
     .fixed = {"-std=c++17", "-w", "-cubin"},
     .probe = {"--dryrun", "-x", "cu", "/dev/null"},
     .architecture_prefix = "-arch="},
};

const ToolchainRow *toolchain_row_at(size_t i) { return i < sizeof rows / sizeof *rows ? &rows[i] : NULL; }
