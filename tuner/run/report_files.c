/* `tuner report`. See report_files.h. */
#include "run/report_files.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/log.h"
#include "base/proc.h"
#include "report/page.h"
#include "report/trace.h"

enum {
    RELOAD_S = 3,    /* of the page of a run that is at work */
    LOAD_SHARE = 10, /* reading the store takes at most this part of the time while following */
    MD_SIZES = 40
};

static bool any_file(const Options *o)
{
    return o->report_html || o->report_xlsx || o->report_md || o->report_json || o->report_trace;
}

static Err text_write(const char *path, Buf *text)
{
    Err e = buf_check(text);
    if (!e && strcmp(path, "-")) e = file_write_unsynced(path, buf_view(text));
    if (!e && !strcmp(path, "-")) fwrite(text->s, 1, text->n, stdout);
    buf_reset(text);
    return e;
}

static Err texts_write(const Options *o, const ReportData *d, const PageOptions *page, Buf *text)
{
    if (o->report_html) {
        TRY(report_page(d, page, text));
        TRY(text_write(o->report_html, text));
    }
    if (o->report_json) {
        report_json(d, page, text);
        TRY(text_write(o->report_json, text));
    }
    if (o->report_trace) {
        TRY(report_trace((const char *const *)o->operand, (size_t)o->n_operands, text));
        TRY(text_write(o->report_trace, text));
    }
    if (o->report_md || !any_file(o)) {
        report_md(d, MD_SIZES, text);
        TRY(text_write(o->report_md ? o->report_md : "-", text));
    }
    return o->report_xlsx ? report_xlsx(d, o->report_xlsx) : ERR_OK;
}

/* *live: a run is at work. */
static Err write_once(const Options *o, int reload_s, bool *live)
{
    ReportData d;
    Buf text;
    ReportInputs in = {.path = o->operand,
                       .n_paths = (size_t)o->n_operands,
                       .before = o->report_before,
                       .log = o->log,
                       .n_logs = (size_t)o->n_logs,
                       .part = o->part};
    buf_init(&text);
    Err e = report_data_read(&d, &in);
    *live = !e && o->follow && report_data_live(&d) && !interrupted();
    PageOptions page = {.live = *live, .reload_s = reload_s};
    if (!e) e = texts_write(o, &d, &page, &text);
    buf_fini(&text);
    report_data_fini(&d);
    return e;
}

/* Waits, in short sleeps, so that the end of the run and Ctrl-C are seen soon. */
static void wait_for(const Options *o, double seconds)
{
    const uint64_t until = clock_ns() + (uint64_t)(seconds * 1e9);
    bool live = true;
    while (live && !interrupted() && clock_ns() < until) {
        usleep(100000);
        live = false;
        for (int i = 0; i < o->n_operands; i++) live |= store_at_work(o->operand[i]);
    }
}

Err report_files(const Options *o)
{
    bool live = true;
    int reload_s = RELOAD_S;
    for (size_t n = 0; live; n++) {
        const uint64_t start = clock_ns();
        TRY(write_once(o, reload_s, &live));
        const double took = (double)(clock_ns() - start) * 1e-9;
        if (LOAD_SHARE * took > reload_s) reload_s = (int)(LOAD_SHARE * took) + 1;
        if (live && !n && o->report_html)
            notice("%s: written again every %d s while a run is at work (Ctrl-C ends it)", o->report_html,
                   reload_s);
        if (live) wait_for(o, reload_s);
    }
    if (o->report_html) notice("report: %s", o->report_html);
    return ERR_OK;
}
