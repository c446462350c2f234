/* tuner-logic massage: the command line of massage.h. */
#include <stdio.h>

#include "base/proc.h"
#include "logic/massage.h"
#include "logic/show.h"

const CliCommand logic_massage_cli = {
    .name = "massage",
    .operands = "INPUT_DIR OUTPUT_DIR",
    .help = "as rocBLAS's massage.py: a second copy of every solution, for ldc other than ldd",
    .min = 2,
    .max = 2,
};

Err logic_massage_command(int argc, char **argv)
{
    int unused = 0;
    MassageReport r;
    Buf text;
    CliLine line;
    TRY(cli_options(&logic_program, &logic_massage_cli, &unused, argc, argv, &line));
    if (line.done) return ERR_OK;
    interrupt_init();
    buf_init(&text);
    Err e = massage_dir(line.operand[0], line.operand[1], &r, &text);
    if (!e || e == ERR_PARTIAL) {
        fwrite(text.s, 1, text.n, stdout);
        printf("%zu files massaged: %zu solutions and %zu sizes added\n", r.n_files, r.n_solutions_added,
               r.n_sizes_added);
    }
    buf_fini(&text);
    return e;
}
