/* Parameters in which the kernels of a group differ, read from their names, and what each value is worth. */
#ifndef REPORT_PARAMS_H
#define REPORT_PARAMS_H

#include "base/arena.h"

/* A value of a parameter. Its worth is judged on the sizes where a kernel with this value and one with
 * another were measured: the fastest kernel with the value against the fastest of all. */
typedef struct {
    Str text; /* "16"; "-" where the name has no such part */
    size_t n_kernels;
    size_t n_wins;      /* sizes whose winner has it */
    size_t n_sizes;     /* sizes on which it is judged */
    double mean_speed;  /* geometric mean of the speed over the winner's, 0 to 1; NAN: not judged */
    double worst_speed; /* the least of it */
} ReportValue;

typedef struct {
    Str name; /* "PrefetchGlobalRead"; "MT" and other letters that no parameter has, as they are */
    ReportValue *value;
    size_t n_values;
    int32_t *of; /* of each kernel: position in value */
} ReportParam;

/* Splits names such as TYPE_MT64x64x16_PGR2_K1 into parameters with Tensile's abbreviations. type: the part
 * before. Parameters that all names have with one value are left out. */
Err params_of_names(Arena *a, Str type, const Str *name, size_t n, ReportParam **out, size_t *n_out);

/* Fills in the worth of all values. SpeedsOfSize: parts of 10000 of the winner's speed, of each of the
 * n_kernels; NULL: unknown. WinnerOfSize: the winner's number; SIZE_MAX: there is none. */
typedef const int32_t *SpeedsOfSize(const void *ctx, size_t size);
typedef size_t WinnerOfSize(const void *ctx, size_t size);
Err params_effects(Arena *a, ReportParam *p, size_t n_params, size_t n_kernels, size_t n_sizes,
                   SpeedsOfSize *speed, WinnerOfSize *winner, const void *ctx);

#endif
