/* libtuner: the message for a problem without a solution: the problem, and the transposes and types for which
 * the library has solutions. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "client/runtime/tuner_priv.h"

enum { KINDS_MAX = 64, KINDS_SHOWN = 8, TEXT_MAX = 96 };

typedef struct {
    uint64_t operation;
    uint32_t types;
    uint8_t compute;
    Fused fused;
} Kind;

/* "NT"; for an operation other than a batched BLAS GEMM, its identifier without a suffix. */
static const char *offered_operation(uint64_t operation, const Fused *fused, const char *text)
{
    static const char *const names[16] = {"NN", "TN", "NT", "TT", NULL, "CN", NULL, "CT",
                                          NULL, NULL, "NC", "TC", NULL, NULL, NULL, "CC"};
    for (unsigned i = 0; i < 16; i++)
        if (names[i] && operation_code_fused(i & 1, i & 2, i & 4, i & 8, true, fused) == operation)
            return names[i];
    return text;
}

/* "NT f32_r", "NT_BiasS_RELU f32_r"; if types differ, those of A, B, C, D and the accumulator: "NT i8_r i8_r
 * i32_r i32_r i32_r". */
static void kind_text(const Kind *k, const char *text, char out[TEXT_MAX])
{
    char suffix[FUSED_SUFFIX_MAX];
    const char *name = offered_operation(k->operation, &k->fused, text);
    const int n_suffix = name == text ? 0 : (int)fused_suffix(&k->fused, suffix);
    uint8_t type[5] = {0, 0, 0, 0, k->compute};
    bool same = true;
    for (int i = 0; i < 4; i++) type[i] = (uint8_t)(k->types >> 8 * i);
    for (int i = 1; i < 5; i++) same &= type[i] == type[0];
    int n = snprintf(out, TEXT_MAX, "%s%.*s", name, n_suffix, suffix);
    for (int i = 0; i < (same ? 1 : 5) && n > 0 && n < TEXT_MAX; i++)
        n += snprintf(out + n, TEXT_MAX - (size_t)n, " %s", tuner_type_word(type[i]));
}

static size_t kinds_collect(const tuner_library *t, Kind kind[KINDS_MAX], const char *text[KINDS_MAX])
{
    size_t n = 0;
    for (size_t i = 0; i < library_n_solutions(t->library) && n < KINDS_MAX; i++) {
        const LibSolution *s = library_solution(t->library, i);
        size_t k = 0;
        if (!s) continue;
        while (k < n && (kind[k].operation != s->operation || kind[k].types != s->types ||
                         kind[k].compute != s->compute_type))
            k++;
        if (k < n) continue;
        kind[n] = (Kind){s->operation, s->types, s->compute_type, s->fused};
        text[n++] = s->operation_text;
    }
    return n;
}

/* The list of transposes and types, owned by the library and made again after placeholders were read; NULL
 * when out of memory. */
static const char *offer_text(tuner_library *t)
{
    Kind kind[KINDS_MAX];
    const char *text[KINDS_MAX];
    size_t n_solutions = library_n_solutions(t->library);
    pthread_mutex_lock(&t->lock);
    if (!t->offer || t->offer_of != n_solutions) {
        Buf b;
        char one[TEXT_MAX];
        size_t n = kinds_collect(t, kind, text);
        buf_init(&b);
        for (size_t i = 0; i < n && i < KINDS_SHOWN; i++) {
            kind_text(&kind[i], text[i], one);
            buf_printf(&b, "%s%s", i ? ", " : "", one);
        }
        if (n > KINDS_SHOWN) buf_printf(&b, " and %zu%s more", n - KINDS_SHOWN, n == KINDS_MAX ? " or" : "");
        t->offer = arena_dup(&t->arena, n ? buf_view(&b) : STR("nothing")).s;
        t->offer_of = n_solutions;
        buf_fini(&b);
    }
    const char *offer = t->offer;
    pthread_mutex_unlock(&t->lock);
    return offer;
}

Err no_solution(tuner_library *t, const Contraction *p, const Fused *op)
{
    char wanted[TEXT_MAX];
    const Kind kind = {p->operation, p->types, p->compute_type, *op};
    const char *offer = offer_text(t), *at = offer;
    kind_text(&kind, "?", wanted);
    size_t n = strlen(wanted);
    bool listed = false;
    for (; at && (at = strstr(at, wanted)); at += n) listed |= at[n] == 0 || at[n] == ',' || at[n] == ' ';
    FAIL(TUNER_NO_SOLUTION,
         "%s has no solution for %s, %" PRId64 " x %" PRId64 " x %" PRId64 "%s%s%s%s; it has %s%s", t->path,
         wanted, p->m, p->n, p->k, p->strided_batched ? "" : " with batches by arrays of pointers",
         p->unaligned ? " with addresses that are no multiples of 16 bytes" : "",
         library_names_arch(t->library) ? "" : ", and no rows for ",
         library_names_arch(t->library) ? "" : t->hw.arch.s, offer ? offer : "others",
         listed ? ", but none of them takes this size, these strides and scalars" : "");
}

Err no_conv_solution(tuner_library *t, const char *conv)
{
    const char *offer = offer_text(t);
    FAIL(TUNER_NO_SOLUTION, "%s has no solution for the convolution %s%s%s; it has %s", t->path, conv,
         library_names_arch(t->library) ? "" : ", and no rows for ",
         library_names_arch(t->library) ? "" : t->hw.arch.s, offer ? offer : "others");
}
