/* tuner-nvrtc: NVRTC as a compiler command, for the compile pool (build.h), which starts it, limits its time
 * and memory, and goes on when it crashes.
 *
 *     tuner-nvrtc --version                          its own version, and that of NVRTC
 *     tuner-nvrtc [NVRTC options] -o OUT.cubin SOURCE.cu
 *     tuner-nvrtc [NVRTC options] --check            exit code 0 if NVRTC accepts the options; writes no file
 *
 * Errors and the compiler's log go to standard error. It makes no files but OUT.
 */
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/fs.h"
#include "base/vec.h"
#include "build/nvrtc/nvrtc.h"

static const size_t SOURCE_BYTES_MAX = 64 << 20;

typedef struct {
    bool check, version;
    const char *out;
    VEC(const char *) option;
    CliLine line;
    Arena arena;
} Command;

/* NVRTC's own options are passed on. */
static Err pass_on(void *target, const char *word)
{
    Command *c = target;
    if (!VEC_PUSH(&c->option, word)) FAIL(ERR_FAILED, "out of memory for options");
    return ERR_OK;
}

static const CliOption options[] = {
    {.name = "version",
     .offset = offsetof(Command, version),
     .help = "print the version, and that of NVRTC; fails where there is no NVRTC"},
    {.name = "check",
     .offset = offsetof(Command, check),
     .help = "only check whether NVRTC accepts the options"},
    {.letter = 'o',
     .kind = CLI_TEXT,
     .arg = "FILE",
     .offset = offsetof(Command, out),
     .help = "write the code object to this file"},
};

static const CliCommand command = {
    .operands = "SOURCE.cu",
    .help = "compiles CUDA C++ to a cubin by NVRTC; all other options are NVRTC's (-arch=sm_90)",
    .max = INT_MAX};
static const CliCommand *const commands[] = {&command};

static const CliProgram program = {
    .name = "tuner-nvrtc",
    .summary = "compiles CUDA kernels with libnvrtc",
    .command = commands,
    .n_commands = 1,
    CLI_OPTIONS(options),
    .other = pass_on,
    .notes = "exit codes: 0 ok, 1 the compilation failed or there is no NVRTC, 2 usage or bad input\n",
};

static Err command_compile(Command *c, Buf *cubin, Buf *log)
{
    Str source = STR("");
    const char *file = c->check ? "check.cu" : c->line.operand[0];
    if (c->line.n_operands != 1 && !c->check)
        FAIL(ERR_INPUT, "%d source files, expected one", c->line.n_operands);
    if (!c->check) TRY(file_read(&c->arena, file, SOURCE_BYTES_MAX, &source));
    return nvrtc_compile(source, file, c->option.v, (int)c->option.n, cubin, log);
}

/* Written directly: the compile pool checks the file and renames it. */
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
        Buf own;
        buf_init(&own);
        cli_version(&program, &own);
        TRY(cli_print(&own));
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
    Err e;
    arena_init(&c.arena, 0);
    buf_init(&cubin);
    buf_init(&log);
    e = cli_parse(&program, &c, argc, argv, &c.line);
    if (!e && !c.line.done) e = command_run(&c, &cubin, &log);
    if (log.n) fprintf(stderr, "%s\n", buf_cstr(&log));
    if (e) fprintf(stderr, "tuner-nvrtc: error: %s\n", err_message());
    fflush(NULL);
    _exit(e); /* not through the libraries' own exit handlers, which take time and have crashed */
}
