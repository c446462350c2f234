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
    for (int64_t i = 0; i < n;) {
        int64_t run = n - i, last;
        if (digits > 1 && run > size[0] - digit[0]) run = size[0] - digit[0];
        for (int64_t q = 0; q < run; q++) row[i + q] = at + q * step[0];
        last = at + (run - 1) * step[0];
        line &= run == 1 || step[0] == 1;
        if ((i += run) == n) break;
        at += step[1] - digit[0] * step[0];
        digit[0] = 0;
        digit[1]++;
        for (int d = 1; d + 1 < digits && digit[d] == size[d]; d++) {
            at += step[d + 1] - size[d] * step[d];
            digit[d] = 0;
            digit[d + 1]++;
        }
        line &= at == last + 1;
    }
    return line;
}

/* How the rows of a vector lie in memory: in n pieces, in each of them one `step` (1 to g_APART) behind the other; step
 * 0: otherwise. A piece has the lanes of its bits, and `at` is where lane 0 would be if it belonged to the piece. */
enum { g_PIECES = 4, g_APART = 4 };
typedef struct {
    int step, n;
    unsigned lanes[g_PIECES];
    int64_t at[g_PIECES];
} g_Line;

static int g_pieces(const int64_t *row, int64_t w, int step, g_Line *line)
{
    *line = (g_Line){.step = step};
    for (int i = 0; i < g_VL && i < w; i++) {
        if (i == 0 || row[i] != row[i - 1] + step) {
            if (line->n == g_PIECES) return 0;
            line->at[line->n++] = row[i] - (int64_t)i * step;
        }
        line->lanes[line->n - 1] |= 1u << i;
    }
    return 1;
}

/* Completes the offsets of a panel of w rows to whole vectors. present: bits of the rows that there are. */
static void g_panel(int vectors, int64_t w, int64_t *row, unsigned *present, g_Line *line)
{
    for (int v = 0; v < vectors; v++, row += g_VL, w -= g_VL) {
        present[v] = 0;
        for (int i = 0; i < g_VL; i++) {
            if (i >= w) row[i] = 0;
            present[v] |= (unsigned)(i < w) << i;
        }
        int step = 1;
        while (step <= g_APART && !g_pieces(row, w, step, &line[v])) step++;
        if (step > g_APART) line[v] = (g_Line){0};
    }
}
