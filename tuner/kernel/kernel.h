/* Kernels as text: from a derived Solution to one self-contained translation unit. The only header of kernel/
 * that the build, createlib and the pipeline need.
 *
 * Host ABI, fixed: the text defines, exported,
 *     void SYMBOL(const void *kernarg, const uint32_t grid[3], uint64_t first, uint64_t last, void *local);
 *     const uint64_t SYMBOL_local_bytes;
 * The function runs work-groups [first, last) of the linear id x + grid[0] * (y + grid[1] * z). kernarg is
 * the packed argument buffer of tensile-formats 8.3/8.4 in its Source form. local is SYMBOL_local_bytes of
 * memory of the calling thread, 64-byte aligned (2 MiB alignment and huge pages make packing faster), not
 * cleared, never shared. Work-groups may run on any threads in any order: where GlobalSplitU parts add to one
 * tile of D, part 0's work-group does them all.
 *
 * GPU ABI (amdgcn: HIP C++, nvptx: CUDA C++), fixed: the text defines the kernel SYMBOL with the arguments of
 * tensile-formats 8.3 (8.4 for helper kernels), in the Source or Assembly order as the solution's
 * KernelLanguage says, each with its natural alignment; client/runtime/launch.c makes the same bytes. Block
 * (product of WorkGroup, 1, 1), KERNEL_HELPER_GROUP for helper kernels; grids as launch.c. Dynamic local
 * memory is 0 unless the text defines `extern "C" __device__ const unsigned SYMBOL_dynamic_lds`. Code objects
 * cannot rename symbols, so GPU kernels are emitted with their real name; the unnamed text's hash is their
 * key. No includes: amdgcn text compiles with clang -x hip -nogpulib -nogpuinc, nvptx text with NVRTC or
 * nvcc.
 *
 * Text opens with tool version, full solution name and content hash; equal input gives equal bytes; texts of
 * several kernels may be concatenated into one translation unit (static names carry the content hash).
 * Host: compile with cc -O2 -fPIC -shared -march=<target name>.
 */
#ifndef KERNEL_KERNEL_H
#define KERNEL_KERNEL_H

#include "problem/problem.h"
#include "space/solution.h"
#include "problem/target.h"

/* Emits the kernel of s, which is derived and valid for t. ERR_INPUT: t's family has no lowering, or s has a
 * parameter that the lowering cannot honour. */
Err kernel_emit(const Solution *s, const Target *t, Str symbol, Buf *out);

/* Emits the kernel of a program in the text form that kernel_dump writes after the last pass. name: of the
 * file, for messages. ERR_INPUT: "name:line: what". */
Err kernel_emit_text(Str program, const char *name, Str symbol, Buf *out);

/* Emits the kernel of a program written by hand (kernel/hand.h) for t. ERR_INPUT: "name:line: what". */
Err kernel_emit_hand(Str program, const char *name, const Target *t, Str symbol, Buf *out);

/* Like kernel_emit, with a symbol made from the hash of the text: equal kernels give equal texts, whatever
 * name a library has for them. build_link gives them their names. */
enum { KERNEL_SYMBOL_BYTES = 48 };
Err kernel_emit_unnamed(const Solution *s, const Target *t, Buf *out, char symbol[KERNEL_SYMBOL_BYTES]);

/* Returns the hash in the header of a text that kernel_emit made. It covers everything that is compiled, but
 * not the solution's name. */
Str kernel_content(Str text);

/* Helper kernels of tensile-formats 8.4. ga: writes the workspace in the compute type (name with _GA). */
Err kernel_emit_beta_only(const ProblemType *pt, const Target *t, bool ga, Str symbol, Buf *out);
/* Reads the vector width (_VW2) and the number of reducers (_R<n>) from the symbol. The number of parts is an
 * argument of the kernel, so the name's unroll suffixes change nothing. The kernel for half serves two
 * compute types: helper_is_for_both. */
Err kernel_emit_post_gsu(const ProblemType *pt, const Target *t, Str symbol, Buf *out);
/* Emits the kernel that sets the flags of parts of tiles to 0 (Tensile's WSFlags). */
Err kernel_emit_flags(const ProblemType *pt, const Target *t, Str symbol, Buf *out);
/* Emits the copy kernel of PackOperands (problem/pack.h), which reads the size of elements from the symbol.
 * ERR_INPUT: the target's family has no such kernel. */
Err kernel_emit_pack(const ProblemType *pt, const Target *t, Str symbol, Buf *out);

/* Prints the program as text after the named pass ("build", "distribute", "pipeline", "edges"), after the
 * last one when pass is "", after each under a heading when it is "all"; the kernel's text when it is "text";
 * whether the program's text gives the same kernel when it is "check". ERR_INPUT names the passes
 * there are. */
Err kernel_dump(const Solution *s, const Target *t, Str pass, Buf *out);

/* Work-items in a work-group of a helper kernel. */
enum { KERNEL_HELPER_GROUP = 256 };

#endif
