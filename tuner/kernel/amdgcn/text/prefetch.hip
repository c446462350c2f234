/* A load whose result goes nowhere brings its line to the caches. */
template <typename V> g_DEV void g_prefetch(const V *p)
{
    const unsigned char x = *(const volatile unsigned char *)p;
    asm volatile("" ::"v"((int)x));
}
