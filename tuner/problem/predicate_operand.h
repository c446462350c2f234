/* The form of each predicate in files, for predicate_io.c, predicate_scan.c and predicate_write.c. */
#ifndef PROBLEM_PREDICATE_OPERAND_H
#define PROBLEM_PREDICATE_OPERAND_H

#include "problem/predicate.h"

typedef enum {
    OPERAND_NONE,
    OPERAND_INT,
    OPERAND_IDX_INT,
    OPERAND_IDX_RANGE,
    OPERAND_REAL,
    OPERAND_BOOL,
    OPERAND_FLAG, /* a bool that is true when it is left out */
    OPERAND_TYPES,
    OPERAND_TYPE,
    OPERAND_OP,
    OPERAND_LANG,
    OPERAND_UNIT,
    OPERAND_SCALAR,
    OPERAND_LOADLIM
} Operand;

typedef struct {
    const char *name;
    uint8_t n; /* length of name */
    Operand operand;
} PredRow;

extern const PredRow pred_rows[PRED_COUNT];
/* Names of values, by number. */
extern const char *const pred_languages[3], *const pred_units[3], *const pred_scalars[4];
extern const char *const pred_limit_keys[4];

#endif
