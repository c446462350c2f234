/* Work-group order as kernel arguments: two 32-bit words that follow Tensile's arguments, and precede those
 * of fused operations (problem/fused.h), in kernels whose WorkGroupMappingDim is 0 or 1. index/walk.h has the
 * expressions that kernels compute from them.
 *
 *   first word    bits 0..15 WorkGroupMapping, 16..21 WorkGroupMappingXCC, 22..31 WorkGroupMappingXCCGroup
 *   second word   WorkGroupMappingXCCChunk
 *
 * The first is laid out as internalArg1 of TensileLite's argument version 2.
 */
#ifndef PROBLEM_MAPPING_H
#define PROBLEM_MAPPING_H

#include <stddef.h>
#include <stdint.h>

enum { MAPPING_WGM_MAX = 1024, MAPPING_XCC_MAX = 32, MAPPING_GROUP_MAX = 1023, MAPPING_CHUNK_MAX = 255 };

/* The numbers of an order. dies 1: ids are not regrouped. group and chunk 0: none; they exclude each
 * other. */
typedef struct {
    int32_t wgm, dies, group, chunk;
} Mapping;

/* NULL when kernels accept the numbers, else the reason: "WorkGroupMapping is not 1 to 1024". */
static inline const char *mapping_fault(const Mapping *m)
{
    if (m->wgm < 1 || m->wgm > MAPPING_WGM_MAX) return "WorkGroupMapping is not 1 to 1024";
    if (m->dies < 1 || m->dies > MAPPING_XCC_MAX) return "WorkGroupMappingXCC is not 1 to 32";
    if (m->group < 0 || m->group > MAPPING_GROUP_MAX) return "WorkGroupMappingXCCGroup is not 0 to 1023";
    if (m->chunk < 0 || m->chunk > MAPPING_CHUNK_MAX) return "WorkGroupMappingXCCChunk is not 0 to 255";
    if (m->group % m->dies) return "WorkGroupMappingXCCGroup is not a multiple of WorkGroupMappingXCC";
    if (m->group && m->chunk)
        return "there are both a WorkGroupMappingXCCGroup and a WorkGroupMappingXCCChunk";
    return NULL;
}

static inline uint32_t mapping_word(const Mapping *m)
{
    return (uint32_t)m->group << 22 | (uint32_t)m->dies << 16 | (uint32_t)m->wgm;
}
static inline uint32_t mapping_chunk_word(const Mapping *m) { return (uint32_t)m->chunk; }
/* The numbers of both words. */
static inline Mapping mapping_of_words(uint32_t word, uint32_t chunk_word)
{
    return (Mapping){.wgm = (int32_t)(word & 0xffff),
                     .dies = (int32_t)(word >> 16 & 63),
                     .group = (int32_t)(word >> 22),
                     .chunk = (int32_t)chunk_word};
}

#endif
