/* Completions for bash and zsh from the tables of a program. See cli.h. */
#include "base/cli.h"

#include <stdio.h>
#include <string.h>

/* "tuner-bench" as a shell function's name. */
static void function_name(const CliProgram *p, Buf *out)
{
    buf_putc(out, '_');
    for (const char *c = p->name; *c; c++) buf_putc(out, *c == '-' ? '_' : *c);
}

static void forms(const CliOption *o, const char *between, Buf *out)
{
    if (o->letter) buf_printf(out, "-%c", o->letter);
    if (o->letter && o->name) buf_puts(out, between);
    if (o->name) buf_printf(out, "--%s", o->name);
}

/* ---- bash ---- */

static void bash_names(const CliOption *o, size_t n, Buf *out)
{
    for (size_t i = 0; i < n; i++)
        if (o[i].name) buf_printf(out, " --%s", o[i].name);
}

/* A branch of a case statement that completes the value of an option. */
static void bash_values(const CliOption *o, size_t n, Buf *out)
{
    for (size_t i = 0; i < n; i++) {
        if (!o[i].arg || o[i].takes == CLI_BEHIND_EQUALS || o[i].takes == CLI_OPTIONAL_WORD) continue;
        buf_puts(out, "    ");
        forms(&o[i], "|", out);
        if (o[i].words)
            buf_printf(out, ") COMPREPLY=($(compgen -W '%s' -- \"$cur\")); return ;;\n", o[i].words);
        else if (!strcmp(o[i].arg, "DIR"))
            buf_puts(out, ") COMPREPLY=($(compgen -d -- \"$cur\")); return ;;\n");
        else if (!strcmp(o[i].arg, "FILE") || !strcmp(o[i].arg, "PATH"))
            buf_puts(out, ") COMPREPLY=($(compgen -f -- \"$cur\")); return ;;\n");
        else
            buf_puts(out, ") return ;;\n");
    }
}

static void bash_commands(const CliProgram *p, Buf *out)
{
    buf_puts(
        out,
        "  if [ \"$COMP_CWORD\" = 1 ] && [ \"${cur#-}\" = \"$cur\" ]; then\n    COMPREPLY=($(compgen -W '");
    for (size_t i = 0; i < p->n_commands; i++) buf_printf(out, "%s%s", i ? " " : "", p->command[i]->name);
    buf_printf(out, "' -- \"$cur\")%s)\n    return\n  fi\n",
               p->first_is_default ? " $(compgen -f -- \"$cur\")" : "");
}

void cli_completion_bash(const CliProgram *p, Buf *out)
{
    const CliOption *o;
    bool commands = p->command[0]->name != NULL;
    buf_printf(out, "# bash completion of %s, made by %s --help-completion bash\n", p->name, p->name);
    function_name(p, out);
    buf_puts(out, "() {\n  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words\n"
                  "  if [ \"$prev\" = = ]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
                  "  if [ \"$cur\" = = ]; then cur=; fi\n"
                  "  case $prev in\n");
    for (size_t i = 0; i < p->n_commands; i++)
        bash_values(p->command[i]->option, p->command[i]->n_options, out);
    bash_values(p->option, p->n_options, out);
    for (size_t i = 0; (o = cli_common_at(p, p->command[0], i)); i++) bash_values(o, 1, out);
    buf_puts(out, "    *) ;;\n  esac\n");
    if (commands) bash_commands(p, out);
    buf_puts(out, "  words='");
    bash_names(p->option, p->n_options, out);
    for (size_t i = 0; (o = cli_common_at(p, p->command[0], i)); i++) bash_names(o, 1, out);
    if (!commands) bash_names(p->command[0]->option, p->command[0]->n_options, out);
    buf_puts(out, "'\n");
    if (commands) buf_puts(out, "  case ${COMP_WORDS[1]} in\n");
    for (size_t i = 0; commands && i < p->n_commands; i++) {
        buf_printf(out, "    %s) words+='", p->command[i]->name);
        bash_names(p->command[i]->option, p->command[i]->n_options, out);
        buf_puts(out, "' ;;\n");
    }
    if (commands) {
        buf_puts(out, "    *) words+='");
        if (p->first_is_default) bash_names(p->command[0]->option, p->command[0]->n_options, out);
        buf_puts(out, "' ;;\n  esac\n");
    }
    buf_puts(out, "  case $cur in\n    -*) COMPREPLY=($(compgen -W \"$words\" -- \"$cur\")) ;;\n"
                  "    *) COMPREPLY=($(compgen -f -- \"$cur\")) ;;\n  esac\n}\ncomplete -o filenames -F ");
    function_name(p, out);
    buf_printf(out, " %s\n", p->name);
}

/* ---- zsh ---- */

/* Text inside '...' of an _arguments specification. */
static void zsh_text(Buf *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '\'')
            buf_puts(out, "'\\''");
        else if (strchr("[]:\\", *text))
            buf_printf(out, "\\%c", *text);
        else
            buf_putc(out, *text);
    }
}

static void zsh_form(const CliOption *o, const char *form, Buf *out)
{
    buf_printf(out, "    '*%s%s[", form,
               !o->arg                         ? ""
               : form[1] != '-'                ? "+"
               : o->takes == CLI_BEHIND_EQUALS ? "=-"
                                               : "=");
    zsh_text(out, o->help);
    buf_putc(out, ']');
    if (o->arg) {
        bool optional = o->takes == CLI_BEHIND_EQUALS || o->takes == CLI_OPTIONAL_WORD;
        buf_puts(out, optional ? "::" : ":");
        zsh_text(out, o->arg);
        if (o->words)
            buf_printf(out, ":(%s)", o->words);
        else if (!strcmp(o->arg, "DIR"))
            buf_puts(out, ":_files -/");
        else if (!strcmp(o->arg, "FILE") || !strcmp(o->arg, "PATH"))
            buf_puts(out, ":_files");
        else
            buf_puts(out, ":");
    }
    buf_puts(out, "' \\\n");
}

static void zsh_options(const CliOption *o, size_t n, Buf *out)
{
    char form[96];
    for (size_t i = 0; i < n; i++) {
        snprintf(form, sizeof form, "-%c", o[i].letter);
        if (o[i].letter) zsh_form(&o[i], form, out);
        snprintf(form, sizeof form, "--%s", o[i].name ? o[i].name : "");
        if (o[i].name) zsh_form(&o[i], form, out);
    }
}

static void zsh_arguments(const CliProgram *p, const CliCommand *c, Buf *out)
{
    const CliOption *o;
    buf_puts(out, "  _arguments -s -S \\\n");
    zsh_options(c->option, c->n_options, out);
    zsh_options(p->option, p->n_options, out);
    for (size_t i = 0; (o = cli_common_at(p, c, i)); i++) zsh_options(o, 1, out);
    buf_puts(out, c->max ? "    '*:file:_files'\n" : "    && return\n");
}

void cli_completion_zsh(const CliProgram *p, Buf *out)
{
    buf_printf(out, "#compdef %s\n# zsh completion, made by %s --help-completion zsh\n", p->name, p->name);
    function_name(p, out);
    buf_puts(out, "() {\n");
    if (!p->command[0]->name) {
        zsh_arguments(p, p->command[0], out);
    } else {
        buf_puts(out, "  if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then\n    compadd");
        for (size_t i = 0; i < p->n_commands; i++) buf_printf(out, " %s", p->command[i]->name);
        buf_puts(out, p->first_is_default ? "\n    _files\n    return\n  fi\n" : "\n    return\n  fi\n");
        buf_puts(out, "  local command=$words[2]\n  case $command in\n");
        for (size_t i = p->first_is_default ? 1 : 0; i < p->n_commands; i++) {
            buf_printf(out, "  %s) shift words; (( CURRENT-- ))\n", p->command[i]->name);
            zsh_arguments(p, p->command[i], out);
            buf_puts(out, "  ;;\n");
        }
        buf_puts(out, "  *)\n");
        zsh_arguments(p, p->command[0], out);
        buf_puts(out, "  ;;\n  esac\n");
    }
    buf_puts(out, "}\n");
    function_name(p, out);
    buf_puts(out, " \"$@\"\n");
}
