/* HostText: the state with which the files of this folder build a kernel's statements. Integers of a host
 * kernel are int64_t unless said otherwise; '@' in a name stands for the kernel's prefix (host_finish). */
#ifndef KERNEL_HOST_TEXT_H
#define KERNEL_HOST_TEXT_H

#include "kernel/contract.h"
#include "kernel/host/plan.h"
#include "kernel/lower/stmt.h"

/* Operands, as in Program.view. */
typedef enum { HOST_A, HOST_B, HOST_C, HOST_D } HostOperand;

typedef struct {
    const HostPlan *p;
    const Program *program; /* of a helper kernel: the ops on a sum */
    const Indices *indices; /* of a contraction, dims.c; NULL: a GEMM */
    const Op *loop;         /* over k, of the register tiles; host_check_tiles finds it */
    View view[4];           /* all matrices: view_is_matrix */
    int contiguous[4];      /* the coordinate of each, 0 its rows or 1 its columns, along which memory runs */
    Stmts s;
    int64_t at; /* of the next kernel argument */
    int digits; /* of a contraction: indices of its group that has most, at least 1 */
} HostText;

/* Reads the operands' views. ERR_INPUT names one that host kernels cannot address. */
Err host_text_init(HostText *t, const HostPlan *p, const View view[4]);
void host_text_fini(HostText *t);

/* ---- integers ---- */

/* Returns a variable of the text. */
const Expr *host_int(HostText *t, const char *name);
const Expr *host_number(HostText *t, int64_t n);
/* Returns the offset of (row, column) in an operand by its view, in elements of one part. ld: name of the
 * leading dimension in the text. */
const Expr *host_address(HostText *t, HostOperand o, const char *ld, const Expr *row, const Expr *column);
/* Does the same for A or B with coordinates along M or N and along K. */
const Expr *host_address_k(HostText *t, HostOperand o, const char *ld, const Expr *side, const Expr *k);

/* ---- values ---- */

/* pointer + offset. */
const Value *host_plus(HostText *t, const char *pointer, const Expr *offset);
/* Element of the compute type in memory: pointer[offset]. */
const Value *host_element(HostText *t, const char *pointer, const Expr *offset);
/* `type name = base + offset`, a pointer. */
void host_pointer(HostText *t, const char *type, const char *name, const char *base, const Expr *offset);
/* Returns the base of matrix z of an operand's batch, which is strided or an array of pointers. name: of its
 * fields in @Args. type: of its elements. */
const Value *host_matrix(HostText *t, char name, const char *type, bool is_const, bool strided,
                         const char *z);
/* Marks names as used, so that compilers do not warn in kernels that need none of them. */
void host_unused(HostText *t, int n, const char *const *names);
#define HOST_UNUSED(t, ...)                                                                                  \
    host_unused(t, (int)(sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *)),                            \
                (const char *[]){__VA_ARGS__})
/* for (int64_t name = 0; name < limit; name += step) */
const Expr *host_loop(HostText *t, const char *name, const Expr *limit, int64_t step);

/* ---- kernel arguments, in the order of tensile-formats 8.3 and 8.4 ---- */

/* Emits statements that read the next argument into a field of @Args g. */
void host_arg(HostText *t, const char *field, int bytes);
/* The same into any variable; NULL: the argument is not read. */
void host_arg_to(HostText *t, const char *variable, int bytes);
void host_arg_scalar(HostText *t, int first);
/* Reads a leading dimension and, in batched problems, the batch stride. */
void host_arg_strides(HostText *t, char tensor);
void host_arg_sizes(HostText *t);
/* Those of fused operations, as problem/fused.h has them. */
void host_fused_args(HostText *t);

/* ---- contractions that are no GEMM: dims.c ---- */

/* Emits @Dims: @Args with sizes, strides and pads behind. */
void host_dims_struct(HostText *t);
/* Reads the arguments from the strides of D to the zero pads; sets m, n, batch and k. */
void host_dims_args(HostText *t);
/* Emits @pack_a, @pack_b, @finish: they take the tensors' first elements in the matrix of the batch, and
 * rows and columns of D, or elements of K, counted from the first. */
void host_dims_packs(HostText *t);
void host_dims_finish(HostText *t);
/* Elements from a tensor's first one to matrix z of its batch. name: of the variable with the dims. */
const Expr *host_dims_matrix(HostText *t, HostOperand o, const char *z);
/* Makes `x`, a pointer to the dims, of g. */
void host_dims_open(HostText *t);
/* Digits of a group: its indices, or one of size 1. */
int host_dims_digits(const IndexList *l);
/* Declares an array of the sizes of a group's digits. */
void host_dims_sizes(HostText *t, const char *name, const IndexList *l);
/* What an operand's offset grows by with an index; pad >= 0: the position of that zero pad. */
const Expr *host_dims_step(HostText *t, HostOperand o, int32_t index, int pad);
/* Declares `taps`, their places `tap_at` in an operand and in its zero pads, and the steps of K's digits
 * there, `step_sum`. rows: the array for the taps' numbers of elements. */
void host_dims_taps(HostText *t, HostOperand o, const char *rows);
/* Are results stored as vectors where rows follow each other? */
bool host_dims_stores_lines(const HostPlan *p);

/* ---- HostDirectConv, rows of columns: runs.c ---- */

/* Emits the types and functions of rows; @pack_b; @finish. */
void host_runs_text(HostText *t);
void host_runs_pack(HostText *t);
void host_runs_finish(HostText *t);
/* Declares `depth`, the elements of K of a chunk, and `runs`, the tables in local memory. */
void host_runs_open(HostText *t);
/* Opens the loops over the pieces of rows that register tiles have; two blocks. */
void host_runs_columns(HostText *t);
/* Emits a register tile of a piece. */
void host_runs_tile(HostText *t);
/* Opens the loop over taps around a register tile's loop over k, and closes it. */
void host_runs_taps_open(HostText *t);
void host_runs_taps_close(HostText *t);
/* The place of the tables, behind the sums, and their preparation. */
const Value *host_runs_tables(HostText *t);

/* ---- blocks that stay packed: keep.c ---- */

bool host_keeps(const HostText *t, HostOperand o);
/* Emits @keep and what it needs, where the plan keeps blocks. */
void host_keep_text(HostText *t);
/* Returns the name of the present packed block of A or B in the text. */
const char *host_keep_buffer(const HostText *t, HostOperand o);
/* Emits the search for the present block, and opens the statements for when it is not packed yet. */
void host_keep_open(HostText *t, HostOperand o);

/* Returns the number of chunks of K. */
const Expr *host_chunks(HostText *t);
/* Returns where the panel of A of a register tile begins in its packed block. */
const Expr *host_panel_of_a(HostText *t);
/* Returns row of D where the register tile begins, in the work-group's tile. */
const Expr *host_tile_row(HostText *t);

/* ---- parts of the text ---- */

/* Emits includes, scalar types and arguments, which helper kernels need too. */
void host_scalars(HostText *t);
void host_prelude(HostText *t);
/* Emits @result, an element of D of a sum v and an element of C, and @store_result, which stores it; by the
 * ops of the epilogue. */
void host_result(HostText *t);
void host_packs(HostText *t);
/* Finds the loop of the register tiles. ERR_INPUT: the program has none, or the target cannot have a tile of
 * that shape. The planner ensures both; a program that was read from text need not. */
Err host_check_tiles(HostText *t);
void host_tiles(HostText *t);
/* Returns the name of the function of a register tile of mv vectors and nr columns. */
const char *host_tile_name(HostText *t, bool masked, int mv, int nr);
void host_args(HostText *t);
/* Declares `m1`, `n1`, the first row and column of a tile of D, and `mt`, `nt`, its sides inside D. */
void host_group_tile(HostText *t);
/* Prints the functions of parts of the K of a tile, behind @group: parts.c. */
void host_parts_text(HostText *t);
/* Prints the function of one work-group: tile (wg0, wg1) of D, one part of K. */
void host_group_function(HostText *t);
void host_groups(HostText *t, Str symbol);
/* Opens the exported function, after the constants that the ABI has beside it. */
void host_open_kernel(HostText *t, Str symbol, int64_t local_bytes);
/* Appends the statements as a complete text, like host_finish_program. */
Err host_finish(HostText *t, Str symbol, Buf *out);

#endif
