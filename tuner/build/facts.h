/* Facts: what a compiled kernel says of itself, read from its code object: registers, local memory, scratch,
 * spills, occupancy, size. AMD: metadata note and kernel descriptor; NVIDIA: the cubin's .nv.info.
 *
 * Code objects are untrusted: a damaged one, one of another architecture or without the kernel is ERR_INPUT
 * with the reason. Used by the build step, which records facts and refuses kernels by them.
 */
#ifndef BUILD_FACTS_H
#define BUILD_FACTS_H

#include "base/arena.h"
#include "problem/target.h"

/* One row per fact: name, what it is. -1: not known. */
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

void code_facts_init(CodeFacts *f); /* nothing known */
/* Of the kernel in an object or code object of t. */
Err code_facts_read(Arena *a, Str object, const Target *t, Str symbol, CodeFacts *out);
/* Why the target cannot run the kernel at all: ERR_INPUT with the numbers. */
Err code_facts_check(const CodeFacts *f, const Target *t);
/* Scratch or spilled vector registers (scalar ones spill to lanes of a vector register). */
bool code_facts_spill(const CodeFacts *f);

/* "vgpr=64 sgpr=30 ..." without what is not known; and back, unknown words left alone. */
void code_facts_print(const CodeFacts *f, Buf *out);
void code_facts_parse(Str text, CodeFacts *out);
/* Columns of a table: names, then values, -1 as an empty cell. */
const char *code_fact_name(size_t i); /* NULL behind the last */
int64_t code_fact(const CodeFacts *f, size_t i);

#endif
