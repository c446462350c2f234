/* View: how a GEMM operand's coordinates (row, column, ...) map to memory, as a chain of coordinate
 * transforms that ends in strides.
 *
 * A view starts as the tensor's own dimensions with their strides; each transform replaces some of the
 * current dimensions by others, until rows and columns are left. A plain GEMM operand is two passthroughs;
 * packed batch dimensions are a merge; the input of an implicit-GEMM convolution is pad, embed, merge. Sizes
 * and strides are names of variables, or numbers. A view answers with index expressions: the address of
 * (r, c), when it is inside the tensor, which coordinate is contiguous and how far. Owns nothing: texts must
 * outlive it.
 */
#ifndef INDEX_VIEW_H
#define INDEX_VIEW_H

#include "index/expr.h"

enum { VIEW_MAX_DIMS = 24, VIEW_MAX_STEPS = 16, VIEW_MAX_SIDE = 12 };

typedef enum {
    VIEW_PASSTHROUGH, /* one to one */
    VIEW_PAD,         /* upper = lower + left; param: left, right */
    VIEW_EMBED,       /* lower = sum param[i] * upper[i] + param[n_upper] */
    VIEW_MERGE,       /* one upper is several lower ones, the last fastest */
    VIEW_UNFOLD       /* a merge of lower ones that are contiguous: the address needs no division */
} ViewKind;

typedef struct {
    const char *name;
    const char *size;   /* name or number */
    const char *stride; /* memory dimensions only; "" else */
    bool down;          /* the address goes down along it */
} ViewDim;

typedef struct {
    ViewKind kind;
    int n_upper, n_lower;
    int upper[VIEW_MAX_SIDE], lower[VIEW_MAX_SIDE];
    int64_t param[VIEW_MAX_SIDE + 1];
} ViewStep;

typedef struct {
    int n_dims, n_steps, n_memory;
    ViewDim dim[VIEW_MAX_DIMS]; /* the first n_memory are the tensor's */
    ViewStep step[VIEW_MAX_STEPS];
} View;

/* ---- building ---- */

void view_init(View *v);
/* Adds a dimension of the tensor; -1 when the view is full. Call before any transform. */
int view_memory_dim(View *v, const char *name, const char *size, const char *stride);
/* Each returns the new upper dimension; -1 when the view is full. */
int view_pass(View *v, int lower, const char *name);
int view_pad(View *v, int lower, int64_t left, int64_t right, const char *name, const char *size);
int view_merge(View *v, const int *lower, int n, const char *name, const char *size);
int view_unfold(View *v, const int *lower, int n, const char *name, const char *size);
/* n upper dimensions from one lower one: lower = sum coef[i] * upper[i] + constant. upper gets the
 * dimensions. */
bool view_embed(View *v, int lower, const char *const *names, const char *const *sizes, const int64_t *coef,
                int n, int64_t constant, int *upper);
/* A tensor with contiguous rows (trans: columns) and leading dimension ld: dimensions 0 rows, 1 columns on
 * top. */
void view_matrix(View *v, const char *rows, const char *row_size, const char *cols, const char *col_size,
                 const char *ld, bool trans);

/* ---- queries ---- */

/* Top dimensions: those that no later transform replaced, in order of creation. Returns how many. */
int view_top(const View *v, int top[VIEW_MAX_DIMS]);

/* Slots of variables: coordinate i of view_top, then sizes and strides of the dimensions. */
enum {
    VIEW_COORD,
    VIEW_SIZE = VIEW_MAX_DIMS,
    VIEW_STRIDE = 2 * VIEW_MAX_DIMS,
    VIEW_SLOTS = 3 * VIEW_MAX_DIMS
};

/* Coordinate i of view_top as a variable of that name, inside the dimension. */
const Expr *view_coord(ExprPool *p, const View *v, int i, const char *name);
/* Element offset of the given top coordinates, in the order of view_top. */
const Expr *view_address(ExprPool *p, const View *v, const Expr *const *coord);
/* The same in a text that has the view's leading dimension, which is not a number, as `stride`. */
const Expr *view_address_by(ExprPool *p, const View *v, const Expr *const *coord, const Expr *stride);
/* Whether the view is a matrix with one leading dimension: two coordinates, each of which is a dimension of
 * the tensor. The address of a sum of coordinates is then the sum of their addresses. */
bool view_is_matrix(const View *v);
/* Condition under which these coordinates are inside the tensor's padded dimensions; 1 when they always
 * are. */
const Expr *view_guard(ExprPool *p, const View *v, const Expr *const *coord);
/* Top dimension whose next element is next in memory, and how many are; -1 when there is none. */
int view_contiguous(ExprPool *p, const View *v, const Expr **length);
/* The element offset of coordinates that are numbers, by the same expressions. False when a size or stride is
 * no number, or a coordinate is out of bounds. */
bool view_offset(const View *v, const int64_t *coord, int64_t *offset);
/* One line: "m <- pass(dim0) ...". */
void view_dump(const View *v, Buf *out);

#endif
