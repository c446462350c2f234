/* The table of architectures and its look-up. See target.h. */
#include "problem/target.h"

#include <string.h>

static const Target targets[] = {
#define TARGET(name, family, major, minor, step, wave, lds, cus, matrix, f8, bits, regs, toolchain)          \
    {name, TARGET_##family, {major, minor, step}, wave, lds, cus, MATRIX_ARCH_##matrix, F8_##f8, bits,       \
     regs, toolchain},
#include "problem/targets.def"
#undef TARGET
};
static const TargetRegisters registers[] = {
#define REGISTERS(name, vgprs, vgpr_granule, agprs, sgprs, sgpr_granule, waves, dot)                         \
    {name, vgprs, vgpr_granule, agprs, sgprs, sgpr_granule, waves, dot},
#include "problem/targets.def"
#undef REGISTERS
};
enum { N_TARGETS = sizeof targets / sizeof targets[0] };

const Target *target_at(size_t i) { return i < N_TARGETS ? &targets[i] : NULL; }

const TargetRegisters *target_registers(const Target *t)
{
    Str name = str_from(t->name), base = str_sub(name, 0, str_find(name, ':', 0));
    for (size_t i = 0; i < sizeof registers / sizeof registers[0]; i++)
        if (str_eq_c(base, registers[i].name)) return &registers[i];
    return NULL;
}

const Target *target_host_level(void)
{
    const char *name = "x86-64-v2";
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2")) {
        name = "x86-64-v3";
        if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
            __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
            __builtin_cpu_supports("avx512cd"))
            name = "x86-64-v4";
    }
#endif
    return target_find(str_from(name));
}

const Target *target_find(Str name)
{
    if (str_eq_c(name, "host")) return target_host_level();
    Str base = str_sub(name, 0, str_find(name, ':', 0));
    for (size_t i = 0; i < N_TARGETS; i++)
        if (str_eq_c(base, targets[i].name)) return &targets[i];
    return NULL;
}

bool target_is_called(const Target *t, Str architecture)
{
    if (str_eq_c(architecture, "host")) return t->family == TARGET_HOST;
    const Target *own = target_find(architecture);
    if (own == t) return true;
    return own && own->family == TARGET_NVPTX && t->family == TARGET_NVPTX && own->isa[0] == t->isa[0] &&
           own->isa[1] == t->isa[1];
}

/* Sources: the ISA documents; GFX11 has no such loads, CDNA4 those of 12 and 16 bytes. */
bool target_loads_to_local(const Target *t, int bytes)
{
    const bool wide = t->isa[0] == 9 && t->isa[1] >= 5;
    return t->family == TARGET_AMDGCN && t->isa[0] >= 8 && t->isa[0] <= 10 &&
           (bytes == 4 || (wide && (bytes == 12 || bytes == 16)));
}

const Target *target_of_isa(TargetFamily family, const int32_t isa[3])
{
    for (size_t i = 0; i < N_TARGETS; i++) {
        const Target *t = &targets[i];
        if (t->family == family && t->isa[0] == isa[0] && t->isa[1] == isa[1] && t->isa[2] == isa[2])
            return t;
    }
    return NULL;
}

static const TargetFamilyInfo families[] = {[TARGET_AMDGCN] = {.name = "amdgcn",
                                                               .code_suffix = ".hsaco",
                                                               .device = "hip",
                                                               .local_memory = "LDS",
                                                               .is_gpu = true,
                                                               .is_tensile = true,
                                                               .one_half_helper = true},
                                            [TARGET_NVPTX] = {.name = "nvptx",
                                                              .code_suffix = ".cubin",
                                                              .device = "cuda",
                                                              .local_memory = "shared memory",
                                                              .is_gpu = true,
                                                              .file_per_arch = true},
                                            [TARGET_HOST] = {.name = "host",
                                                             .code_suffix = ".so",
                                                             .device = "host",
                                                             .local_memory = "memory",
                                                             .one_half_helper = true}};

const TargetFamilyInfo *target_family(const Target *t) { return &families[t->family]; }

const char *target_code_suffix(const Target *t) { return target_family(t)->code_suffix; }

const char *target_family_name(TargetFamily family) { return families[family].name; }

bool target_runs(const Target *own, const Target *t)
{
    if (own == t) return true;
    if (!own || own->family != t->family) return false;
    if (t->family == TARGET_HOST) return t->isa[0] <= own->isa[0];
    return t->family == TARGET_NVPTX && t->isa[0] == own->isa[0] && t->isa[1] == own->isa[1];
}
