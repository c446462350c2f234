/* Behind the text of nvptx kernels (warps.hpp): runs the kernels whose calls emulate.py has put in front. */
namespace
{
template <class T> T argument(const char *&at, const char *from)
{
    at = from + (at - from + alignof(T) - 1) / alignof(T) * alignof(T);
    T x;
    memcpy(&x, at, sizeof x);
    at += sizeof x;
    return x;
}
/* Arguments in order, naturally aligned. */
template <class... A> void call(void (*kernel)(A...), const char *from)
{
    const char *at = from;
    std::tuple<A...> all{argument<A>(at, from)...};
    std::apply(kernel, all);
}
const char *arguments;
void (*kernel)(const char *);
void fiber()
{
    kernel(arguments);
    cur->done = true;
    swapcontext(&cur->c, &scheduler);
}
void run_group(std::vector<Fiber> &fibers, std::vector<char> &stacks)
{
    const size_t n = fibers.size(), bytes = stacks.size() / n;
    group_barrier = {(int)n, 0, 0};
    for (Barrier &b : warp_barrier) b = {LANES, 0, 0};
    for (size_t t = 0; t < n; t++) {
        Fiber &f = fibers[t];
        f.tid = (int)t, f.done = false;
        getcontext(&f.c);
        f.c.uc_stack.ss_sp = &stacks[t * bytes], f.c.uc_stack.ss_size = bytes, f.c.uc_link = nullptr;
        makecontext(&f.c, fiber, 0);
    }
    for (size_t left = n; left;) {
        left = 0;
        for (Fiber &f : fibers) {
            if (f.done) continue;
            cur = &f;
            swapcontext(&scheduler, &f.c);
            left += !f.done;
        }
    }
}
} // namespace
extern "C" void launch(int which, int threads, const unsigned *grid, const char *args)
{
    std::vector<Fiber> fibers(threads);
    std::vector<char> stacks((size_t)threads << 16);
    kernel = entries[which], arguments = args, gridDim = {grid[0], grid[1], grid[2]};
    for (unsigned z = 0; z < grid[2]; z++)
        for (unsigned y = 0; y < grid[1]; y++)
            for (unsigned x = 0; x < grid[0]; x++) {
                blockIdx = {x, y, z};
                run_group(fibers, stacks);
            }
}
