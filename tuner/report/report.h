/* Reports out of the store: what `tuner status`, `explain` and `log` print. They read only. The winners
 * table at the end of a run is in winners.h. */
#ifndef TUNER_REPORT_H
#define TUNER_REPORT_H

#include <stdio.h>

#include "measure/result.h"

/* What is done, what failed and why, what remains. */
Err report_status(const char *outdir, FILE *f);
/* One size ("1024,1024,1,1024", also in brackets): who was tried, who won, by how much, why the others did
 * not. size NULL: the table of all sizes and their winners. */
Err report_explain(const char *outdir, const char *size, FILE *f);
/* Compiler output and faults of the kernels whose name or hash contains the text. */
Err report_log(const char *outdir, const char *kernel, FILE *f);

/* Counts and sentences of the rules that rejected solutions of a plan: lines of status and explain. */
Err rejections_print(Store *s, Arena *a, int64_t plan, FILE *f);

#endif
