/* Fuzz target of `tuner report` on CSV files: whatever is read can be written as JSON and as Markdown, and
 * compared with itself. */
#include "report/page.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_all(ReportData *d)
{
    Buf out;
    PageOptions o = {.reload_s = 5};
    buf_init(&out);
    report_json(d, &o, &out);
    report_md(d, 20, &out);
    for (size_t i = 0; i < out.n; i++)
        if (out.s[i] == '<') __builtin_trap();
    buf_fini(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ReportData d = {0};
    arena_init(&d.arena, (size_t)256 << 20);
    if (!data_csv_take(&d, "fuzz", NULL, (Str){(const char *)data, size}) && !report_data_finish(&d)) {
        if (data_compare(&d, &d, STR("fuzz"))) err_clear();
        write_all(&d);
    }
    report_data_fini(&d);
    return 0;
}
