/* Private to logic/merge*.c and diff.c: rows with tags, and tables of rows and of solutions. */
#ifndef LOGIC_MERGE_INTERNAL_H
#define LOGIC_MERGE_INTERNAL_H

#include "base/vec.h"
#include "logic/merge.h"

/* MFMA, alpha, beta, C != D */
enum { TAG_MFMA = 32, TAG_ALPHA = 8, TAG_BETA = 2, TAG_C_NEQ_D = 1 };
enum { SCALAR_TAG_ANY, SCALAR_TAG_ONE, SCALAR_TAG_NEG_ONE, SCALAR_TAG_ZERO };

typedef struct {
    const int64_t *size;
    int32_t n, line;
    unsigned tag;
    const LogicSolution *solution;
    double speed;
} MergeRow;

typedef VEC(MergeRow) MergeRows;

/* Hash table of rows by size and tag; it finds the last row that was put for a key. */
typedef struct {
    uint32_t *slot; /* row number + 1 */
    size_t n_slots, n;
} RowTable;
void row_table_fini(RowTable *t);
/* SIZE_MAX when there is none. */
size_t row_table_find(const RowTable *t, const MergeRows *rows, const MergeRow *key);
Err row_table_put(RowTable *t, const MergeRows *rows, size_t at);

/* Distinct solutions in order; append adds a duplicate too. */
typedef struct {
    VEC(const LogicSolution *) list;
    uint32_t *slot;
    size_t n_slots;
    bool with_type; /* nested problem types must be equal too */
} SolutionPool;
void solution_pool_fini(SolutionPool *p);
/* Position of the first equal one, which is added when there is none. */
Err solution_pool_add(SolutionPool *p, const LogicSolution *s, size_t *at);
/* Adds a solution even if there is an equal one, which is still found first. */
Err solution_pool_append(SolutionPool *p, const LogicSolution *s);

/* The rows of an input by the rules of a policy. */
Err merge_rows_tensile(Logic *l, const MergeOptions *o, MergeRows *rows);
Err merge_rows_best(Logic *l, const MergeOptions *o, MergeRows *rows, MergeReport *r, Buf *text);
/* The tags that are more general than tag; returns their number. */
int merge_general_tags(unsigned tag, unsigned out[8]);

/* MERGE_BEST: makes the texts of equal solutions of l equal: truth values and numbers get the types of their
 * rows in params.def, and nested problem types with the meaning of the original's get its text. */
Err merge_unify(const Logic *original, Logic *l);
/* Says in text what differs and is taken from the original. */
Err merge_check_same(const Logic *original, const Logic *increment, Buf *text);
Err merge_check_units(const Logic *original, const Logic *increment, const MergeRows *a, const RowTable *at,
                      const MergeRows *b);

/* By call of the workload: the speed of its size in the table; 0 without one, -1 when it asks for another
 * table. */
typedef struct {
    double *speed;
} MergeSpeeds;
Err merge_speeds(Arena *a, const Workload *w, const Logic *l, MergeSpeeds *out);
void merge_weigh(const Workload *w, const MergeSpeeds *before, const MergeSpeeds *after, MergeWeight *out);
void merge_weight_add(MergeWeight *sum, const MergeWeight *w);

void merge_say(Buf *text, const char *what, const MergeRow *row);

#endif
