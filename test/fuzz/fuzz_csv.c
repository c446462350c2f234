/* Fuzz target of the CSV reader and writer: rows that are read, written and read again are the same. */
#include "fmt/csv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void row_check(Arena *a, const Str *cells, size_t n)
{
    Buf text;
    Csv c;
    Str *again;
    size_t n_again;
    buf_init(&text);
    for (size_t i = 0; i < n; i++) csv_cell(&text, i == 0, cells[i]);
    csv_end(&text);
    csv_init(&c, "again", buf_view(&text));
    if (csv_row(&c, a, &again, &n_again) || n_again != n) __builtin_trap();
    for (size_t i = 0; i < n; i++)
        if (!str_eq(cells[i], again[i])) __builtin_trap();
    if (csv_row(&c, a, &again, &n_again) || n_again) __builtin_trap();
    buf_fini(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena a;
    Csv c;
    Str *cells;
    size_t n;
    arena_init(&a, (size_t)256 << 20);
    csv_init(&c, "fuzz", (Str){(const char *)data, size});
    c.max_cells = 1000;
    while (!csv_row(&c, &a, &cells, &n) && n) row_check(&a, cells, n);
    arena_fini(&a);
    return 0;
}
