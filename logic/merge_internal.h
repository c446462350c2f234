/* What the parts of merge share: rows with tags, and tables of rows and of solutions. */
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

/* Rows by size and tag; the last row that was put for a key is found. */
typedef struct {
    uint32_t *slot; /* row number + 1 */
    size_t n_slots, n;
} RowTable;
void row_table_fini(RowTable *t);
/* SIZE_MAX when there is none. */
size_t row_table_find(const RowTable *t, const MergeRows *rows, const MergeRow *key);
Err row_table_put(RowTable *t, const MergeRows *rows, size_t at);

/* Solutions without doubles, in order; append keeps doubles of one file apart. */
typedef struct {
    VEC(const LogicSolution *) list;
    uint32_t *slot;
    size_t n_slots;
    bool with_type; /* nested problem types must be equal too */
} SolutionPool;
void solution_pool_fini(SolutionPool *p);
/* Position of the first equal one, which is added when there is none. */
Err solution_pool_add(SolutionPool *p, const LogicSolution *s, size_t *at);
/* Added even if there is an equal one; that is found first. */
Err solution_pool_append(SolutionPool *p, const LogicSolution *s);

/* Of both inputs: the rows a policy sees. */
Err merge_rows_tensile(Logic *l, const MergeOptions *o, MergeRows *rows);
Err merge_rows_best(Logic *l, const MergeOptions *o, MergeRows *rows, MergeReport *r, Buf *text);
/* More general tags than tag, itself not among them; returns how many. */
int merge_general_tags(unsigned tag, unsigned out[8]);

/* MERGE_BEST: equal solutions of l become equal texts: truth values and numbers as their rows in params.def,
 * nested problem types that mean the original's as it is written there. */
Err merge_unify(const Logic *original, Logic *l);
Err merge_check_same(const Logic *original, const Logic *increment);
Err merge_check_units(const Logic *original, const Logic *increment, const MergeRows *a, const RowTable *at,
                      const MergeRows *b);

void merge_say(Buf *text, const char *what, const MergeRow *row);

#endif
