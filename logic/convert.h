/* Changes a logic file without tuning: converts units of speeds, shortens or filters sizes, removes unused
 * solutions. */
#ifndef LOGIC_CONVERT_H
#define LOGIC_CONVERT_H

#include "logic/logic.h"

typedef enum { UNIT_AS_IS, UNIT_EFFICIENCY, UNIT_GFLOPS } SpeedUnit;
typedef enum {
    PEAK_BY_SOLUTIONS,
    PEAK_MATRIX,
    PEAK_VECTOR
} PeakUnit; /* by solutions: matrix if one uses it */

typedef enum { CMP_LT, CMP_LE, CMP_GT, CMP_GE, CMP_EQ, CMP_NE } SizeCompare;

/* "m>=1024", "k%64==0": a number of the size (m n b k, or ldd ldc lda ldb of long sizes), compared. */
typedef struct {
    int at;         /* position in the size */
    int64_t modulo; /* 0: the number itself */
    SizeCompare op;
    int64_t value;
} SizeCondition;

enum { CONDITIONS_MAX = 16 };

/* All conditions must hold. */
typedef struct {
    SizeCondition c[CONDITIONS_MAX];
    int n;
} SizePredicate;

/* "m>1000,n>1000": appended to p. */
Err size_predicate_parse(Str text, SizePredicate *p);
/* A size without the number that a condition asks for does not fulfil it. */
bool size_predicate_holds(const SizePredicate *p, const LogicRow *row);

typedef struct {
    SpeedUnit to;
    double sclk_mhz;     /* clock of the tuning; needed for units */
    Str arch;            /* row of the table; s NULL: that of the file's architecture or schedule */
    int n_cu;            /* 0: from the file, else from the parts of its DeviceNames, else from the table */
    int flops_per_cycle; /* of a compute unit; 0: of the table */
    PeakUnit peak;
    bool per_cu;        /* speeds are GFlops of one compute unit (CUEfficiency files always are) */
    bool trim;          /* sizes of 8 integers are cut to 4; of sizes that become equal the fastest is kept */
    bool remove_unused; /* removes solutions without a size and renumbers the others */
    bool reindex;       /* SolutionIndex := position */
    SizePredicate keep; /* only sizes that fulfil it are kept */
    SizePredicate remove; /* sizes that fulfil it are removed; without conditions none is */
} ConvertOptions;

typedef struct {
    double peak_gflops; /* 0: speeds stay */
    double highest;     /* speed of the result */
    size_t n_filtered, n_doubles, n_unused;
} ConvertReport;

/* Changes l; new parts are in the arena. An efficiency is rounded to 3 decimals, like in Tensile's
 * ConvertToEfficiency.py. */
Err logic_convert(Arena *a, Logic *l, const ConvertOptions *o, ConvertReport *r);

#endif
