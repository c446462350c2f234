/* Contractions that are no GEMM: the views of their tensors (problem/indices.h), and the clause of a program
 * that has their indices:
 *
 *     contraction Contraction_lm_Ailkm_Bljkm_Cijk_Dijk pack 0 pack_sums 0 initial_ab 0 initial_cd 0 pad_a i l
 *
 * "arguments b a" behind it: the kernel's arguments have B first, because what the program calls A is the
 * problem's B (Indices.exchanged). "copies along outputs": Indices.outputs_first.
 *
 * A kernel of such a program has the sizes size_0, size_1, .. of all indices, the strides stride_a0, .. to
 * stride_d0, .. of the tensors' dimensions, and pad_start_a0, pad_end_a0, .. as variables. Views have three
 * coordinates: rows and columns of the matrix, and the batch.
 */
#ifndef KERNEL_CONTRACT_H
#define KERNEL_CONTRACT_H

#include "kernel/lower/stmt.h"
#include "kernel/program.h"
#include "problem/indices.h"

enum { CONTRACT_ROW, CONTRACT_COLUMN, CONTRACT_BATCH, CONTRACT_COORDS };

/* Where a text has the variables: prefix "t." for "t.size_0". s: keeps the names; NULL: names of the
 * program, without a prefix. */
typedef struct {
    Stmts *s;
    const char *prefix;
} ContractNames;

/* Sets *v to the view of tensor t (A, B, C, D). */
void contract_view(View *v, const Indices *x, int t, const ContractNames *names);
/* Groups of indices that are the rows and columns of tensor t. */
IndexGroup contract_side(int t, int coord);
/* Elements from coordinates 0 to these. */
const Expr *contract_offset(const Indices *x, int t, const ContractNames *names,
                            const Expr *const coord[CONTRACT_COORDS]);
/* The same from the tensor's first element: less the zero padding in front of A and B, behind what is in
 * front of the last element of mirrored indices. */
const Expr *contract_address(const Indices *x, int t, const ContractNames *names,
                             const Expr *const coord[CONTRACT_COORDS]);
/* 1 where those coordinates are inside the tensor's zero padding's bounds: elements outside are 0. */
const Expr *contract_inside(const Indices *x, int t, const ContractNames *names, const Expr *row,
                            const Expr *column);
/* The parts of contract_inside: elements are inside where start <= x < edge for each of the tensor's pads,
 * with x the sum of both coordinates' positions. coord: CONTRACT_ROW or CONTRACT_COLUMN, at its value. */
const Expr *contract_pad_position(const Indices *x, int t, const ContractNames *names, int pad, int coord,
                                  const Expr *at);
const Expr *contract_pad_start(const Indices *x, int t, const ContractNames *names, int pad);
const Expr *contract_pad_edge(const Indices *x, int t, const ContractNames *names, int pad);
/* Runs of a coordinate: neighbours that differ in its fastest index alone. That index (-1: none), and the
 * elements in memory from one to the next. */
int32_t contract_run_index(const Indices *x, int t, int coord);
const Expr *contract_run_step(const Indices *x, int t, const ContractNames *names, int coord);
/* Do runs of a coordinate lie in memory without gaps, where the tensor's first stride is 1, and none of them
 * partly in the zero padding? */
bool contract_runs(const Indices *x, int t, int coord);
/* The offset and the position along a pad of a group's digits, in the order of the group. */
const Expr *contract_digits_offset(const Indices *x, int t, const ContractNames *names, IndexGroup g,
                                   const Expr *const digit_of[]);
const Expr *contract_digits_position(const Indices *x, int t, const ContractNames *names, int pad,
                                     IndexGroup g, const Expr *const digit_of[]);
/* The size of an index, and its stride in a tensor. */
const Expr *contract_extent(const ContractNames *names, int32_t index);
const Expr *contract_index_stride(const Indices *x, int t, const ContractNames *names, int32_t index);
/* What a tensor's offset grows by from one value of the index to the next: its stride (0 where it does not
 * have it), mirrored less than 0. For lowerings that count a coordinate's digits up. */
const Expr *contract_index_step(const Indices *x, int t, const ContractNames *names, int32_t index);
/* Product of the sizes of a group. */
const Expr *contract_size(const Indices *x, IndexGroup group, const ContractNames *names);

/* An argument of the kernel that holds a size, a stride or a pad. */
typedef struct {
    const char *name;
    bool is_stride; /* products with it may need 64 bits */
    bool is_signed; /* a pad */
    bool is_unused; /* a number that Tensile's host passes to divide by */
} ContractArg;
enum { CONTRACT_ARGS_MAX = 160 };
/* The arguments from the strides of D to the zero pads, without the last size splits: GlobalSplitU
 * is above 1. Returns how many. */
int contract_args(const Indices *x, bool splits, ContractArg out[CONTRACT_ARGS_MAX]);

/* The clause of the program's text; reads the words behind "contraction". */
void contract_put(const Indices *x, Buf *out);
Err contract_read(const Str *word, int n, Indices *out);

#endif
