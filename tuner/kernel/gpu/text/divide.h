
/* n / by and the rest; magic: 0xffffffff / by, by which the product's upper half is the quotient or one less. */
g_DEV unsigned g_divide(unsigned n, unsigned by, unsigned magic, unsigned &rest)
{
    const unsigned low = (unsigned)((unsigned long long)n * magic >> 32), left = n - low * by;
    rest = left < by ? left : left - by;
    return left < by ? low : low + 1;
}

