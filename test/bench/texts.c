/* Texts of kernels: makes those of up to N kernels of every size-group of configs, drawn from their ranges,
 * and prints how many it made in a second of processor time.
 *
 *     texts [check] [list] N ARCHITECTURE CONFIG.yaml...
 *
 * check: the text of every program, read again, must give the same kernel. list: prints a line with config,
 * permutation and content hash of each kernel, by which the texts of two builds are compared.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/log.h"
#include "base/random.h"
#include "kernel/kernel.h"
#include "space/config.h"
#include "space/space.h"

enum { TRIES = 400 }; /* permutations that are looked at for each kernel that is asked for */

typedef struct {
    const Target *target;
    bool check, list;
    size_t n_asked;
    size_t n, n_bytes, n_refused, n_wrong;
    double seconds;
} Texts;

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static Err one(Texts *x, const char *path, int64_t at, const Solution *s)
{
    char symbol[KERNEL_SYMBOL_BYTES];
    Buf text;
    buf_init(&text);
    const double from = cpu_seconds();
    Err e = kernel_emit_unnamed(s, x->target, &text, symbol);
    x->seconds += cpu_seconds() - from;
    x->n++, x->n_bytes += text.n;
    if (!e && x->list) printf("%s %" PRId64 " %s\n", path, at, symbol);
    if (e) {
        if (x->list) printf("%s %" PRId64 " %s\n", path, at, err_message());
        err_clear();
        x->n_refused++;
    } else if (x->check) {
        buf_reset(&text);
        if (kernel_dump(s, x->target, STR("check"), &text)) {
            printf("%s %" PRId64 ": %s\n", path, at, err_message());
            err_clear();
            x->n_wrong++;
        }
    }
    buf_fini(&text);
    return ERR_OK;
}

static Err of_space(Texts *x, const char *path, const Space *space, const Deriver *d)
{
    int64_t size;
    TRY(space_size(space, &size));
    const bool all = size <= (int64_t)(x->n_asked * TRIES);
    size_t n = 0;
    for (int64_t i = 0; n < x->n_asked && i < (all ? size : (int64_t)(x->n_asked * TRIES)); i++) {
        Solution s;
        Verdict v;
        /* A stride that has no factor in common with most sizes spreads the draws of a small space. */
        const int64_t at = all ? (int64_t)((uint64_t)i * UINT64_C(1000003) % (uint64_t)size)
                               : (int64_t)(random_at(0, (uint64_t)i) % (uint64_t)size);
        space_get(space, at, &s);
        if (!solution_derive(d, &s, &v)) continue;
        n++;
        TRY(one(x, path, at, &s));
    }
    return ERR_OK;
}

static Err of_config(Texts *x, const char *path)
{
    Arena a;
    Config *c;
    arena_init(&a, 0);
    Err e = config_read(&a, path, NULL, &c);
    for (size_t i = 0; !e && i < c->n_problems; i++)
        for (size_t k = 0; !e && k < c->problem[i].n_size_groups; k++) {
            Deriver d;
            Space space;
            const Globals *g = &c->globals;
            const DeriveLimits limits = {.max_lds_bytes = g->MaxLDS,
                                         .device_lds_bytes = g->DeviceLDS,
                                         .max_depth_u = (int32_t)g->MaxDepthU,
                                         .unroll_loop_efficiency = g->UnrollLoopEfficiencyEnable,
                                         .source_matrix = g->SourceMatrixInstructions,
                                         .writer = true};
            e = deriver_init(&d, &c->problem[i].pt, x->target, &limits);
            if (!e) e = space_of_size_group(&space, c, &c->problem[i].pt, &c->problem[i].size_group[k]);
            if (e) break;
            e = of_space(x, path, &space, &d);
            space_fini(&space);
        }
    arena_fini(&a);
    return e;
}

int main(int argc, char **argv)
{
    Texts x = {0};
    int i = 1;
    log_init("texts", LOG_NORMAL);
    for (; i < argc; i++) {
        if (!strcmp(argv[i], "check"))
            x.check = true;
        else if (!strcmp(argv[i], "list"))
            x.list = true;
        else
            break;
    }
    if (argc - i < 3) return error(ERR_INPUT, "usage: texts [check] [list] N ARCHITECTURE CONFIG.yaml...");
    x.n_asked = (size_t)strtoul(argv[i], NULL, 10);
    x.target = target_find(str_from(argv[i + 1]));
    if (!x.target) return error(ERR_INPUT, "unknown architecture '%s'", argv[i + 1]);
    for (i += 2; i < argc; i++)
        if (of_config(&x, argv[i])) error_report(ERR_FAILED), err_clear();
    fprintf(stderr, "texts: %s: %zu kernels (%zu refused), %.1f KiB each, %.0f texts a second%s",
            x.target->name, x.n, x.n_refused, (double)x.n_bytes / 1024 / (double)(x.n ? x.n : 1),
            (double)x.n / x.seconds, x.check ? "" : "\n");
    if (x.check) fprintf(stderr, ", %zu programs read again give another kernel\n", x.n_wrong);
    return x.n_wrong ? ERR_FAILED : ERR_OK;
}
