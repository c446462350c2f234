/* Offsets of n rows from `first` on, a number whose digits have those sizes (the first digit is the fastest) and
 * steps in memory. Returns whether each is one behind the row before. */
static int g_rows(int digits, const int64_t *size, const int64_t *step, int64_t first, int64_t n, int64_t *row)
{
    int64_t digit[g_DIGITS], at = 0;
    int line = 1;
    for (int d = 0; d < digits; d++) {
        digit[d] = d + 1 < digits ? first % size[d] : first;
        first = d + 1 < digits ? first / size[d] : 0;
        at += digit[d] * step[d];
    }
    for (int64_t i = 0; i < n; i++) {
        int64_t next = at + step[0];
        row[i] = at;
        digit[0]++;
        for (int d = 0; d + 1 < digits && digit[d] == size[d]; d++) {
            next += step[d + 1] - size[d] * step[d];
            digit[d] = 0;
            digit[d + 1]++;
        }
        line &= i + 1 == n || next == at + 1;
        at = next;
    }
    return line;
}

/* Completes the offsets of a panel of w rows to whole vectors. present: bits of the rows that there are; line[v]:
 * elements from each row of vector v to the next, 1 or 2; 0: they lie apart. */
static void g_panel(int vectors, int64_t w, int64_t *row, unsigned *present, int *line)
{
    for (int v = 0; v < vectors; v++) {
        int one = 1, two = 1;
        present[v] = 0;
        for (int i = v * g_VL; i < (v + 1) * g_VL; i++) {
            const int is_row = i < w, is_first = i % g_VL == 0 || !is_row;
            if (!is_row) row[i] = row[0];
            present[v] |= (unsigned)is_row << i % g_VL;
            one &= is_first || row[i] == row[i - 1] + 1;
            two &= is_first || row[i] == row[i - 1] + 2;
        }
        line[v] = one ? 1 : two ? 2 : 0;
    }
}
