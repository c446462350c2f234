g_DEV void g_add_to(g_TD *p, g_TC x)
{
    unsigned *word = (unsigned *)((unsigned long long)p & ~3ull);
    const unsigned shift = ((unsigned)(unsigned long long)p & 2u) * 8;
    unsigned old = *word, seen;
    do {
        seen = old;
        const g_TD sum = g_from_c(g_add(g_to_c((g_TD)(seen >> shift)), x));
        old = g_cas32(word, seen, (seen & ~(0xffffu << shift)) | (unsigned)sum << shift);
    } while (old != seen);
}

