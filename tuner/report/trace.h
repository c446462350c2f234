/* When compilers, clients and measurements of runs worked, as a trace that ui.perfetto.dev and
 * chrome://tracing open (Trace Event Format, JSON object form). */
#ifndef REPORT_TRACE_H
#define REPORT_TRACE_H

#include "base/str.h"

/* Appends the trace of the runs in these directories; each is a process of the trace, with a track for the
 * program's steps, one for each compiler that worked at the same time, and two for each device: its client
 * processes and its measurements. ERR_INPUT: a path is no run's directory. */
Err report_trace(const char *const *outdir, size_t n, Buf *out);

#endif
