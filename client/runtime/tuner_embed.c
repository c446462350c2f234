/* libtuner: libraries compiled into the program. tuner-createlib --embed-library writes a C source that
 * registers its files with tuner_embedded_add before main; tuner_open finds them as "embedded:NAME" or
 * "embedded:NAME:KEY". The list only grows, and its entries never change.
 */
#include <stdlib.h>
#include <string.h>

#include "client/runtime/tuner_priv.h"

/* A global, because constructors run before main and have no other place for the list. */
static _Atomic(EmbeddedFile *) newest;

int tuner_embedded_add(const char *name, const char *key, const char *file, const unsigned char *data,
                       size_t n)
{
    if (!name || !*name || !file || !*file || (!data && n))
        return err_set(ERR_INPUT, "tuner_embedded_add: no %s",
                       !name || !*name   ? "name"
                       : !file || !*file ? "file name"
                                         : "data");
    EmbeddedFile *f = calloc(1, sizeof *f);
    if (!f) return err_set(ERR_FAILED, "out of memory for embedded file '%s'", file);
    *f = (EmbeddedFile){.name = name, .key = key ? key : "", .file = file};
    f->data = (Str){(const char *)data, n};
    f->next = atomic_load(&newest);
    while (!atomic_compare_exchange_weak(&newest, &f->next, f)) {
    }
    return TUNER_OK;
}

static bool belongs(const EmbeddedFile *f, Str name, Str key)
{
    return str_eq_c(name, f->name) && (!key.s || str_eq_c(key, f->key));
}

/* Splits "embedded:NAME[:KEY]"; without KEY files of all keys match. */
static bool split_name(const char *base, Str *name, Str *key)
{
    Str rest = str_from(base);
    *key = STR_NULL;
    if (!str_starts(rest, "embedded:")) return false;
    *name = str_sub(rest, 9, rest.n);
    size_t colon = str_find(*name, ':', 0);
    if (colon < name->n) {
        *key = str_sub(*name, colon + 1, name->n);
        *name = str_sub(*name, 0, colon);
    }
    return true;
}

bool is_embedded(const char *base)
{
    Str name, key;
    return split_name(base, &name, &key);
}

const EmbeddedFile *embedded_next(const char *base, const EmbeddedFile *after)
{
    Str name, key;
    if (!split_name(base, &name, &key)) return NULL;
    const EmbeddedFile *f = after ? after->next : atomic_load(&newest);
    while (f && !belongs(f, name, key)) f = f->next;
    return f;
}

const EmbeddedFile *embedded_find(const char *base, const char *file)
{
    const EmbeddedFile *f = embedded_next(base, NULL);
    while (f && strcmp(f->file, file) != 0) f = embedded_next(base, f);
    return f;
}

Err embedded_read(const void *base, const char *file, Str *data)
{
    const EmbeddedFile *f = embedded_find(base, file);
    if (!f) FAIL(ERR_FAILED, "'%s' has no file '%s'", (const char *)base, file);
    *data = f->data;
    return ERR_OK;
}
