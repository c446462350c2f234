/* Counts instructions, matrix instructions and multiply-adds in the main loops of a code object's kernels,
 * from its disassembly. Needs the toolchain's disassembler (AMD: llvm-objdump), which runs once per file.
 */
#ifndef BUILD_LOOPS_H
#define BUILD_LOOPS_H

#include "build/facts.h"
#include "build/toolchain.h"

/* Calls fn for each function of the file with the facts instructions, loop, loop_matrix and loop_fma; the
 * last three are 0 where there is no loop. Does nothing when the toolchain has no disassembler. text_path:
 * temporary file for the disassembly. */
Err code_loops(const Toolchain *t, const char *code_object, const char *text_path,
               Err (*fn)(void *user, Str symbol, const CodeFacts *f), void *user);

#endif
