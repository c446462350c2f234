
/* Hides a value from the compiler, so that it does not move what is computed from it out of the loop over
 * columns, where it would need a register for each accumulator. */
template <typename V> g_DEV V g_opaque(V x)
{
    unsigned w[(sizeof(V) + 3) / 4] = {};
    __builtin_memcpy(w, &x, sizeof x);
    g_UNROLL for (unsigned i = 0; i < sizeof w / 4; i++) asm volatile("" : "+v"(w[i]) :: "memory");
    __builtin_memcpy(&x, w, sizeof x);
    return x;
}

