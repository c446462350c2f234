/* Answers of tuner-client as records. See answer.h. */
#include "client/answer.h"

#include <inttypes.h>

#include "fmt/csv.h"

static const char *const record_name[] = {"device", "closed", "absent", "peer", "error"};
static const char *const column_name[] = {"record",       "kind",   "index",        "name",
                                          "architecture", "n_cu",   "memory_bytes", "cache_bytes",
                                          "clock_mhz",    "driver", "text"};
enum {
    N_RECORDS = sizeof record_name / sizeof *record_name,
    N_COLUMNS = sizeof column_name / sizeof *column_name
};

void answer_begin(Buf *out)
{
    buf_printf(out, "tuner-answer,%d\n", ANSWER_VERSION);
    for (size_t i = 0; i < N_COLUMNS; i++) csv_cell(out, i == 0, str_from(column_name[i]));
    csv_end(out);
}

void answer_add(const AnswerRecord *r, Buf *out)
{
    const int64_t number[] = {r->n_cu, r->memory_bytes, r->cache_bytes, r->clock_mhz};
    csv_cell(out, true, str_from(record_name[r->record]));
    csv_cell(out, false, r->kind);
    csv_cell_f(out, false, "%" PRId64, r->index);
    csv_cell(out, false, r->name);
    csv_cell(out, false, r->arch);
    for (size_t i = 0; i < sizeof number / sizeof *number; i++) csv_cell_f(out, false, "%" PRId64, number[i]);
    csv_cell(out, false, r->driver);
    csv_cell(out, false, r->text);
    csv_end(out);
}

void answer_end(Buf *out)
{
    csv_cell(out, true, STR("end"));
    for (size_t i = 1; i < N_COLUMNS; i++) csv_cell(out, false, STR(""));
    csv_end(out);
}

static Err number_cell(const Csv *c, const Str *cell, size_t i, int64_t *out)
{
    if (!str_to_i64(cell[i], out) || *out < 0)
        FAIL(ERR_INPUT, "%s:%d: %s '%.*s' is not a number of at least 0", c->name, c->line, column_name[i],
             STR_ARG(str_sub(cell[i], 0, 40)));
    return 0;
}

static Err record_parse(const Csv *c, const Str *cell, AnswerRecord *r)
{
    size_t k = 0;
    while (k < N_RECORDS && !str_eq_c(cell[0], record_name[k])) k++;
    if (k == N_RECORDS)
        FAIL(ERR_INPUT, "%s:%d: unknown record '%.*s'", c->name, c->line, STR_ARG(str_sub(cell[0], 0, 40)));
    *r = (AnswerRecord){.record = (AnswerRecordKind)k,
                        .kind = cell[1],
                        .name = cell[3],
                        .arch = cell[4],
                        .driver = cell[9],
                        .text = cell[10]};
    int64_t *const number[] = {&r->n_cu, &r->memory_bytes, &r->cache_bytes, &r->clock_mhz};
    TRY(number_cell(c, cell, 2, &r->index));
    for (size_t i = 0; i < sizeof number / sizeof *number; i++) TRY(number_cell(c, cell, 5 + i, number[i]));
    return 0;
}

static Err head_parse(Csv *c, Arena *a)
{
    Str *cell;
    size_t n;
    int64_t version;
    TRY(csv_row(c, a, &cell, &n));
    if (n != 2 || !str_eq_c(cell[0], "tuner-answer") || !str_to_i64(cell[1], &version))
        FAIL(ERR_INPUT, "%s: this is no answer (its first line is not 'tuner-answer,%d')", c->name,
             ANSWER_VERSION);
    if (version != ANSWER_VERSION)
        FAIL(ERR_INPUT,
             "%s: version %" PRId64 ", expected %d: tuner and tuner-client are of different builds", c->name,
             version, ANSWER_VERSION);
    TRY(csv_row(c, a, &cell, &n));
    bool same = n == N_COLUMNS;
    for (size_t i = 0; same && i < N_COLUMNS; i++) same = str_eq_c(cell[i], column_name[i]);
    if (!same)
        FAIL(ERR_INPUT, "%s:%d: the columns are not those of version %d", c->name, c->line, ANSWER_VERSION);
    return 0;
}

Err answer_parse(Arena *a, Str text, AnswerRecord **out, size_t *n)
{
    Csv c;
    Str *cell;
    size_t n_cells;
    csv_init(&c, "answer of tuner-client", text);
    c.max_cells = N_COLUMNS;
    *n = 0;
    TRY_ALLOC(*out = ARENA_ARRAY(a, ANSWER_RECORDS_MAX, AnswerRecord));
    TRY(head_parse(&c, a));
    for (;;) {
        TRY(csv_row(&c, a, &cell, &n_cells));
        if (n_cells == 0) FAIL(ERR_INPUT, "%s:%d: it ends without the row 'end'", c.name, c.line);
        if (n_cells != N_COLUMNS)
            FAIL(ERR_INPUT, "%s:%d: %zu columns, expected %d", c.name, c.line, n_cells, N_COLUMNS);
        if (str_eq_c(cell[0], "end")) return 0;
        if (*n == ANSWER_RECORDS_MAX)
            FAIL(ERR_INPUT, "%s:%d: more than %d records", c.name, c.line, ANSWER_RECORDS_MAX);
        TRY(record_parse(&c, cell, &(*out)[*n]));
        ++*n;
    }
}

void answer_print(const AnswerRecord *r, Buf *out)
{
    switch (r->record) {
    case ANSWER_DEVICE:
        buf_printf(out, "%.*s %" PRId64 ": %.*s, %.*s, %" PRId64 " CUs", STR_ARG(r->kind), r->index,
                   STR_ARG(r->name), STR_ARG(r->arch), r->n_cu);
        if (r->memory_bytes) buf_printf(out, ", %.1f GiB", (double)r->memory_bytes / 0x1p30);
        if (r->cache_bytes) buf_printf(out, ", cache %.1f MiB", (double)r->cache_bytes / 0x1p20);
        if (r->clock_mhz) buf_printf(out, ", %" PRId64 " MHz", r->clock_mhz);
        if (r->driver.n) buf_printf(out, ", %.*s", STR_ARG(r->driver));
        break;
    case ANSWER_CLOSED:
        buf_printf(out, "%.*s %" PRId64 ": cannot be opened: %.*s", STR_ARG(r->kind), r->index,
                   STR_ARG(r->text));
        break;
    case ANSWER_ABSENT:
        buf_printf(out, "%.*s: none: %.*s", STR_ARG(r->kind), STR_ARG(r->text));
        break;
    case ANSWER_PEER:
    case ANSWER_ERROR:
        buf_str(out, r->text);
        break;
    }
}
