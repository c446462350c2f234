/* A library of three kernels, compiled here, for tests of libtuner: a plain one, one of GlobalSplitU parts
 * that add into D in order after a beta kernel, one with a workspace and a post kernel. */
#ifndef TEST_UNIT_TUNER_LIBRARY_H
#define TEST_UNIT_TUNER_LIBRARY_H

#include "test/support.h"

#include "problem/target.h"

/* Kernels of the host ABI, tiles of 16 x 16, Tensile's Source layout. Naive on purpose. */
static const char kernels[] =
    "#include <stdint.h>\n"
    "typedef struct { float *d; const float *c, *a, *b; float alpha, beta; uint32_t d1, d2, c1, c2, a1, a2, "
    "b1, b2;\n"
    "  uint32_t m, n, batch, k; } Args;\n"
    "static void tile(const Args *p, uint32_t x, uint32_t y, uint32_t z, uint32_t k0, uint32_t k1, int mode, "
    "float *out)\n"
    "{ for (uint32_t j = 16 * y; j < 16 * y + 16 && j < p->n; j++)\n"
    "  for (uint32_t i = 16 * x; i < 16 * x + 16 && i < p->m; i++) {\n"
    "   float s = 0;\n"
    "   for (uint32_t l = k0; l < k1; l++) s += p->a[i + l * p->a1 + z * p->a2] * p->b[l + j * p->b1 + z * "
    "p->b2];\n"
    "   uint64_t at = i + (uint64_t)j * p->d1 + (uint64_t)z * p->d2;\n"
    "   if (mode == 0) { float c = p->beta == 0 ? 0 : p->beta * p->c[i + j * p->c1 + z * p->c2];\n"
    "     p->d[at] = p->alpha * s + c; }\n"
    "   if (mode == 1) p->d[at] += p->alpha * s;\n"
    "   if (mode == 2) out[at] = s; } }\n"
    "const uint64_t plain_local_bytes = 100;\n"
    "void plain(const void *k, const uint32_t g[3], uint64_t f, uint64_t l, void *local)\n"
    "{ const Args *p = k; if ((uintptr_t)local % 64 || !local) return;\n"
    "  for (uint64_t w = f; w < l; w++)\n"
    "   tile(p, w % g[0], w / g[0] % g[1], w / g[0] / g[1], 0, p->k, 0, 0); }\n"
    "const uint64_t single_local_bytes = 0;\n"
    "void single(const void *k, const uint32_t g[3], uint64_t f, uint64_t l, void *local)\n"
    "{ const Args *p = k;\n"
    "  for (uint64_t w = f; w < l; w++) { uint32_t y = w / g[0] % g[1], part = y % 4;\n"
    "   tile(p, w % g[0], y / 4, w / g[0] / g[1], p->k * part / 4, p->k * (part + 1) / 4, 1, 0); } }\n"
    "const uint64_t multi_local_bytes = 0;\n"
    "void multi(const void *k, const uint32_t g[3], uint64_t f, uint64_t l, void *local)\n"
    "{ const Args *p = k; uint64_t n = (uint64_t)p->m * p->n * p->batch;\n"
    "  for (uint64_t w = f; w < l; w++) { uint32_t y = w / g[0] % g[1], part = y % 2;\n"
    "   tile(p, w % g[0], y / 2, w / g[0] / g[1], p->k * part / 2, p->k * (part + 1) / 2, 2, p->d + part * "
    "n); } }\n"
    "void Cijk_S(const void *k, const uint32_t g[3], uint64_t f, uint64_t l, void *local)\n"
    "{ const struct { float *d; const float *c; uint32_t d1, d2, c1, c2, m, n, b; float beta; } *p = k;\n"
    "  for (uint64_t e = f * 256; e < l * 256 && e < (uint64_t)p->m * p->n * p->b; e++) {\n"
    "   uint64_t i = e % p->m, j = e / p->m % p->n, z = e / p->m / p->n;\n"
    "   p->d[i + j * p->d1 + z * p->d2] = p->beta == 0 ? 0 : p->beta * p->c[i + j * p->c1 + z * p->c2]; } }\n"
    "void Cijk_S_PostGSU2(const void *k, const uint32_t g[3], uint64_t f, uint64_t l, void *local)\n"
    "{ const struct { float *d; const float *w, *c; float alpha, beta; uint32_t d1, d2, w1, w2, c1, c2, m, "
    "n, b, gsu; } *p = k;\n"
    "  uint64_t n = (uint64_t)p->m * p->n * p->b;\n"
    "  for (uint64_t e = f * 256; e < l * 256 && e < n; e++) {\n"
    "   uint64_t i = e % p->m, j = e / p->m % p->n, z = e / p->m / p->n; float s = 0;\n"
    "   for (uint32_t q = 0; q < p->gsu; q++) s += p->w[q * n + i + j * p->w1 + z * p->w2];\n"
    "   float c = p->beta == 0 ? 0 : p->beta * p->c[i + j * p->c1 + z * p->c2];\n"
    "   p->d[i + j * p->d1 + z * p->d2] = p->alpha * s + c; } }\n"
    "void Cijk_S_PostGSU2_VW2(const void *k, const uint32_t g[3], uint64_t f, uint64_t l, void *local)\n"
    "{ uint32_t g1[3] = {g[0] * 2, 1, 1}; Cijk_S_PostGSU2(k, g1, f * 2, l * 2, local); }\n";

static void add_solution(Buf *b, int index, const char *name, int gsu, int accumulation, int bytes)
{
    buf_printf(b, "- name: %s\n  index: %d\n  hardwarePredicate: {type: TruePred}\n", name, index);
    buf_puts(
        b,
        "  problemPredicate: {type: And, value: [{type: TypesEqual, value: [Float, Float, Float, Float]},\n"
        "    {type: StrideAEqual, index: 0, value: 1}]}\n");
    buf_printf(b, "  taskPredicate: {type: %s}\n", bytes ? "WorkspaceCheck" : "TruePred");
    buf_puts(b, "  problemType: {operationIdentifier: Contraction_l_Ailk_Bljk_Cijk_Dijk, aType: Float, "
                "bType: Float,\n"
                "    cType: Float, dType: Float, useBeta: true, highPrecisionAccumulate: false}\n");
    buf_printf(
        b,
        "  sizeMapping: {workGroup: [16, 16, 1], macroTile: [16, 16, 1], threadTile: [1, 1], depthU: 8,\n"
        "    staggerU: 0, globalSplitU: %d, staggerStrideShift: 0, workGroupMapping: 1, persistentKernel: "
        "0,\n"
        "    persistentKernelAlongBatch: false, sourceKernel: true, globalAccumulation: %d,\n"
        "    workspaceSizePerElemC: %d}\n  debugKernel: false\n",
        gsu, accumulation, bytes);
}

/* M of 20 goes to the split one, 30 to the one with a workspace, the rest to the plain one. */
static void make_library(const char *dir, const char *metadata)
{
    Arena a;
    Buf b;
    const char *arch = target_host_level()->name;
    arena_init(&a, 0);
    buf_init(&b);
    buf_puts(&b, "solutions:\n");
    add_solution(&b, 0, "plain", 1, 0, 0);
    add_solution(&b, 1, "single", 4, 0, 0);
    add_solution(&b, 2, "multi", 2, 2, 8);
    add_solution(&b, 3, "absent", 1, 0, 0);
    buf_printf(
        &b,
        "library:\n  type: Hardware\n  rows:\n  - predicate: {type: AMDGPU, value: {type: Processor, value: "
        "%s}}\n"
        "    library:\n      type: ProblemMap\n      property: {type: OperationIdentifier}\n      map:\n"
        "        Contraction_l_Ailk_Bljk_Cijk_Dijk:\n          type: Matching\n          distance: "
        "Euclidean\n"
        "          properties: [{type: FreeSizeA, index: 0}]\n          table:\n"
        "          - {key: [10], index: 0, speed: 1.0}\n          - {key: [20], index: 1, speed: 1.0}\n"
        "          - {key: [30], index: 2, speed: 1.0}\n          - {key: [50], index: 0, speed: 1.0}\n"
        "          - {key: [999], index: 3, speed: 1.0}\n",
        arch);
    assert_ok(file_write(path_join(&a, dir, metadata).s, buf_view(&b)));
    const char *source = path_join(&a, dir, "k.c").s;
    assert_ok(file_write(source, str_from(kernels)));
    Str command =
        arena_printf(&a, "cc -shared -fPIC -O1 -w -o %s/Kernels.so-000-%s.so %s", dir, arch, source);
    assert_int_equal(system(command.s), 0);
    buf_fini(&b);
    arena_fini(&a);
}

#endif
