/* Main loops of the kernels in a code object, counted in its disassembly: instructions, matrix instructions,
 * multiply-adds. Needs the toolchain's disassembler (AMD: llvm-objdump); one run for all kernels of a file.
 * Used by the build step.
 */
#ifndef BUILD_LOOPS_H
#define BUILD_LOOPS_H

#include "build/facts.h"
#include "build/toolchain.h"

/* Calls fn per function of the file with the facts instructions, loop, loop_matrix and loop_fma, of which the
 * last three are 0 where there is no loop. Does nothing when the toolchain has no disassembler. text_path: a
 * file that is made for the disassembly and removed. */
Err code_loops(const Toolchain *t, const char *code_object, const char *text_path,
               Err (*fn)(void *user, Str symbol, const CodeFacts *f), void *user);

#endif
