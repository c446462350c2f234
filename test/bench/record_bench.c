/* record_bench OUTDIR GROUP WHAT [--rounds|--library]: writes the times that a run measured to standard
 * output, as recorded.h reads them. GROUP: the size-group in the last session of the run's store, or its
 * problem type, for instance Cijk_Ailk_Bljk_HHS_BH. WHAT: words for the first line.
 *
 * Without an option: all candidates of the group's plan, in their order, on its sizes. --rounds: all kernels
 * that the rounds of a search measured and the performance model knows, on all sizes of these, those between
 * the config's too. --library: the candidates on all these sizes, as a library of a search has them: the
 * times of the plan, else those of the rounds at its clocks. Sizes without any time are left out. Exit code
 * 2: there is no such store or group, or a candidate has no numbers of the performance model. */
#include <stdio.h>
#include <string.h>

#include "measure/rounds.h"
#include "test/bench/recorded.h"

typedef enum { RECORD_PLAN, RECORD_ROUNDS, RECORD_LIBRARY } Mode;

typedef struct {
    Store store;
    Arena a;
    const char *dir, *group, *what;
    Mode mode;
    PlanView plan;
} Record;

/* "Cijk_Ailk_Bljk_SB_00" is a group of Cijk_Ailk_Bljk_SB. */
static bool is_called(Str group, const char *name)
{
    int64_t number;
    const size_t n = strlen(name);
    if (str_eq_c(group, name)) return true;
    return str_starts(group, name) && group.n > n + 1 && group.s[n] == '_' &&
           str_to_i64(str_sub(group, n + 1, group.n), &number) && number >= 0;
}

static Err plan_find(Record *x)
{
    PlanView *plan;
    size_t n, n_called = 0;
    TRY(plans_latest(&x->store, &x->a, &plan, &n));
    for (size_t i = 0; i < n; i++) {
        if (!is_called(plan[i].group, x->group)) continue;
        x->plan = plan[i];
        n_called++;
    }
    if (n_called == 1) return ERR_OK;
    if (!n_called) FAIL(ERR_INPUT, "'%s' has no group '%s'", store_path(&x->store), x->group);
    FAIL(ERR_INPUT, "'%s' has %zu groups '%s', expected the name of one, for instance %.*s",
         store_path(&x->store), n_called, x->group, STR_ARG(x->plan.group));
}

static Err matrix_alloc(Arena *a, size_t n_kernels, size_t n_sizes, ModelMatrix *m)
{
    *m = (ModelMatrix){.n_kernels = n_kernels, .n_sizes = n_sizes};
    TRY_ALLOC(m->kernel = ARENA_ARRAY(a, n_kernels + 1, ModelKernel));
    TRY_ALLOC(m->size = ARENA_ARRAY(a, n_sizes + 1, ModelSize));
    TRY_ALLOC(m->seconds = ARENA_ARRAY(a, n_kernels * n_sizes + 1, double));
    return ERR_OK;
}

/* The sizes from row `first` on. */
static Err sizes_load(Record *x, const RoundTimes *t, size_t first, ModelMatrix *m)
{
    const ModelKernel *k = m->kernel;
    for (size_t z = first; z < m->n_sizes && m->n_kernels; z++)
        TRY(store_model_size_get(&x->store, &t->size[z], k->bytes_ab, k->bytes_d, &m->size[z]));
    return ERR_OK;
}

static Err rounds_matrix(Record *x, ModelMatrix *m)
{
    RoundTimes t;
    TRY(rounds_load(&x->store, &x->a, &x->plan, &t));
    TRY(matrix_alloc(&x->a, t.n_kernels, t.n_sizes, m));
    size_t *column = ARENA_ARRAY(&x->a, t.n_kernels + 1, size_t), n = 0;
    TRY_ALLOC(column);
    for (size_t k = 0; k < t.n_kernels; k++) {
        bool known;
        TRY(store_model_kernel_get(&x->store, t.kernel[k], &m->kernel[n], &known));
        if (known) column[n++] = k;
    }
    m->n_kernels = n;
    for (size_t z = 0; z < t.n_sizes; z++)
        for (size_t k = 0; k < n; k++) m->seconds[z * n + k] = t.ns[z * t.n_kernels + column[k]] * 1e-9;
    return sizes_load(x, &t, 0, m);
}

static Err library_matrix(Record *x, ModelMatrix *m)
{
    RoundTimes t;
    ModelMatrix own;
    const PlanView *p = &x->plan;
    const size_t n = p->n_candidates;
    TRY(model_matrix_load(&x->store, &x->a, p, &own));
    TRY(rounds_load(&x->store, &x->a, p, &t));
    TRY(matrix_alloc(&x->a, n, t.n_sizes, m));
    double *ns = ARENA_ARRAY(&x->a, n * t.n_sizes + 1, double);
    TRY_ALLOC(ns);
    for (size_t k = 0; k < n; k++) {
        const size_t column = rounds_kernel(&t, p->candidate[k].kernel);
        for (size_t z = 0; z < t.n_sizes && column != SIZE_MAX; z++)
            ns[z * n + k] = t.ns[z * t.n_kernels + column];
    }
    rounds_add(&own, ns, own.n_sizes, n);
    m->kernel = own.kernel, m->known = own.known;
    memcpy(m->size, own.size, own.n_sizes * sizeof *own.size);
    memcpy(m->seconds, own.seconds, n * own.n_sizes * sizeof *own.seconds);
    for (size_t i = n * own.n_sizes; i < n * t.n_sizes; i++) m->seconds[i] = ns[i] * 1e-9;
    return sizes_load(x, &t, own.n_sizes, m);
}

static void sizes_pack(ModelMatrix *m)
{
    const size_t n = m->n_kernels;
    size_t n_sizes = 0;
    for (size_t z = 0; z < m->n_sizes; z++) {
        bool any = false;
        for (size_t k = 0; k < n && !any; k++) any = m->seconds[z * n + k] > 0;
        if (!any) continue;
        m->size[n_sizes] = m->size[z];
        memmove(&m->seconds[n_sizes++ * n], &m->seconds[z * n], n * sizeof *m->seconds);
    }
    m->n_sizes = n_sizes;
}

static Err record(Record *x)
{
    ModelMatrix m;
    TRY(store_open(&x->store, x->dir, STORE_READ));
    TRY(plan_find(x));
    TRY(x->mode == RECORD_ROUNDS    ? rounds_matrix(x, &m)
        : x->mode == RECORD_LIBRARY ? library_matrix(x, &m)
                                    : model_matrix_load(&x->store, &x->a, &x->plan, &m));
    for (size_t k = 0; k < m.n_kernels && x->mode != RECORD_ROUNDS; k++)
        if (!m.known[k])
            FAIL(ERR_INPUT, "'%s': kernel %.*s has no numbers of the performance model",
                 store_path(&x->store), STR_ARG(x->plan.candidate[k].name));
    sizes_pack(&m);
    recorded_write(stdout, x->what, &m);
    return fflush(stdout) ? err_set(ERR_FAILED, "standard output cannot be written") : ERR_OK;
}

/* False: these are not the arguments of the first comment. */
static bool arguments_read(Record *x, int argc, char **argv)
{
    const char **word[] = {&x->dir, &x->group, &x->what};
    int n = 0;
    for (int i = 1; i < argc; i++) {
        const Str arg = str_from(argv[i]);
        const Mode mode = str_eq_c(arg, "--rounds")    ? RECORD_ROUNDS
                          : str_eq_c(arg, "--library") ? RECORD_LIBRARY
                                                       : RECORD_PLAN;
        if (mode ? x->mode != RECORD_PLAN : n == 3 || arg.s[0] == '-') return false;
        if (mode)
            x->mode = mode;
        else
            *word[n++] = argv[i];
    }
    return n == 3;
}

int main(int argc, char **argv)
{
    Record x = {.store = {.lock_fd = -1}};
    if (argc == 1) {
        printf("record_bench: skipped: it writes the times of a run's store\n");
        return 0;
    }
    if (!arguments_read(&x, argc, argv)) {
        fprintf(stderr, "record_bench: usage: record_bench OUTDIR GROUP WHAT [--rounds|--library]\n");
        return ERR_INPUT;
    }
    arena_init(&x.a, 0);
    const Err e = record(&x);
    if (e) fprintf(stderr, "record_bench: %s\n", err_message());
    store_close(&x.store);
    arena_fini(&x.a);
    return e;
}
