/* Reports from the store: the output of `tuner status`, `tuner explain` and `tuner log`. The winners table at
 * the end of a run is in winners.h. */
#ifndef TUNER_REPORT_H
#define TUNER_REPORT_H

#include <stdio.h>

#include "measure/result.h"

/* Prints what is done, what failed and why, and what remains. */
Err report_status(const char *outdir, FILE *f);
/* Prints the candidates of one size ("1024,1024,1,1024", also in brackets): the winner, its lead, and why the
 * others did not win. size NULL: the table of all sizes and their winners. */
Err report_explain(const char *outdir, const char *size, FILE *f);
/* Prints compiler output and faults of the kernels whose name or hash contains the text. */
Err report_log(const char *outdir, const char *kernel, FILE *f);

/* The same three as one JSON document each. operand: the size, which may be NULL, or the kernel. */
typedef enum { REPORT_STATUS, REPORT_EXPLAIN, REPORT_LOG } ReportQuery;
Err report_query_json(ReportQuery what, const char *outdir, const char *operand, FILE *f);

/* Prints the sizes on which the winners of the second run are faster or slower than the first's, by comparing
 * their samples: the 95 % interval of the ratio lies beyond 1 - margin .. 1 + margin. ERR_FAILED, after
 * printing: a size is slower, or has no winner any more. ERR_INPUT: no size is in both. */
Err report_diff(const char *const outdir[2], double margin, FILE *f);

/* Prints how many solutions of a plan each rule rejected, with the rule's sentence for the first of them. */
Err rejections_print(Store *s, Arena *a, int64_t plan, FILE *f);

#endif
