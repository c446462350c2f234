/* Writers of a report's data: JSON, the HTML page, Markdown, xlsx. */
#ifndef REPORT_PAGE_H
#define REPORT_PAGE_H

#include "report/data.h"

/* The JSON of a report (schema: tuner/README.md). live: the page is written again while a run goes on, and
 * reloads itself after reload_s seconds. */
typedef struct {
    bool live;
    int reload_s;
} PageOptions;
void report_json(const ReportData *d, const PageOptions *o, Buf *out);
/* One page with styles, script and data in it, which needs no network. Its content security policy allows
 * nothing but this style and this script, by their hashes. */
Err report_page(const ReportData *d, const PageOptions *o, Buf *out);
/* A summary for a pull request: at most max sizes. */
void report_md(const ReportData *d, size_t max, Buf *out);
/* ERR_INPUT where tuner was built without libxlsxwriter. */
Err report_xlsx(const ReportData *d, const char *path);

/* ---- numbers that several writers show ---- */

/* Part of the ceiling of a size that its winner reaches: by its operations and bytes, the lesser of the peak
 * rate and DRAM; NAN: unknown. */
double report_efficiency(const ReportGroup *g, const ReportSize *z);
/* Part of the application's time that the size takes; NAN: unknown. */
double report_share(const ReportData *d, const ReportSize *z);
/* Geometric mean of the ratios to the peer, or to the results before, weighted by calls where they are known.
 * NAN: there are none. counts: of slower, equal and faster sizes; without: of sizes without a ratio. */
typedef struct {
    double mean;
    size_t n, n_slower, n_equal, n_faster, n_without;
} RatioSummary;
typedef enum { RATIO_PEER, RATIO_BEFORE } RatioOf;
RatioSummary report_ratios(const ReportData *d, RatioOf of);
static inline const ReportOther *report_other(const ReportSize *z, RatioOf of)
{
    return of == RATIO_PEER ? &z->peer : &z->before;
}

#endif
