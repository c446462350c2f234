/* What the performance model says of a kernel on a size: its terms, which of them binds, what the hardware
 * allows. */
#ifndef REPORT_TERMS_H
#define REPORT_TERMS_H

#include <stdio.h>

#include "measure/result.h"

/* Prints the lines that follow a candidate's time in `tuner explain`: the terms of the model's prediction;
 * nothing for a kernel without numbers. measured_ns: its median; NAN: unknown. */
Err terms_print(Store *s, const PlanView *p, size_t candidate, const SizeRow *z, double measured_ns, FILE *f);
/* Where the rates come from: fitted in the run, or those of data sheets. */
Err terms_source_print(Store *s, const PlanView *p, FILE *f);

#endif
