/* Fake GPU drivers: settings, log, objects. See fake.h. */
#include "test/fake/fake.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t MAGIC = UINT64_C(0x66616b6567707521);

const char *fake_setting(const char *key)
{
    static _Thread_local char value[512];
    const char *at = getenv("TUNER_FAKE");
    size_t n = strlen(key);
    while (at && *at) {
        size_t len = strcspn(at, ";");
        if (len > n && strncmp(at, key, n) == 0 && at[n] == '=') {
            snprintf(value, sizeof value, "%.*s", (int)(len - n - 1), at + n + 1);
            return value;
        }
        at += len;
        at += *at == ';';
    }
    return NULL;
}

int64_t fake_number(const char *key, int64_t otherwise)
{
    const char *value = fake_setting(key);
    return value ? strtoll(value, NULL, 10) : otherwise;
}

bool fake_matches(const char *key, const char *name)
{
    const char *pattern = fake_setting(key);
    return pattern && *pattern && strstr(name, pattern);
}

static void log_line(const char *head, const char *fmt, va_list args)
{
    const char *path = fake_setting("log");
    FILE *f = path ? fopen(path, "a") : NULL;
    if (!f) return;
    fputs(head, f);
    vfprintf(f, fmt, args);
    fputc('\n', f);
    fclose(f);
}

void fake_log(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    log_line("", fmt, args);
    va_end(args);
}

int fake_wrong(int code, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    log_line("WRONG CALL: ", fmt, args);
    va_end(args);
    return code;
}

static Object *objects;
static pthread_mutex_t objects_lock = PTHREAD_MUTEX_INITIALIZER; /* of the list; objects stay for ever */

static Object *first(void)
{
    pthread_mutex_lock(&objects_lock);
    Object *o = objects;
    pthread_mutex_unlock(&objects_lock);
    return o;
}

Object *object_new(ObjectKind kind)
{
    Object *o = calloc(1, sizeof *o);
    if (!o) abort();
    *o = (Object){.magic = MAGIC, .kind = kind, .alive = true};
    pthread_mutex_lock(&objects_lock);
    o->next = objects;
    objects = o;
    pthread_mutex_unlock(&objects_lock);
    return o;
}

Object *object_get(const void *handle, ObjectKind kind)
{
    for (Object *o = first(); o; o = o->next)
        if (o == handle) return o->alive && o->kind == kind && o->magic == MAGIC ? o : NULL;
    return NULL;
}

size_t objects_alive(ObjectKind kind)
{
    size_t n = 0;
    for (Object *o = first(); o; o = o->next) n += o->alive && o->kind == kind && !o->name[0];
    return n;
}

uint64_t objects_bytes(void)
{
    uint64_t n = 0;
    for (Object *o = first(); o; o = o->next) n += o->alive && o->kind == BUFFER ? o->size : 0;
    return n;
}

Object *buffer_at(uint64_t address, uint64_t bytes)
{
    for (Object *o = first(); o; o = o->next) {
        uint64_t start = (uint64_t)(uintptr_t)o->memory;
        if (o->alive && o->kind == BUFFER && address >= start && address - start <= o->size &&
            bytes <= o->size - (address - start))
            return o;
    }
    return NULL;
}
