/* Library: the order of a table's entries. Of entries with the same key and speed the first one is selected,
 * but the order of these is not defined by the comparison. Tensile's loader sorts with the C++ library's
 * std::sort, so this sort does the same steps: median of three to the front, Hoare partition, runs of up to
 * 16 left to one insertion sort at the end (introsort, Musser 1997, as in libstdc++). Beyond the depth limit,
 * which only an adversarial order reaches, it uses a heap sort.
 */
#include "client/runtime/library_priv.h"

enum { RUN = 16 };

bool entry_before(const TableEntry *a, const TableEntry *b)
{
    for (int i = 0; i < a->n_dims; i++)
        if (a->key[i] != b->key[i]) return a->key[i] < b->key[i];
    return a->speed > b->speed;
}

static void swap(TableEntry *a, TableEntry *b)
{
    TableEntry t = *a;
    *a = *b;
    *b = t;
}

static void sift_down(TableEntry *e, size_t at, size_t n)
{
    for (size_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && entry_before(&e[child], &e[child + 1])) child++;
        if (!entry_before(&e[at], &e[child])) return;
        swap(&e[at], &e[child]);
    }
}

static void heap_sort(TableEntry *e, size_t n)
{
    for (size_t i = n / 2; i-- > 0;) sift_down(e, i, n);
    for (size_t i = n; i-- > 1;) {
        swap(&e[0], &e[i]);
        sift_down(e, 0, i);
    }
}

static void median_to_front(TableEntry *front, TableEntry *a, TableEntry *b, TableEntry *c)
{
    if (entry_before(a, b))
        swap(front, entry_before(b, c) ? b : entry_before(a, c) ? c : a);
    else
        swap(front, entry_before(a, c) ? a : entry_before(b, c) ? c : b);
}

/* Partitions around e[0]; the median of three at the front bounds both loops. */
static size_t partition(TableEntry *e, size_t n)
{
    size_t lo = 1, hi = n;
    for (;;) {
        while (entry_before(&e[lo], &e[0])) lo++;
        hi--;
        while (entry_before(&e[0], &e[hi])) hi--;
        if (lo >= hi) return lo;
        swap(&e[lo++], &e[hi]);
    }
}

static void sort_to_runs(TableEntry *e, size_t n, int depth)
{
    while (n > RUN) {
        if (depth-- == 0) {
            heap_sort(e, n);
            return;
        }
        median_to_front(&e[0], &e[1], &e[n / 2], &e[n - 1]);
        size_t cut = partition(e, n);
        sort_to_runs(e + cut, n - cut, depth);
        n = cut;
    }
}

void entries_sort(TableEntry *e, size_t n)
{
    int depth = 0;
    for (size_t i = n; i > 1; i /= 2) depth += 2;
    sort_to_runs(e, n, depth);
    for (size_t i = 1; i < n; i++) {
        TableEntry t = e[i];
        size_t at = i;
        for (; at > 0 && entry_before(&t, &e[at - 1]); at--) e[at] = e[at - 1];
        e[at] = t;
    }
}
