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
#ifdef HOPPER
    thread_ends();
#endif
    cur->done = true, progress++;
    swapcontext(&cur->c, &scheduler);
}
/* Every thread waits: what the device does by itself goes on. */
void go_on(bool nobody_did)
{
#ifdef HOPPER
    for (size_t i = 0; i < ctas.size(); i++)
        if (engine_random() % 4 == 0) nobody_did = !engine_step() && nobody_did;
    if (nobody_did && !engine_step()) fail("every thread waits");
#else
    if (nobody_did) abort();
#endif
}
/* Warps fall behind at random, work-groups for longer. */
bool lags(const Fiber &f)
{
#ifdef HOPPER
    static uint32_t round[WARPS], late[CTAS];
    if (f.tid % LANES == 0) round[f.cta * (WARPS / CTAS) + f.tid / LANES] = engine_random();
    if (f.tid == 0 && engine_random() % 16 == 0) late[f.cta] = engine_random() % 8;
    return round[f.cta * (WARPS / CTAS) + f.tid / LANES] % 8 < late[f.cta];
#else
    (void)f;
    return false;
#endif
}
/* Work-groups of consecutive numbers along x that run together. */
void run_groups(std::vector<Fiber> &fibers, std::vector<char> &stacks, int groups)
{
    const size_t n = fibers.size(), bytes = stacks.size() / n;
    const int threads = (int)n / groups;
    for (Barrier &b : group_barrier) b = {threads, 0, 0};
    for (Barrier &b : warp_barrier) b = {LANES, 0, 0};
#ifdef HOPPER
    ctas_begin(groups, threads);
#endif
    for (size_t t = 0; t < n; t++) {
        Fiber &f = fibers[t];
        f.tid = (int)t % threads, f.cta = (int)t / threads, f.done = false, f.seen = UINT64_MAX;
        f.copies.clear(), f.groups.clear();
        getcontext(&f.c);
        f.c.uc_stack.ss_sp = &stacks[t * bytes], f.c.uc_stack.ss_size = bytes, f.c.uc_link = nullptr;
        makecontext(&f.c, fiber, 0);
    }
    for (size_t left = n; left;) {
        bool all = true;
        left = 0;
        for (Fiber &f : fibers) {
            if (f.done) continue;
            if (f.seen != progress && !lags(f)) { /* what it waits for changes with progress */
                cur = &f;
                swapcontext(&scheduler, &f.c);
                f.seen = progress;
            }
            left += !f.done;
        }
        for (const Fiber &f : fibers) all = all && (f.done || f.seen == progress);
        if (left) go_on(all);
    }
#ifdef HOPPER
    ctas_end();
#endif
}
} // namespace
namespace
{
/* In which order work-groups (of kernels by wgmma: clusters) run; parts of a tile may come in any. */
std::vector<unsigned> turns_of(unsigned n)
{
    std::vector<unsigned> order(n);
    for (unsigned i = 0; i < n; i++) order[i] = i;
#ifdef HOPPER
    std::shuffle(order.begin(), order.end(), engine_random);
#else
    static std::mt19937 random;
    std::shuffle(order.begin(), order.end(), random);
#endif
    return order;
}
} // namespace
/* groups: of a cluster along x. */
extern "C" void launch(int which, int threads, int groups, const unsigned *grid, const char *args)
{
    std::vector<Fiber> fibers((size_t)threads * groups);
    std::vector<char> stacks(fibers.size() << 16);
    kernel = entries[which], arguments = args, gridDim = {grid[0], grid[1], grid[2]};
    for (unsigned z = 0; z < grid[2]; z++)
        for (unsigned y = 0; y < grid[1]; y++)
            for (unsigned first : turns_of(grid[0] / groups)) {
                const unsigned x = first * groups;
                for (int i = 0; i < groups; i++) group_index[i] = {x + i, y, z};
                run_groups(fibers, stacks, groups);
            }
#ifdef HOPPER
    words_end();
#endif
}
