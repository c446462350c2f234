/* Command lines: a program describes its commands and options in tables, and the parser, the help text, the
 * manual page and the completions of bash and zsh are all made from them. Does not open files.
 *
 * Forms that are taken: --name VALUE, --name=VALUE, -x VALUE, -xVALUE; '--' ends the options. Every program
 * has --help (-h), --version, --help-man (its manual page) and --help-completion=bash|zsh without rows of
 * their own. Errors are ERR_INPUT with one line that names the option, the value and what was expected;
 * options and commands that are unknown come with the nearest one that is known.
 */
#ifndef BASE_CLI_H
#define BASE_CLI_H

#include "base/str.h"

typedef enum {
    CLI_FLAG,   /* bool: set to true */
    CLI_CLEAR,  /* bool: set to false */
    CLI_TEXT,   /* const char *: points into argv */
    CLI_INT,    /* int64_t from min to max */
    CLI_INT32,  /* int32_t from min to max */
    CLI_REAL,   /* double from min to max */
    CLI_WORD,   /* int: index of the value in words */
    CLI_CALL,   /* set() takes the value */
    CLI_IGNORED /* accepted, has no effect; set() may say so */
} CliKind;

/* How an option with an argument takes its value. */
typedef enum {
    CLI_NEEDED = 0,    /* required: after '=', or the next word, whatever that is */
    CLI_BEHIND_EQUALS, /* optional: after '=' only */
    CLI_OPTIONAL_WORD, /* optional: after '=', or the next word if it is one of words */
    CLI_NOT_AN_OPTION, /* like CLI_NEEDED, but a next word that begins with "--" is no value */
    CLI_ASSIGNMENTS    /* one value, and all following words that have a '=' and do not begin with '-' */
} CliTakes;

typedef struct CliOption CliOption;
struct CliOption {
    const char *name; /* long name without dashes; NULL: there is only the letter */
    char letter;      /* 0: none */
    CliKind kind;
    CliTakes takes;
    const char *arg;   /* name of the value in texts; FILE and DIR complete paths; NULL: takes no value */
    size_t offset;     /* of the field in the target */
    const char *help;  /* one sentence without a full stop; the value's default in brackets */
    const char *words; /* legal values, separated by blanks: CLI_WORD, CLI_OPTIONAL_WORD, completion */
    const char *alias; /* other long names that are taken, separated by blanks */
    int64_t min, max;  /* of numbers; both 0: any */
    const char *data;  /* not read by the parser; set() may use it */
    /* value: NULL where an optional one is missing. */
    Err (*set)(void *target, const CliOption *o, const char *value);
};

/* Rows of options. FIELD(f) is the program's own: the offset of a field in its target. An option of CLI_ROW
 * takes no value, one of CLI_VALUE does, one of CLI_NUMBER takes a number between limits. */
#define CLI_ROW(nam, knd, f, hlp)                                                                            \
    {                                                                                                        \
        .name = nam, .kind = knd, FIELD(f), .help = hlp                                                      \
    }
#define CLI_VALUE(nam, knd, val, f, hlp)                                                                     \
    {                                                                                                        \
        .name = nam, .kind = knd, .arg = val, FIELD(f), .help = hlp                                          \
    }
#define CLI_NUMBER(nam, knd, val, least, most, f, hlp)                                                       \
    {                                                                                                        \
        .name = nam, .kind = knd, .arg = val, .min = least, .max = most, FIELD(f), .help = hlp               \
    }

typedef struct {
    const char *name;     /* NULL: of a program without commands */
    const char *operands; /* as in the usage line: "CONFIG.yaml... OUTDIR" */
    const char *help;
    int min, max;            /* number of operands */
    const CliOption *option; /* of this command alone */
    size_t n_options;
    const char
        *notes; /* like those of the program, on the pages of this command and of the program; or NULL */
} CliCommand;
/* The members of a command or a program for an array of options. */
#define CLI_OPTIONS(array) .option = array, .n_options = sizeof array / sizeof *array

typedef struct {
    const char *name, *summary;       /* "tuner-logic", "edits and compares library logic files" */
    const CliCommand *const *command; /* at least one */
    size_t n_commands;
    bool first_is_default;   /* command[0] is run when the first word names no command */
    const CliOption *option; /* of all commands */
    size_t n_options;
    /* Text that follows the options in help and manual: paragraphs separated by empty lines; lines that begin
     * with a blank are kept as they are, others are filled. */
    const char *notes;
    /* Called with a word that begins with '-' and is in no table, for programs that pass such words on. */
    Err (*other)(void *target, const char *word);
    /* Called for each option instead of cli_value, for programs that store values later. */
    Err (*given)(void *target, const CliOption *o, const char *value);
} CliProgram;

/* The command and the operands of a command line. The operands are argv's words, moved to its front. */
typedef struct {
    const CliCommand *command;
    char **operand;
    int n_operands;
    bool done; /* help or another text was printed: there is nothing else to do */
} CliLine;

/* Reads a whole command line; argv[0] is not looked at. Sets the fields of the target in the order of the
 * words, so that the last value counts. argv is reordered. */
Err cli_parse(const CliProgram *p, void *target, int argc, char **argv, CliLine *out);
/* Finds the command that argv[1] names and in *skip how many words it takes (1 with the program's name, or
 * 2). out->done: a text was printed instead. For programs whose commands have targets of their own. */
Err cli_command(const CliProgram *p, int argc, char **argv, int *skip, CliLine *out);
/* Reads options and operands of one command; argv begins after the command's name. */
Err cli_options(const CliProgram *p, const CliCommand *c, void *target, int argc, char **argv, CliLine *out);

/* Converts a value as the kind says and stores it in the target. Messages begin with "--name: ". The text
 * must live as long as the target for CLI_TEXT. */
Err cli_value(void *target, const CliOption *o, const char *value);
/* Takes one of words without regard to case; the message lists them. */
Err cli_word(const char *name, Str value, const char *words, int *out);
/* The nearest of n names by edit distance; NULL when none is near enough to be meant. */
const char *cli_nearest(Str name, const char *const *names, size_t n);
/* ERR_INPUT: "unknown WHAT 'NAME' (did you mean 'X'?)" or, without one near, "(see PROGRAM --help)". */
Err cli_unknown(const CliProgram *p, const char *what, Str name, const char *const *names, size_t n);

/* ERR_INPUT with the usage line of a command. */
Err cli_usage(const CliProgram *p, const CliCommand *c);

/* c: of this command only; NULL: of the whole program. */
void cli_help(const CliProgram *p, const CliCommand *c, Buf *out);
void cli_man(const CliProgram *p, Buf *out);
void cli_completion_bash(const CliProgram *p, Buf *out);
void cli_completion_zsh(const CliProgram *p, Buf *out);
/* "tuner-client 0.1.0 (Tensile formats 4.44.0)" and a line end. */
void cli_version(const CliProgram *p, Buf *out);
/* Writes the text to standard output and frees the buffer. */
Err cli_print(Buf *text);

/* The i-th option that every program has and that neither this program nor the command replaces by a row of
 * its own; NULL after the last one. */
const CliOption *cli_common_at(const CliProgram *p, const CliCommand *c, size_t i);

#endif
