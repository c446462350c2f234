/* Target: an architecture: family, ISA, wave size, LDS, registers. Each is one row of targets.def. Properties
 * of a device (CUs, clocks, memory) come from client/device.
 */
#ifndef MODEL_TARGET_H
#define MODEL_TARGET_H

#include "base/str.h"
#include "problem/datatype.h"

typedef enum { TARGET_AMDGCN, TARGET_NVPTX, TARGET_HOST } TargetFamily;
/* Architectures that differ in their matrix instructions: columns of matrix_inst.def. */
typedef enum {
    MATRIX_ARCH_NONE = 0,
    MATRIX_ARCH_GFX908 = 1,
    MATRIX_ARCH_GFX90A = 2,
    MATRIX_ARCH_GFX940 = 4,
    MATRIX_ARCH_GFX11 = 8,
    MATRIX_ARCH_GFX12 = 16,
    MATRIX_ARCH_SM80 = 32,
    MATRIX_ARCH_SM90 = 64,
    MATRIX_ARCH_SM90A = 128,
    MATRIX_ARCH_GFX950 = 256
} MatrixArch;

typedef struct {
    const char *name; /* "gfx90a", "sm_90", "x86-64-v4" */
    TargetFamily family;
    int isa[3];    /* gfx90a: 9,0,10; sm_90: 9,0,0; x86-64-v4: 4,0,0 */
    int wave_size; /* native wave size; 1 on the host */
    int lds_bytes; /* 0 on the host: local memory is a buffer of any size */
    int n_cu;      /* of the largest part; 0 on the host: ask the machine */
    MatrixArch matrix;
    F8Format f8;     /* of F8 and B8 in kernels for it; F8_NONE: it has no such kernels */
    int vector_bits; /* of one vector register: of a lane on GPUs, of the machine on the host */
    int n_vector_regs;
    const char *toolchain; /* "hip", "cuda", "cc" */
} Target;

enum { DOT_F16 = 1, DOT_BF16 = 2, DOT_I8 = 4 };

/* Registers of an AMD processor's SIMD. */
typedef struct {
    const char *name;
    int vgprs, vgpr_granule; /* vector registers per lane, with accumulation registers, of all waves */
    int agprs;               /* those that only accumulate; 0: none, or a unified file */
    int sgprs, sgpr_granule; /* scalar registers, shared by all waves; 0: each wave has the maximum */
    int waves;               /* most waves of a SIMD */
    int dot;                 /* DOT_ bits: dot product instructions */
} TargetRegisters;
/* NULL for targets of other families. */
const TargetRegisters *target_registers(const Target *t);

/* Whether buffer loads of that many bytes can write local memory themselves (the lds modifier). */
bool target_loads_to_local(const Target *t, int bytes);

/* The row of that name; "host" is this machine's level; features after ':' ("gfx90a:xnack-") are ignored.
 * NULL when unknown. */
const Target *target_find(Str name);
/* Whether a config's ArchitectureName means this target: its name, that of a variant of the same NVIDIA GPU
 * (sm_90 and sm_90a), or "host" for a CPU. */
bool target_is_called(const Target *t, Str architecture);
/* The family's row of an ISA version, {9, 0, 10}; NULL when unknown. */
const Target *target_of_isa(TargetFamily family, const int32_t isa[3]);
/* Rows in table order; NULL after the last. */
const Target *target_at(size_t i);
/* The highest x86-64 level that this machine and its system support. */
const Target *target_host_level(void);
/* Suffix of its code object files: ".so", ".cubin", ".hsaco" (createlib also writes ".co"). */
const char *target_code_suffix(const Target *t);
/* "amdgcn", "nvptx", "host". */
const char *target_family_name(TargetFamily family);

/* Facts of a family for code that serves all families. What differs in a kernel's text is in the family's
 * folder below kernel/. */
typedef struct {
    const char *name;         /* "amdgcn" */
    const char *code_suffix;  /* of a file with kernels */
    const char *device;       /* kind of device that runs them: "hip", "cuda", "host" */
    const char *local_memory; /* the vendor's word for memory of a work-group */
    bool is_gpu;        /* kernels are code objects with facts of their own, loaded by a driver; else they are
                      * functions of a shared object, which are renamed when they are linked */
    bool is_tensile;    /* Tensile makes kernels for it: settings of its compilers and kernels count */
    bool file_per_arch; /* one merged file cannot have code of several architectures */
    bool one_half_helper; /* a helper kernel that reduces to half serves both compute types */
} TargetFamilyInfo;
const TargetFamilyInfo *target_family(const Target *t);
/* Whether a device of architecture `own` runs kernels of `t`: a CPU those of lower levels, an NVIDIA GPU
 * those of its compute capability with and without architecture-specific instructions (sm_90 and sm_90a). */
bool target_runs(const Target *own, const Target *t);

#endif
