
/* The taps of elements k0 .. k0 + k - 1 of K: each has elements of K that follow each other and differ in the first
 * digit alone, `most` of them at most. K is a number whose digits have those sizes. Kernels go through it in an order of
 * their own: runs of the first digit (channels of a convolution) are cut into parts of `length`, and all taps of a
 * part come before the next part. The filter elements of a channel, which lie together in memory, and the elements of an
 * image that several taps share are then read from the first-level cache. step: what the element's place in memory and
 * its positions in zero padding grow by with each digit; at: those of a tap's first element. Returns how many taps. */
static int64_t g_taps(int digits, const int64_t *size, int places, int64_t (*step)[g_DIGITS], int64_t k0, int64_t k,
    int64_t length, int64_t most, int64_t *rows, int64_t (*at)[g_KC])
{
    int64_t whole = length, first, tap, part = 0, of_part, digit[g_DIGITS] = {0}, n = 0;
    if (!k) return 0;
    for (int d = 1; d < digits; d++) whole *= size[d];
    if (digits > 1) part = k0 / whole;
    of_part = digits > 1 && size[0] - part * length > length ? length : size[0] - part * length;
    first = (k0 - part * whole) % of_part;
    tap = (k0 - part * whole) / of_part;
    for (int d = 1; d < digits; tap /= size[d++]) digit[d] = tap % size[d];
    for (int64_t q = 0; q < k; n++) {
        rows[n] = of_part - first < k - q ? of_part - first : k - q;
        if (rows[n] > most) rows[n] = most;
        digit[0] = part * length + first;
        for (int i = 0; i < places; i++) {
            at[i][n] = 0;
            for (int d = 0; d < digits; d++) at[i][n] += digit[d] * step[i][d];
        }
        q += rows[n];
        first += rows[n];
        if (first < of_part) continue;
        first = 0;
        int d = 1;
        for (; d < digits && ++digit[d] == size[d]; d++) digit[d] = 0;
        if (d < digits) continue;
        part++;
        of_part = size[0] - part * length > length ? length : size[0] - part * length;
    }
    return n;
}
