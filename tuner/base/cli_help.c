/* Help texts and manual pages from the tables of a program. See cli.h. */
#include "base/cli.h"

#include <stdio.h>
#include <string.h>

#include "base/version.h"

enum { COLUMNS = 80, HELP_COLUMN = 30 };

void cli_version(const CliProgram *p, Buf *out)
{
    buf_printf(out, "%s %s (Tensile formats %s)\n", p->name, TUNER_VERSION, TENSILE_VERSION);
}

/* Adds words of text from column `at` on, in lines that are indented by `indent`; ends with a line end. */
static void fill(Buf *out, const char *text, size_t at, size_t indent)
{
    Str rest = str_from(text), word;
    bool first = true;
    while (str_split(&rest, ' ', &word)) {
        if (!word.n) continue;
        if (!first && at + 1 + word.n > COLUMNS) {
            buf_printf(out, "\n%*s", (int)indent, "");
            at = indent;
        } else if (!first) {
            buf_putc(out, ' ');
            at++;
        }
        buf_str(out, word);
        at += word.n;
        first = false;
    }
    buf_putc(out, '\n');
}

/* "-d, --device KIND", "--dump-program[=PASS]" */
static void option_form(const CliOption *o, bool columns, Buf *out)
{
    if (o->letter) buf_printf(out, "-%c", o->letter);
    if (o->letter && o->name) buf_puts(out, ", ");
    if (!o->letter && columns) buf_puts(out, "    ");
    if (o->name) buf_printf(out, "--%s", o->name);
    if (!o->arg) return;
    if (o->takes == CLI_BEHIND_EQUALS)
        buf_printf(out, "[=%s]", o->arg);
    else if (o->takes == CLI_OPTIONAL_WORD)
        buf_printf(out, " [%s]", o->arg);
    else if (o->takes == CLI_ASSIGNMENTS)
        buf_printf(out, " %s...", o->arg);
    else
        buf_printf(out, " %s", o->arg);
}

static void option_help(const CliOption *o, Buf *out)
{
    Buf form;
    buf_init(&form);
    option_form(o, true, &form);
    buf_printf(out, "  %s", buf_cstr(&form));
    if (form.n + 4 > HELP_COLUMN)
        buf_printf(out, "\n%*s", HELP_COLUMN, "");
    else
        buf_printf(out, "%*s", (int)(HELP_COLUMN - 2 - form.n), "");
    buf_fini(&form);
    fill(out, o->help, HELP_COLUMN, HELP_COLUMN);
}

static size_t options_help(const CliOption *o, size_t n, bool ignored, const char *title, Buf *out)
{
    size_t shown = 0;
    for (size_t i = 0; i < n; i++) {
        if ((o[i].kind == CLI_IGNORED) != ignored) continue;
        if (!shown++ && title) buf_printf(out, "\n%s:\n", title);
        option_help(&o[i], out);
    }
    return shown;
}

static void usage_line(const CliProgram *p, const CliCommand *c, Buf *out)
{
    bool in_brackets = c->name && p->first_is_default && c == p->command[0];
    buf_printf(out, "  %s", p->name);
    if (c->name) buf_printf(out, in_brackets ? " [%s]" : " %s", c->name);
    buf_puts(out, " [OPTION]...");
    if (c->operands[0]) buf_printf(out, " %s", c->operands);
    if (c->help) {
        buf_printf(out, "\n      ");
        fill(out, c->help, 6, 6);
    } else {
        buf_putc(out, '\n');
    }
}

static void notes_help(const char *notes, Buf *out)
{
    Str rest = str_from(notes), line;
    buf_putc(out, '\n');
    while (str_split(&rest, '\n', &line)) {
        char text[512];
        snprintf(text, sizeof text, "%.*s", STR_ARG(line));
        if (!line.n || line.s[0] == ' ')
            buf_printf(out, "%s\n", text);
        else
            fill(out, text, 0, 0);
    }
}

static void all_options(const CliProgram *p, const CliCommand *c, bool ignored, Buf *out)
{
    bool whole = !c && p->n_commands > 1;
    const char *title = ignored ? "accepted, without an effect here" : "options";
    if (whole) {
        for (size_t i = 0; i < p->n_commands; i++) {
            char of[96];
            snprintf(of, sizeof of, ignored ? "accepted by '%s', without an effect" : "options of '%s'",
                     p->command[i]->name);
            options_help(p->command[i]->option, p->command[i]->n_options, ignored, of, out);
        }
        bool own = false;
        for (size_t i = 0; i < p->n_commands; i++) own |= p->command[i]->n_options > 0;
        if (own && !ignored) title = "options of all commands";
    } else {
        const CliCommand *one = c ? c : p->command[0];
        if (options_help(one->option, one->n_options, ignored, title, out)) title = NULL;
    }
    if (options_help(p->option, p->n_options, ignored, title, out)) title = NULL;
    const CliOption *o;
    for (size_t i = 0; !ignored && (o = cli_common_at(p, c ? c : p->command[0], i)); i++, title = NULL)
        options_help(o, 1, false, title, out);
}

void cli_help(const CliProgram *p, const CliCommand *c, Buf *out)
{
    buf_printf(out, "%s: ", p->name);
    fill(out, p->summary, strlen(p->name) + 2, 2);
    buf_puts(out, "\nusage:\n");
    for (size_t i = 0; i < p->n_commands; i++)
        if (!c || c == p->command[i]) usage_line(p, p->command[i], out);
    all_options(p, c, false, out);
    all_options(p, c, true, out);
    for (size_t i = 0; i < p->n_commands; i++)
        if ((!c || c == p->command[i]) && p->command[i]->notes) notes_help(p->command[i]->notes, out);
    if (p->notes) notes_help(p->notes, out);
}

/* ---- the manual page ---- */

/* Text as troff takes it: no word is a request, '-' is the minus that one types. */
static void troff(Buf *out, Str text)
{
    if (text.n && (text.s[0] == '.' || text.s[0] == '\'')) buf_puts(out, "\\&");
    for (size_t i = 0; i < text.n; i++) {
        if (text.s[i] == '\\')
            buf_puts(out, "\\e");
        else if (text.s[i] == '-')
            buf_puts(out, "\\-");
        else
            buf_putc(out, text.s[i]);
    }
}

static void troff_line(Buf *out, const char *before, const char *text)
{
    buf_puts(out, before);
    troff(out, str_from(text));
    buf_putc(out, '\n');
}

static void options_man(const CliOption *o, size_t n, Buf *out)
{
    for (size_t i = 0; i < n; i++) {
        Buf form;
        buf_init(&form);
        option_form(&o[i], false, &form);
        troff_line(out, ".TP\n.B ", buf_cstr(&form));
        buf_fini(&form);
        if (o[i].kind == CLI_IGNORED) buf_puts(out, "Accepted, without an effect here: ");
        troff(out, str_from(o[i].help));
        buf_puts(out, ".\n");
        if (o[i].kind == CLI_WORD) {
            buf_puts(out, "One of ");
            troff(out, str_from(o[i].words));
            buf_puts(out, ".\n");
        }
    }
}

static void notes_man(const char *notes, Buf *out)
{
    Str rest = str_from(notes), line;
    bool kept = false;
    while (str_split(&rest, '\n', &line)) {
        bool keep = line.n && line.s[0] == ' ';
        if (keep != kept) buf_puts(out, keep ? ".nf\n" : ".fi\n");
        kept = keep;
        if (!line.n) {
            buf_puts(out, ".PP\n");
            continue;
        }
        troff(out, line);
        buf_putc(out, '\n');
    }
    if (kept) buf_puts(out, ".fi\n");
}

static void synopsis_man(const CliProgram *p, Buf *out)
{
    buf_puts(out, ".SH SYNOPSIS\n");
    for (size_t i = 0; i < p->n_commands; i++) {
        const CliCommand *c = p->command[i];
        bool in_brackets = c->name && p->first_is_default && i == 0;
        if (i) buf_puts(out, ".br\n");
        buf_puts(out, ".B ");
        troff(out, str_from(p->name));
        if (c->name) buf_printf(out, in_brackets ? " [%s]" : " %s", c->name);
        troff_line(out, "\n[OPTION]... ", c->operands);
    }
}

void cli_man(const CliProgram *p, Buf *out)
{
    char title[64];
    size_t n = 0;
    for (; p->name[n] && n < sizeof title - 1; n++)
        title[n] = (char)(p->name[n] >= 'a' && p->name[n] <= 'z' ? p->name[n] - 32 : p->name[n]);
    title[n] = 0;
    buf_printf(out, ".TH %s 1 \"\" \"tuner %s\" \"tuner\"\n.SH NAME\n", title, TUNER_VERSION);
    troff(out, str_from(p->name));
    buf_puts(out, " \\- ");
    troff(out, str_from(p->summary));
    buf_putc(out, '\n');
    synopsis_man(p, out);
    if (p->command[0]->help) buf_puts(out, p->n_commands > 1 ? ".SH COMMANDS\n" : ".SH DESCRIPTION\n");
    for (size_t i = 0; i < p->n_commands && p->command[i]->help; i++) {
        const CliCommand *c = p->command[i];
        if (c->name) {
            buf_printf(out, ".SS %s ", c->name);
            troff_line(out, "", c->operands);
        }
        troff(out, str_from(c->help));
        buf_puts(out, ".\n");
        options_man(c->option, c->n_options, out);
    }
    buf_puts(out, ".SH OPTIONS\n");
    options_man(p->option, p->n_options, out);
    const CliOption *o;
    for (size_t i = 0; (o = cli_common_at(p, p->command[0], i)); i++) options_man(o, 1, out);
    bool any = p->notes != NULL;
    for (size_t i = 0; i < p->n_commands; i++) any |= p->command[i]->notes != NULL;
    if (any) buf_puts(out, ".SH NOTES\n");
    for (size_t i = 0; i < p->n_commands; i++)
        if (p->command[i]->notes) notes_man(p->command[i]->notes, out);
    if (p->notes) notes_man(p->notes, out);
}
