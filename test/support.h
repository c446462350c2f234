/* What the unit tests share: includes cmocka with what it needs, temporary directories, test data paths. */
#ifndef TEST_SUPPORT_H
#define TEST_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/fs.h"

/* A fresh directory below TMPDIR; the caller removes it with dir_remove and frees the name. */
char *test_dir(void);
/* Whole file below the repository's test/data/; fails the test when it is missing. */
Str test_data(Arena *a, const char *name);
const char *test_data_path(Arena *a, const char *name);

/* The arguments of a kernel as its launch packs them: each at a multiple of its size. */
typedef struct {
    _Alignas(16) char bytes[256];
    size_t n; /* bytes used */
} KernelArgs;
/* bytes: 1 to 16, a power of two. Fails the test when there is no room. */
void args_put(KernelArgs *a, const void *p, size_t bytes);
void args_put_u32(KernelArgs *a, int64_t v);

/* Fails the test where a kernel's text has a name without its prefix: '@', but for predicates of PTX. */
void assert_names(Str text);

#define assert_ok(expr)                                                                                      \
    do {                                                                                                     \
        Err assert_err_ = (expr);                                                                            \
        if (assert_err_) fail_msg("%s: error %d: %s", #expr, assert_err_, err_message());                    \
    } while (0)
#define assert_str(str, cstr)                                                                                \
    do {                                                                                                     \
        Str assert_s_ = (str);                                                                               \
        if (!str_eq_c(assert_s_, (cstr))) fail_msg("'%.*s' is not '%s'", STR_ARG(assert_s_), (cstr));        \
    } while (0)

#endif
