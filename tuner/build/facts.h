/* Facts of a compiled kernel, read from its code object: registers, local memory, scratch, spills, occupancy,
 * size. AMD: metadata note and kernel descriptor; NVIDIA: the cubin's .nv.info.
 *
 * Code objects are untrusted: a damaged one, one of another architecture or without the kernel is ERR_INPUT
 * with the reason.
 */
#ifndef BUILD_FACTS_H
#define BUILD_FACTS_H

#include "base/arena.h"
#include "problem/target.h"

/* One row per fact: name and meaning. A fact that is not known is -1. */
#define CODE_FACTS(F)                                                                                        \
    F(vgpr, "vector registers of a lane")                                                                    \
    F(agpr, "accumulation registers of a lane")                                                              \
    F(sgpr, "scalar registers of a wave")                                                                    \
    F(lds, "bytes of local memory")                                                                          \
    F(scratch, "bytes of scratch of a lane")                                                                 \
    F(vgpr_spills, "vector registers spilled")                                                               \
    F(sgpr_spills, "scalar registers spilled")                                                               \
    F(kernarg, "bytes of arguments")                                                                         \
    F(threads, "most threads of a work-group")                                                               \
    F(waves, "waves on a SIMD at once")                                                                      \
    F(bytes, "bytes of code")                                                                                \
    F(instructions, "instructions")                                                                          \
    F(loop, "instructions in the main loop")                                                                 \
    F(loop_matrix, "matrix instructions in the main loop")                                                   \
    F(loop_fma, "multiply-add instructions in the main loop")

typedef struct {
#define FACT_FIELD(name, help) int64_t name;
    CODE_FACTS(FACT_FIELD)
#undef FACT_FIELD
} CodeFacts;

void code_facts_init(CodeFacts *f); /* sets all facts to -1 */
/* Reads the facts of kernel `symbol` from an object or code object for t. */
Err code_facts_read(Arena *a, Str object, const Target *t, Str symbol, CodeFacts *out);
/* ERR_INPUT, with the numbers, when the kernel needs more than the target has. */
Err code_facts_check(const CodeFacts *f, const Target *t);
/* True for scratch memory or spilled vector registers. Scalar registers spill to lanes of vector registers
 * and do not count. */
bool code_facts_spill(const CodeFacts *f);

/* Prints the known facts as "vgpr=64 sgpr=30 ..."; parsing ignores unknown words. */
void code_facts_print(const CodeFacts *f, Buf *out);
void code_facts_parse(Str text, CodeFacts *out);
/* The i-th fact: its name and its value. */
const char *code_fact_name(size_t i); /* NULL after the last */
int64_t code_fact(const CodeFacts *f, size_t i);

#endif
