/* tuner-nvrtc: NVRTC as a compiler command, for the compile pool (build.h), which starts it, limits its time
 * and memory, and goes on when it crashes.
 *
 *     tuner-nvrtc --version
 *     tuner-nvrtc [NVRTC options] -o OUT.cubin SOURCE.cu
 *     tuner-nvrtc [NVRTC options] --check            takes the options? nothing is written
 *
 * Errors and the compiler's log go to standard error. It makes no files but OUT.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/vec.h"
#include "build/nvrtc/nvrtc.h"

static const size_t SOURCE_BYTES_MAX = 64 << 20;

typedef struct {
    bool check, version;
    const char *out;
    VEC(const char *) option;
    VEC(const char *) file;
    Arena arena;
} Command;

static Err word_take(Command *c, int argc, char **argv, int *i)
{
    const char *w = argv[*i];
    bool ok = true;
    if (!strcmp(w, "--version"))
        c->version = true;
    else if (!strcmp(w, "--check"))
        c->check = true;
    else if (!strcmp(w, "-o")) {
        if (++*i >= argc) FAIL(ERR_INPUT, "-o needs a file");
        c->out = argv[*i];
    } else if (w[0] == '-') {
        ok = VEC_PUSH(&c->option, w);
    } else {
        ok = VEC_PUSH(&c->file, w);
    }
    if (!ok) FAIL(ERR_FAILED, "out of memory for %d words", argc);
    return 0;
}

static Err command_compile(Command *c, Buf *cubin, Buf *log)
{
    Str source = STR("");
    if (c->file.n != 1 && !c->check) FAIL(ERR_INPUT, "%zu source files, expected one", c->file.n);
    if (!c->check) TRY(file_read(&c->arena, c->file.v[0], SOURCE_BYTES_MAX, &source));
    return nvrtc_compile(source, c->check ? "check.cu" : c->file.v[0], c->option.v, (int)c->option.n, cubin,
                         log);
}

/* Into the pool's work directory, which checks and renames it. */
static Err out_write(const char *path, Str data)
{
    FILE *f = fopen(path, "we");
    bool ok = f && fwrite(data.s, 1, data.n, f) == data.n;
    if (f && fclose(f)) ok = false;
    if (!ok) FAIL(ERR_FAILED, "cannot write '%s': %s", path, strerror(errno));
    return 0;
}

static Err command_run(Command *c, Buf *cubin, Buf *log)
{
    if (c->version) {
        TRY(nvrtc_version(log));
        printf("%s\n", buf_cstr(log));
        buf_reset(log);
        return 0;
    }
    if (!c->out && !c->check) FAIL(ERR_INPUT, "no -o FILE");
    TRY(command_compile(c, cubin, log));
    return c->check ? 0 : out_write(c->out, buf_view(cubin));
}

int main(int argc, char **argv)
{
    Command c = {0};
    Buf cubin, log;
    Err e = 0;
    arena_init(&c.arena, 0);
    buf_init(&cubin);
    buf_init(&log);
    for (int i = 1; !e && i < argc; i++) e = word_take(&c, argc, argv, &i);
    if (!e) e = command_run(&c, &cubin, &log);
    if (log.n) fprintf(stderr, "%s\n", buf_cstr(&log));
    if (e) fprintf(stderr, "tuner-nvrtc: error: %s\n", err_message());
    fflush(NULL);
    _exit(e); /* not through the libraries' own exit handlers, which take time and have crashed */
}
