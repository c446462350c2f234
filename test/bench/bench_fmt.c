/* Bench of the formats: reading YAML against libyaml's own events, writing YAML, writing and reading msgpack,
 * on a text like a logic file. Medians of several rounds. */
#include <stdio.h>
#include <stdlib.h>

#include <yaml.h>

#include "base/fs.h"
#include "base/log.h"
#include "test/fuzz/emit_node.h"

enum { ROUNDS = 9, N_SOLUTIONS = 400, N_SIZES = 20000 };

static void logic_make(Buf *out)
{
    buf_puts(out, "- {MinimumRequiredVersion: 4.44.0}\n- vega20\n- gfx906\n- [Device 66a0, Device 66a1]\n");
    for (int i = 0; i < N_SOLUTIONS; i++) {
        buf_printf(out, "%s 1LDSBuffer: 0\n", i ? "  -" : "- -");
        for (int k = 0; k < 100; k++) buf_printf(out, "    SomeParameterName%d: %d\n", k, (i * 7 + k) % 300);
        buf_printf(out,
                   "    ISA: [9, 0, 6]\n    KernelLanguage: Assembly\n    Valid: true\n    SolutionNameMin: "
                   "Cijk_Ailk_Bljk_SB_MT%dx64x16_SE_K1_xyz\n",
                   i);
    }
    for (int i = 0; i < N_SIZES; i++)
        buf_printf(out, "%s - [%d, %d, 1, %d]\n    - [%d, %d.%d]\n", i ? "  -" : "- -", 64 + i, 128 + i % 77,
                   256 + i % 13, i % N_SOLUTIONS, 1000 + i % 999, i % 97);
}

static Err events_read(Str text)
{
    yaml_parser_t p;
    yaml_event_t e;
    if (!yaml_parser_initialize(&p)) FAIL(ERR_FAILED, "out of memory");
    yaml_parser_set_input_string(&p, (const unsigned char *)text.s, text.n);
    Err err = 0;
    for (bool done = false; !done && !err;) {
        if (!yaml_parser_parse(&p, &e)) {
            err = err_set(ERR_FAILED, "line %zu: %s", p.problem_mark.line, p.problem);
            continue;
        }
        done = e.type == YAML_STREAM_END_EVENT;
        yaml_event_delete(&e);
    }
    yaml_parser_delete(&p);
    return err;
}

static int order(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static double report(const char *what, uint64_t ns[ROUNDS], size_t bytes)
{
    qsort(ns, ROUNDS, sizeof *ns, order);
    double median = (double)ns[ROUNDS / 2] * 1e-6;
    printf("fmt: %-14s n=%d median %7.2f ms [%.2f, %.2f], %.2f MB, %.0f MB/s\n", what, ROUNDS, median,
           (double)ns[0] * 1e-6, (double)ns[ROUNDS - 1] * 1e-6, (double)bytes * 1e-6,
           (double)bytes * 1e-3 / median);
    return median;
}

static Err round_run(Str text, Buf *yaml, Buf *packed, uint64_t ns[5], size_t *arena_bytes)
{
    Arena a, b;
    Node *tree = NULL, *again;
    arena_init(&a, 0);
    arena_init(&b, 0);
    buf_reset(yaml);
    buf_reset(packed);
    uint64_t t0 = clock_ns();
    Err e = events_read(text);
    uint64_t t1 = clock_ns();
    if (!e) e = yaml_parse(&a, "bench", text, NULL, &tree);
    uint64_t t2 = clock_ns();
    if (!e) node_write(tree, emit_yaml, yaml);
    uint64_t t3 = clock_ns();
    if (!e) node_write(tree, emit_msgpack, packed);
    uint64_t t4 = clock_ns();
    if (!e) e = msgpack_parse(&b, "bench", buf_view(packed), NULL, &again);
    uint64_t t5 = clock_ns();
    const uint64_t t[] = {t0, t1, t2, t3, t4, t5};
    for (int i = 0; i < 5; i++) ns[i] = t[i + 1] - t[i];
    *arena_bytes = a.used_bytes;
    arena_fini(&a);
    arena_fini(&b);
    return e;
}

int main(void)
{
    uint64_t ns[5][ROUNDS], one[5];
    Buf text, yaml, packed;
    size_t arena_bytes = 0;
    log_init("bench_fmt", LOG_NORMAL);
    buf_init(&text);
    buf_init(&yaml);
    buf_init(&packed);
    logic_make(&text);
    for (int i = 0; i < ROUNDS; i++) {
        if (round_run(buf_view(&text), &yaml, &packed, one, &arena_bytes)) return error_report(ERR_FAILED);
        for (int k = 0; k < 5; k++) ns[k][i] = one[k];
    }
    double events = report("libyaml events", ns[0], text.n), parse = report("YAML read", ns[1], text.n);
    report("YAML write", ns[2], yaml.n);
    report("msgpack write", ns[3], packed.n);
    report("msgpack read", ns[4], packed.n);
    printf("fmt: YAML read takes %.2f of libyaml's events and %.1f bytes a byte of text\n", parse / events,
           (double)arena_bytes / (double)text.n);
    buf_fini(&text);
    buf_fini(&yaml);
    buf_fini(&packed);
    return 0;
}
