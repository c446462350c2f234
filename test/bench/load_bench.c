/* Opening a master solution library: time, and memory after it as the growth of the process, in a process of
 * its own per figure. TUNER_BENCH_LIBRARIES names the files, `ARCH=FILE` separated by blanks; those that the
 * targets are stated for are of rocBLAS's logic, made with `tuner-createlib --metadata-only LOGIC OUT HIP`
 * (gfx90a: the files of asm_full/aldebaran without its folders equality and experimental; gfx942: those of
 * asm_full/aquavanjaram942). Without it: a made library of 12,000 solutions and a table of 30,000 sizes.
 *
 * Printed: the file's size; ms to open (median of n, interval), and of a
 * processor, which other work on the machine hardly changes; memory in parts of the file's size: the most
 * while it is opened, after that, and with the tables of all problem types in use; ms of the first
 * selection.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/fs.h"
#include "client/runtime/library.h"
#include "measure/stats.h"
#include "problem/target.h"
#include "test/bench/made.h"

enum { REPEAT = 25, N_SOLUTIONS = 12000, N_SIZES = 30000 };

/* "VmRSS" or "VmHWM" (the most there was) of this process; pages of mapped files count. */
static double memory_bytes(const char *what)
{
    char line[128];
    double kb = -1;
    FILE *f = fopen("/proc/self/status", "r");
    if (!f) abort();
    while (fgets(line, sizeof line, f))
        if (strncmp(line, what, strlen(what)) == 0) kb = strtod(line + strlen(what) + 1, NULL);
    fclose(f);
    if (kb < 0) abort();
    return kb * 1024;
}

static Library *open_or_exit(const char *path, const Hardware *hw)
{
    Library *lib;
    if (library_open(path, hw, &lib)) {
        fprintf(stderr, "load_bench: %s\n", err_message());
        exit(1);
    }
    return lib;
}

/* A problem of every type that BLAS has, so that every table is searched; returns the number of problems with
 * a solution. */
static int ask_all(Library *lib, double *first_ms)
{
    static const uint8_t kinds[][4] = {
        {TYPE_S, TYPE_S, TYPE_S, TYPE_S},       {TYPE_D, TYPE_D, TYPE_D, TYPE_D},
        {TYPE_C, TYPE_C, TYPE_C, TYPE_C},       {TYPE_Z, TYPE_Z, TYPE_Z, TYPE_Z},
        {TYPE_H, TYPE_H, TYPE_H, TYPE_H},       {TYPE_H, TYPE_H, TYPE_H, TYPE_S},
        {TYPE_H, TYPE_H, TYPE_S, TYPE_S},       {TYPE_B, TYPE_B, TYPE_B, TYPE_S},
        {TYPE_B, TYPE_B, TYPE_S, TYPE_S},       {TYPE_I8, TYPE_I8, TYPE_I, TYPE_I},
        {TYPE_4XI8, TYPE_4XI8, TYPE_I, TYPE_I}, {TYPE_F8, TYPE_F8, TYPE_S, TYPE_S},
        {TYPE_F8, TYPE_F8, TYPE_F8, TYPE_S},    {TYPE_B8, TYPE_B8, TYPE_S, TYPE_S},
        {TYPE_F8B8, TYPE_F8B8, TYPE_S, TYPE_S}, {TYPE_B8F8, TYPE_B8F8, TYPE_S, TYPE_S},
    };
    int n = 0;
    *first_ms = 0;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (unsigned i = 0; i < 32; i++) {
            Contraction p;
            Selection s;
            contraction_gemm(&p, i & 1, i & 2, 1111, 1777, 999, 1);
            p.operation = operation_code_gemm(i & 1, i & 2, i & 1 && i & 4, i & 2 && i & 8, true);
            p.strided_batched = !(i & 16);
            contraction_types(&p, kinds[k][0], kinds[k][1], kinds[k][2], kinds[k][2], kinds[k][3]);
            uint64_t from = clock_ns();
            if (library_select_uncached(lib, &p, &s)) exit(1);
            if (n == 0) *first_ms = (double)(clock_ns() - from) / 1e6;
            n += s.solution != NULL;
        }
    return n;
}

static void memory(const char *path, const Hardware *hw, double file_bytes)
{
    double first_ms, before = memory_bytes("VmRSS");
    Library *lib = open_or_exit(path, hw);
    double opened = memory_bytes("VmRSS"), most = memory_bytes("VmHWM");
    int n = ask_all(lib, &first_ms);
    double used = memory_bytes("VmRSS");
    printf(
        "load_bench:   %zu solutions; memory %.2f x the file while it is opened, %.2f x after that, %.2f x "
        "after %d problems of all types; first selection %.3g ms\n",
        library_n_solutions(lib), (most - before) / file_bytes, (opened - before) / file_bytes,
        (used - before) / file_bytes, n, first_ms);
    library_free(lib);
}

static double processor_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void times(const char *path, const Hardware *hw)
{
    double ms[REPEAT], cpu[REPEAT];
    Summary s, c;
    for (int i = 0; i < REPEAT; i++) {
        double busy = processor_ms();
        uint64_t from = clock_ns();
        Library *lib = open_or_exit(path, hw);
        ms[i] = (double)(clock_ns() - from) / 1e6;
        cpu[i] = processor_ms() - busy;
        library_free(lib);
    }
    double first = ms[0];
    stats_summary(ms, REPEAT, 0.95, &s);
    stats_summary(cpu, REPEAT, 0.95, &c);
    printf("load_bench:   opened in %.4g ms [%.4g, %.4g] n %d, the first time in %.4g; %.4g ms [%.4g, %.4g] "
           "of a "
           "processor\n",
           s.median, s.lo, s.hi, REPEAT, first, c.median, c.lo, c.hi);
}

/* In a process of its own: memory that an earlier figure freed would hide what this one takes. */
static int measure(const char *path, const char *arch)
{
    int bad = 0, status;
    struct stat st;
    const Target *t = target_find(str_from(arch));
    if (!t) {
        fprintf(stderr, "load_bench: architecture '%s' is unknown\n", arch);
        return 1;
    }
    const Hardware hw = {str_from(arch), t->n_cu, false};
    if (stat(path, &st)) {
        fprintf(stderr, "load_bench: %s: %s\n", path, strerror(errno));
        return 1;
    }
    double bytes = (double)st.st_size;
    printf("load_bench: %s, %.1f MB (%s)\n", arch, bytes / 1e6, path);
    for (int part = 0; part < 2; part++) {
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            if (part == 0)
                times(path, &hw);
            else
                memory(path, &hw, bytes);
            exit(0);
        }
        if (child < 0 || waitpid(child, &status, 0) != child || status != 0) bad = 1;
    }
    return bad;
}

static int made(void)
{
    char dir[] = "/tmp/load_bench-XXXXXX";
    Arena a;
    Buf b;
    arena_init(&a, 0);
    made_library(&b, N_SOLUTIONS, N_SIZES, false);
    if (!mkdtemp(dir)) exit(1);
    const char *path = path_join(&a, dir, "TensileLibrary.dat").s;
    if (file_write(path, buf_view(&b))) exit(1);
    buf_fini(&b);
    int bad = measure(path, "gfx906");
    if (dir_remove(dir)) bad = 1;
    arena_fini(&a);
    return bad;
}

int main(void)
{
    const char *given = getenv("TUNER_BENCH_LIBRARIES");
    int bad = 0;
    if (!given || !*given) return made();
    char *list = strdup(given), *save = NULL;
    for (char *one = strtok_r(list, " ", &save); one; one = strtok_r(NULL, " ", &save)) {
        char *file = strchr(one, '=');
        if (!file) {
            fprintf(stderr, "load_bench: TUNER_BENCH_LIBRARIES: '%s' is not ARCH=FILE\n", one);
            return 2;
        }
        *file++ = 0;
        bad |= measure(file, one);
    }
    free(list);
    return bad;
}
