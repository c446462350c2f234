/* Times that were measured on a device, as text: the numbers of kernels (ModelKernel), sizes, and
 * microseconds. record_bench writes such files from the store of a run; model_bench, model_fit, held_bench,
 * choose_bench and search_replay read them. 0: the kernel does not take the size, or failed. */
#ifndef TEST_BENCH_RECORDED_H
#define TEST_BENCH_RECORDED_H

#include <stdio.h>
#include <string.h>

#include "measure/model_store.h"

static inline void recorded_write(FILE *f, const char *what, const ModelMatrix *m)
{
    fprintf(f, "recorded times 1, %s\nsizes %zu\n", what, m->n_sizes);
    for (size_t z = 0; z < m->n_sizes; z++) {
        const ModelSize *s = &m->size[z];
        fprintf(f, "%.0f %.0f %.0f %.0f %d %d %d\n", s->m, s->n, s->batch, s->k, s->align_a, s->align_b,
                s->align_d);
    }
    fprintf(f, "kernels %zu\n", m->n_kernels);
    for (size_t k = 0; k < m->n_kernels; k++) {
        int32_t v[MODEL_KERNEL_NUMBERS];
        memcpy(v, &m->kernel[k], sizeof v);
        for (int i = 0; i < MODEL_KERNEL_NUMBERS - 3; i++) fprintf(f, "%d ", v[i]);
        fprintf(f, "%.6g %.6g %.6g :", (double)m->kernel[k].rate, (double)m->kernel[k].peak,
                (double)m->kernel[k].local_bytes);
        for (size_t z = 0; z < m->n_sizes; z++) fprintf(f, " %.5g", m->seconds[z * m->n_kernels + k] * 1e6);
        fputc('\n', f);
    }
}

static inline bool recorded_size(FILE *f, ModelSize *s)
{
    return fscanf(f, "%lf %lf %lf %lf %d %d %d", &s->m, &s->n, &s->batch, &s->k, &s->align_a, &s->align_b,
                  &s->align_d) == 7;
}

static inline bool recorded_kernel(FILE *f, ModelMatrix *m, size_t k)
{
    int32_t v[MODEL_KERNEL_NUMBERS] = {0};
    ModelKernel *x = &m->kernel[k];
    for (int i = 0; i < MODEL_KERNEL_NUMBERS - 3; i++)
        if (fscanf(f, "%d", &v[i]) != 1) return false;
    memcpy(x, v, sizeof v);
    if (fscanf(f, "%f %f %f :", &x->rate, &x->peak, &x->local_bytes) != 3) return false;
    for (size_t z = 0; z < m->n_sizes; z++) {
        double us;
        if (fscanf(f, "%lf", &us) != 1) return false;
        m->seconds[z * m->n_kernels + k] = us * 1e-6;
    }
    return m->known[k] = model_kernel_ok(x);
}

static inline bool recorded_scan(FILE *f, Arena *a, ModelMatrix *m)
{
    enum { MOST = 100000 };
    if (fscanf(f, "recorded times 1,%*[^\n] sizes %zu", &m->n_sizes) != 1 || m->n_sizes > MOST) return false;
    m->size = ARENA_ARRAY(a, m->n_sizes + 1, ModelSize);
    for (size_t z = 0; m->size && z < m->n_sizes; z++)
        if (!recorded_size(f, &m->size[z])) return false;
    if (fscanf(f, " kernels %zu", &m->n_kernels) != 1 || m->n_kernels > MOST) return false;
    m->kernel = ARENA_ARRAY(a, m->n_kernels + 1, ModelKernel);
    m->known = ARENA_ARRAY(a, m->n_kernels + 1, bool);
    m->seconds = ARENA_ARRAY(a, m->n_kernels * m->n_sizes + 1, double);
    if (!m->size || !m->kernel || !m->known || !m->seconds) return false;
    for (size_t k = 0; k < m->n_kernels; k++)
        if (!recorded_kernel(f, m, k)) return false;
    return true;
}

static inline Err recorded_read(Arena *a, const char *path, ModelMatrix *m)
{
    FILE *f = fopen(path, "r");
    *m = (ModelMatrix){0};
    if (!f) FAIL(ERR_INPUT, "'%s' cannot be read", path);
    const bool ok = recorded_scan(f, a, m);
    fclose(f);
    if (!ok) FAIL(ERR_INPUT, "'%s' has no recorded times", path);
    return ERR_OK;
}

#endif
