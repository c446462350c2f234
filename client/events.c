/* Writes and parses the event lines that events.h describes. */
#include "client/events.h"

#include <math.h>
#include <string.h>

#include "base/fs.h"

static const char *const kind_name[] = {"events", "env", "start", "valid", "sample", "end", "part", "done"};

static const char *const status_name[RUN_STATUS_COUNT] = {
    [RUN_PASSED] = "PASSED",
    [RUN_FAILED] = "FAILED",
    [RUN_INVALID] = "INVALID",
    [RUN_CRASHED] = "CRASHED",
    [RUN_TIMEOUT] = "TIMEOUT",
    [RUN_DID_NOT_SATISFY_ASSERTS] = "DID_NOT_SATISFY_ASSERTS",
    [RUN_WRONG_HARDWARE] = "WRONG_HARDWARE",
    [RUN_NO_CHECK] = "NO_CHECK",
    [RUN_SKIPPED] = "SKIPPED",
};

const char *run_status_name(RunStatus s) { return status_name[s]; }

const char *run_status_column(RunStatus s)
{
    if (s == RUN_CRASHED || s == RUN_TIMEOUT) return status_name[RUN_INVALID];
    if (s == RUN_SKIPPED) return status_name[RUN_NO_CHECK];
    return status_name[s];
}

bool run_status_good(RunStatus s) { return s == RUN_PASSED || s == RUN_NO_CHECK; }

static const char *const use_name[] = {"first", "final", "outlier"};

/* One line, no tabs: a reader splits on them. */
static void put_text(Buf *out, Str text)
{
    for (size_t i = 0; i < text.n; i++) {
        char c = text.s[i];
        buf_putc(out, c == '\t' || c == '\n' || c == '\r' || c == '\0' ? ' ' : c);
    }
}

void event_format(const Event *e, Buf *out)
{
    buf_puts(out, kind_name[e->kind]);
    if (e->kind == EVENT_VERSION) {
        buf_printf(out, "\t%d", EVENTS_VERSION);
    } else if (e->kind == EVENT_ENV) {
        buf_putc(out, '\t');
        put_text(out, e->key);
        buf_putc(out, '\t');
        put_text(out, e->value);
    } else if (e->kind != EVENT_PART && e->kind != EVENT_DONE) {
        buf_printf(out, "\t%lld\t%lld", (long long)e->p, (long long)e->s);
    }
    if (e->kind == EVENT_VALID)
        buf_printf(out, "\t%s\t%lld\t%.6g\t", status_name[e->status], (long long)e->checked, e->max_err);
    if (e->kind == EVENT_SAMPLE)
        buf_printf(out, "\t%lld\t%lld\t%llu", (long long)e->sync_no, (long long)e->n_enqueues,
                   (unsigned long long)e->total_ns);
    if (e->kind == EVENT_SAMPLE && e->state.round > 0)
        buf_printf(out, "\t%lld\t%.6g\t%.6g\t%.6g\t%u\t%s", (long long)e->state.round, e->state.clock_mhz,
                   e->state.power_w, e->state.temp_c, e->state.throttle, use_name[e->state.use]);
    if (e->kind == EVENT_END)
        buf_printf(out, "\t%s\t%lld\t%.10g\t%.10g\t%.10g\t", status_name[e->status], (long long)e->n,
                   e->median_ns, e->lo_ns, e->hi_ns);
    if (e->kind == EVENT_VALID || e->kind == EVENT_END) put_text(out, e->text);
    buf_putc(out, '\n');
}

Err event_write(int fd, const Event *e)
{
    Buf b;
    buf_init(&b);
    event_format(e, &b);
    Err err = buf_check(&b);
    if (!err) err = fd_write(fd, buf_view(&b), "events-fd");
    buf_fini(&b);
    return err;
}

static Err field_int(Str *rest, const char *what, int64_t min, int64_t *out)
{
    Str part;
    if (!str_split(rest, '\t', &part)) FAIL(ERR_INPUT, "event without %s", what);
    if (!str_to_i64(part, out) || *out < min)
        FAIL(ERR_INPUT, "event's %s '%.*s' is not a number of at least %lld", what, STR_ARG(part),
             (long long)min);
    return 0;
}

/* Accepts nan and inf too. */
static Err field_real(Str *rest, const char *what, double *out)
{
    Str part;
    if (!str_split(rest, '\t', &part)) FAIL(ERR_INPUT, "event without %s", what);
    if (str_eq_c(part, "nan") || str_eq_c(part, "-nan"))
        *out = NAN;
    else if (str_eq_c(part, "inf"))
        *out = INFINITY;
    else if (!str_to_f64(part, out))
        FAIL(ERR_INPUT, "event's %s '%.*s' is not a number", what, STR_ARG(part));
    return 0;
}

static Err field_status(Str *rest, RunStatus *out)
{
    Str part;
    if (!str_split(rest, '\t', &part)) FAIL(ERR_INPUT, "event without status");
    for (int i = 0; i < RUN_STATUS_COUNT; i++)
        if (str_eq_c(part, status_name[i])) {
            *out = (RunStatus)i;
            return 0;
        }
    FAIL(ERR_INPUT, "unknown status '%.*s' in event", STR_ARG(part));
}

static Err field_use(Str *rest, SampleUse *out)
{
    Str part;
    if (!str_split(rest, '\t', &part)) FAIL(ERR_INPUT, "event without the use of its sample");
    for (int i = 0; i < (int)(sizeof use_name / sizeof *use_name); i++)
        if (str_eq_c(part, use_name[i])) {
            *out = (SampleUse)i;
            return 0;
        }
    FAIL(ERR_INPUT, "unknown use '%.*s' of a sample", STR_ARG(part));
}

static Err parse_state(Str *rest, SampleState *out)
{
    int64_t bits;
    *out = (SampleState){0};
    if (!rest->s) return 0; /* no race */
    TRY(field_int(rest, "round", 1, &out->round));
    TRY(field_real(rest, "clock", &out->clock_mhz));
    TRY(field_real(rest, "power", &out->power_w));
    TRY(field_real(rest, "temperature", &out->temp_c));
    TRY(field_int(rest, "throttle bits", 0, &bits));
    if (bits > UINT32_MAX) FAIL(ERR_INPUT, "event's throttle bits %lld are more than 32", (long long)bits);
    out->throttle = (uint32_t)bits;
    return field_use(rest, &out->use);
}

static Err parse_numbers(Str *rest, Event *out)
{
    int64_t ns;
    TRY(field_int(rest, "problem index", 0, &out->p));
    TRY(field_int(rest, "solution index", -1, &out->s));
    switch (out->kind) {
    case EVENT_VALID:
        TRY(field_status(rest, &out->status));
        TRY(field_int(rest, "number of elements", 0, &out->checked));
        return field_real(rest, "error", &out->max_err);
    case EVENT_SAMPLE:
        TRY(field_int(rest, "sync number", 0, &out->sync_no));
        TRY(field_int(rest, "number of enqueues", 1, &out->n_enqueues));
        TRY(field_int(rest, "time", 0, &ns));
        out->total_ns = (uint64_t)ns;
        return parse_state(rest, &out->state);
    case EVENT_END:
        TRY(field_status(rest, &out->status));
        TRY(field_int(rest, "number of samples", 0, &out->n));
        TRY(field_real(rest, "median", &out->median_ns));
        TRY(field_real(rest, "lower bound", &out->lo_ns));
        return field_real(rest, "upper bound", &out->hi_ns);
    default:
        return 0;
    }
}

Err event_parse(Str line, Event *out)
{
    *out = (Event){.key = STR(""), .value = STR(""), .text = STR("")};
    Str rest = line, part;
    if (!str_split(&rest, '\t', &part)) FAIL(ERR_INPUT, "empty event");
    int kind = -1;
    for (int i = 0; i < (int)(sizeof kind_name / sizeof *kind_name); i++)
        if (str_eq_c(part, kind_name[i])) kind = i;
    if (kind < 0) FAIL(ERR_INPUT, "unknown event '%.*s'", STR_ARG(str_sub(part, 0, 40)));
    out->kind = (EventKind)kind;
    if (kind == EVENT_VERSION) {
        int64_t version;
        TRY(field_int(&rest, "version", 0, &version));
        if (version != EVENTS_VERSION)
            FAIL(ERR_INPUT,
                 "events of version %lld, expected %d: tuner and tuner-client are of different builds",
                 (long long)version, EVENTS_VERSION);
    } else if (kind == EVENT_ENV) {
        if (!str_split(&rest, '\t', &out->key) || !str_split(&rest, '\t', &out->value))
            FAIL(ERR_INPUT, "event 'env' without key and value");
    } else if (kind != EVENT_PART && kind != EVENT_DONE) {
        TRY(parse_numbers(&rest, out));
        if ((kind == EVENT_VALID || kind == EVENT_END) && !str_split(&rest, '\t', &out->text))
            FAIL(ERR_INPUT, "event '%s' without text", kind_name[kind]);
    }
    if (rest.s) FAIL(ERR_INPUT, "event '%s' has more than its fields", kind_name[kind]);
    return 0;
}
