/* tuner-bench --compare: two libraries, and a peer beside them, on the GEMMs of a file.
 *
 * For each size every side's result is checked against the reference; then all sides are timed in blocks,
 * one of each per round, in an order that rotates, so that drift of the clock hits all alike. A ratio is the
 * speed of the second library over that of the first: the median over the rounds of the ratio of the two
 * blocks, with its 95% interval. The second one is slower (faster) on a size when the whole interval is below
 * (above) 1. A size whose whole interval is below --fail-below is timed once more, after all others, and
 * fails only if it is so again. With --old-plain the first library runs the same GEMMs without fused
 * operations. The geometric mean over the sizes is weighted by the calls of each in the file; its interval
 * comes from the means of the rounds. compare.c runs the sizes, compare_report.c prints and writes.
 */
#ifndef CLIENT_COMPARE_H
#define CLIENT_COMPARE_H

#include "client/bench/bench.h"
#include "measure/busy.h"
#include "measure/stats.h"

enum { COMPARE_ROUNDS = 20 }; /* without --iters */
enum { SIDE_OLD, SIDE_NEW, SIDE_PEER, SIDES };

typedef struct {
    const char *library[2];               /* directories or files; the first is the one in use */
    const char *file, *peer, *csv, *json; /* peer, csv, json NULL: none */
    double fail_below;                    /* least ratio; 0: any */
    bool old_plain; /* the first library runs without bias, activation and scale factors */
} CompareOptions;

/* One size on one side. */
typedef struct {
    const char *solution, *why; /* of a library, else the peer's name and its algorithm's; "" unknown */
    int64_t index;              /* of the solution in its file; -1: of a peer */
    Check check;
    double *ns;          /* of a call, by round; NULL: not timed, for the reason in problem */
    Summary sum;         /* of ns */
    const char *problem; /* "" */
} CompareCell;

typedef struct {
    BenchCase *c;
    CompareCell side[SIDES];
    Comparison ratio;     /* speed of the second library over the first; NAN: not both were timed */
    Comparison versus;    /* speed of the second library over the peer */
    bool suspect, failed; /* below --fail-below once, and again */
} CompareRow;

typedef struct {
    Arena *arena;
    const CompareOptions *o;
    Bench bench;
    BenchSide side[SIDES];
    const char *name[SIDES]; /* "old library path", ..., "cublas 13.1.0" */
    size_t n_sides;
    CompareRow *row;
    size_t n, n_done; /* sizes; fewer are done after an interrupt */
    size_t n_rounds;
    double ready; /* threads of the machine that ran or waited for a core, added up over n_looks rounds */
    size_t n_looks;
} Compare;

typedef struct {
    size_t n_slower, n_faster, n_same, n_failed, n_wrong;
    size_t n_without[SIDES]; /* sizes that a side has no time for */
    size_t n_both, n_versus; /* sizes that both libraries, and the peer, were timed on */
    Comparison mean, versus; /* weighted geometric means; NAN: of no size */
    double calls;            /* weight of all sizes with a ratio */
    double seconds[2];       /* of all calls of these sizes, by library */
} CompareTotal;

/* Compares, prints the table, writes the files. options: of both libraries. ERR_FAILED: a result is wrong, or
 * sizes fall below --fail-below. ERR_PARTIAL: the second library has no solution for some sizes. */
Err bench_compare(Arena *a, const CompareOptions *o, const tuner_options *options, int n_threads,
                  const BenchCase *base);

/* ---- for compare_report.c ---- */

/* Whether the machine was busy, of the sizes that are done; text gets the warning, or is empty. */
bool compare_busy(const Compare *x, char *text, size_t size);
/* "faster", "slower", "same": the second library; "" without a ratio. */
const char *compare_verdict(const Comparison *c);
Err compare_total(const Compare *x, CompareTotal *t);
void compare_header(const Compare *x);
void compare_line(const Compare *x, const CompareRow *r);
void compare_summary(const Compare *x, const CompareTotal *t);
/* Writes --csv and --json. */
Err compare_files(const Compare *x, const CompareTotal *t);

#endif
