/* HostText: what the files of this folder write a kernel's statements with. Integers of a host kernel are
 * int64_t, unless said otherwise; '@' in a name stands for the kernel's prefix (host_finish).
 */
#ifndef KERNEL_HOST_TEXT_H
#define KERNEL_HOST_TEXT_H

#include "kernel/host/plan.h"
#include "kernel/lower/stmt.h"

/* Operands, as in Program.view. */
typedef enum { HOST_A, HOST_B, HOST_C, HOST_D } HostOperand;

typedef struct {
    const HostPlan *p;
    const Program *program; /* NULL: of a helper kernel */
    const Op *loop;         /* over k, of the register tiles; host_check_tiles finds it */
    View view[4];           /* all matrices: view_is_matrix */
    int contiguous[4];      /* the coordinate of each, 0 its rows or 1 its columns, along which memory runs */
    Stmts s;
    int64_t at; /* of the next kernel argument */
} HostText;

/* Looks at the operands' views. ERR_INPUT names one that host kernels cannot walk. */
Err host_text_init(HostText *t, const HostPlan *p, const View view[4]);
void host_text_fini(HostText *t);

/* ---- integers ---- */

/* A variable of the text. */
const Expr *host_int(HostText *t, const char *name);
const Expr *host_number(HostText *t, int64_t n);
/* Elements of one part from the first one of an operand to (row, column), by its view. ld: the text's name
 * of the leading dimension. */
const Expr *host_address(HostText *t, HostOperand o, const char *ld, const Expr *row, const Expr *column);
/* The same of A or B by coordinates along M or N and along K. */
const Expr *host_address_k(HostText *t, HostOperand o, const char *ld, const Expr *side, const Expr *k);

/* ---- values ---- */

/* pointer + offset. */
const Value *host_plus(HostText *t, const char *pointer, const Expr *offset);
/* Element of the compute type in memory: pointer[offset]. */
const Value *host_element(HostText *t, const char *pointer, const Expr *offset);
/* `type name = base + offset`, a pointer. */
void host_pointer(HostText *t, const char *type, const char *name, const char *base, const Expr *offset);
/* The base of an operand's matrix z of a batch: of a strided batch, or of an array of pointers. name: of its
 * fields in @Args. type: of its elements. */
const Value *host_matrix(HostText *t, char name, const char *type, bool is_const, bool strided,
                         const char *z);
/* Names that the function does not use in every kernel. */
void host_unused(HostText *t, int n, const char *const *names);
#define HOST_UNUSED(t, ...)                                                                                  \
    host_unused(t, (int)(sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *)),                            \
                (const char *[]){__VA_ARGS__})
/* for (int64_t name = 0; name < limit; name += step) */
const Expr *host_loop(HostText *t, const char *name, const Expr *limit, int64_t step);

/* ---- kernel arguments, in the order of tensile-formats 8.3 and 8.4 ---- */

/* Statements that read the next one into a field of @Args g. */
void host_arg(HostText *t, const char *field, int bytes);
void host_arg_scalar(HostText *t, int first);
/* Leading dimension and, of a batched problem, batch stride. */
void host_arg_strides(HostText *t, char tensor);
void host_arg_sizes(HostText *t);

/* ---- parts of the text ---- */

/* Includes, scalar types and arguments: what helper kernels need too. */
void host_scalars(HostText *t);
void host_prelude(HostText *t);
void host_packs(HostText *t);
/* Finds the loop of the register tiles. ERR_INPUT: the program has none, or the tile is none that the target
 * can have; a planner has made sure of that, a program that was written by hand need not. */
Err host_check_tiles(HostText *t);
void host_tiles(HostText *t);
/* The function of a register tile of mv vectors and nr columns. */
const char *host_tile_name(HostText *t, bool masked, int mv, int nr);
void host_args(HostText *t);
void host_groups(HostText *t, Str symbol);
/* The exported function, open, and what the ABI has beside it. */
void host_open_kernel(HostText *t, Str symbol, int64_t local_bytes);
/* The statements as host_finish_program finishes them. */
Err host_finish(HostText *t, Str symbol, Buf *out);

#endif
