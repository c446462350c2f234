/* The state of the logic reader and functions that its parts share. Private to logic/. */
#ifndef LOGIC_LOGIC_INTERNAL_H
#define LOGIC_LOGIC_INTERNAL_H

#include "base/vec.h"
#include "logic/logic.h"

typedef VEC(LogicRow) LogicRows;
typedef VEC(LogicSolution) LogicSolutions;

/* Elements of the list form. */
enum {
    LOGIC_AT_VERSION,
    LOGIC_AT_SCHEDULE,
    LOGIC_AT_ARCH,
    LOGIC_AT_DEVICES,
    LOGIC_AT_PROBLEM_TYPE,
    LOGIC_AT_SOLUTIONS,
    LOGIC_AT_ORDER,
    LOGIC_AT_TABLE,
    LOGIC_AT_RANGE,
    LOGIC_AT_TILES,
    LOGIC_AT_METRIC,
    LOGIC_AT_FP16ALT,
    LOGIC_AT_DISTANCE,
    LOGIC_AT_FP16ALT_ROUND,
    LOGIC_ELEMENTS_MAX
};

typedef struct {
    Arena *a;
    const char *name; /* of the document */
    const LogicReadOptions *options;
    Logic *l;
    LogicKeys keys;
    ProblemType *pt;
    int32_t key_length; /* size_key_length of pt */
    LogicSolutions solutions;
    LogicRows rows;
    uint32_t *slot; /* row number + 1 by size, for duplicates; n_slots is a power of two */
    size_t n_slots;
} LogicReader;

/* Element i of the list form. */
Err logic_take_element(LogicReader *r, size_t i, const Node *n);
Err logic_take_solution(LogicReader *r, const Node *n);
Err logic_add_solution(LogicReader *r, LogicSolution s);
/* Reads one key of a solution map, other than ProblemType; id PARAM_COUNT: the key has no row in the
 * table. */
Err logic_solution_key(Arena *a, ParamId id, const char *name, Str key, const Node *value,
                       LogicSolution *out);
void logic_solution_init(LogicSolution *s, const ProblemType *pt, int line);
/* Checks a row whose numbers were read, and adds it. size is copied. */
Err logic_add_row(LogicReader *r, const int64_t *size, int32_t n, int64_t solution, double speed, int line);

/* Reads the list form as PyYAML writes it, without a tree: splits elements at their dashes and scans
 * solutions and rows line by line. *done false: the text has another form or an error, and must be read as
 * YAML. */
Err logic_scan(LogicReader *r, Str text, bool *done);

/* Adds a kept key, sorted. In logic_solution.c. */
Err logic_solution_keep(Arena *a, Str key, const Node *value, LogicSolution *out);

#endif
