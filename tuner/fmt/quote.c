/* Quoting and folding of text scalars by the rules of PyYAML's emitter: plain where a reader cannot misread
 * it, else single quotes, else double quotes with escapes (anything outside printable ASCII). See quote.h. */
#include "fmt/quote.h"

#include <stdio.h>
#include <string.h>

#include "fmt/scalar.h"

static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '/' || c == '-' || c == '+';
}

/* Names and paths, the usual case. */
static bool is_name(Str s)
{
    if (s.n == 0 || !is_name_char(s.s[0]) || s.s[0] == '-' || s.s[0] == '.' || s.s[0] == '+') return false;
    for (size_t i = 1; i < s.n; i++)
        if (!is_name_char(s.s[i])) return false;
    return true;
}

static bool is_blank(Str s, size_t i) { return i >= s.n || !s.s[i] || strchr(" \t\r\n", s.s[i]) != NULL; }

typedef struct {
    bool flow_indicator, block_indicator; /* not plain in a flow, in a block context */
    bool edge_space;                      /* spaces or breaks first or last */
    bool line_break, break_space, space_break, special;
} Looks;

static void indicators_look(Str s, size_t i, Looks *l)
{
    char c = s.s[i];
    bool first = i == 0, blank_after = is_blank(s, i + 1);
    bool both = first ? strchr("#,[]{}&*!|>'\"%@`", c) != NULL : c == '#' && is_blank(s, i - 1);
    bool flow = first ? c == '?' || c == ':' : strchr(",?[]{}:", c) != NULL;
    bool block = blank_after && (c == ':' || (first && c == '?'));
    if (first && c == '-' && blank_after) both = true;
    l->flow_indicator = l->flow_indicator || both || flow;
    l->block_indicator = l->block_indicator || both || block;
}

static Looks looks_of(Str s)
{
    Looks l = {0};
    if (s.n >= 3 && (!memcmp(s.s, "---", 3) || !memcmp(s.s, "...", 3)))
        l.flow_indicator = l.block_indicator = true;
    char before = 0;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.s[i];
        bool edge = i == 0 || i == s.n - 1;
        if (c == '\n') {
            l.line_break = true;
            l.edge_space = l.edge_space || edge;
            l.space_break = l.space_break || before == ' ';
        } else if (c == ' ') {
            l.edge_space = l.edge_space || edge;
            l.break_space = l.break_space || before == '\n';
        } else if (c < ' ' || c > '~') {
            l.special = true;
        } else {
            indicators_look(s, i, &l);
        }
        before = c;
    }
    return l;
}

QuoteStyle quote_style(Str s, bool in_flow)
{
    if (s.n == 0) return QUOTE_SINGLE;
    bool ambiguous = scalar_ambiguous(s);
    if (!ambiguous && is_name(s)) return QUOTE_SAFE;
    Looks l = looks_of(s);
    if (l.special || l.break_space || l.space_break) return QUOTE_DOUBLE;
    bool plain =
        !ambiguous && !l.edge_space && !l.line_break && !(in_flow ? l.flow_indicator : l.block_indicator);
    return plain ? QUOTE_PLAIN : QUOTE_SINGLE;
}

bool quote_multiline(Str s)
{
    for (size_t i = 0; i < s.n; i++) { /* also next line, line and paragraph separator */
        unsigned char c = (unsigned char)s.s[i];
        if (c == '\n' || (c == 0xc2 && i + 1 < s.n && (unsigned char)s.s[i + 1] == 0x85)) return true;
        if (c == 0xe2 && i + 2 < s.n &&
            (!memcmp(s.s + i, "\xe2\x80\xa8", 3) || !memcmp(s.s + i, "\xe2\x80\xa9", 3)))
            return true;
    }
    return false;
}

size_t quote_length(Str s)
{
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++) n += ((unsigned char)s.s[i] & 0xc0) != 0x80;
    return n;
}

/* The run of characters from i on that are c, or that are neither a space nor a break. */
static size_t run_end(Str s, size_t i, char c)
{
    bool same = c == ' ' || c == '\n';
    while (i < s.n && (same ? s.s[i] == c : s.s[i] != ' ' && s.s[i] != '\n')) i++;
    return i;
}

static void run_quoted(Emit *e, Str run)
{
    for (size_t i = 0, from = 0; i <= run.n; i++) {
        if (i < run.n && run.s[i] != '\'') continue;
        buf_add(e->out, run.s + from, i - from + (i < run.n));
        from = i;
    }
}

/* Writes a plain or a single-quoted scalar; both fold in the same places. */
static void write_runs(Emit *e, Str s, bool quoted, bool split)
{
    if (quoted) yaml_indicator(e, '\'', true);
    if (!quoted && !e->whitespace) buf_putc(e->out, ' ');
    e->whitespace = e->indention = false;
    for (size_t i = 0, end; i < s.n; i = end) {
        char c = s.s[i];
        end = run_end(s, i, c);
        if (c == '\n') {
            for (size_t k = i; k <= end; k++) yaml_line_break(e);
            yaml_indent(e);
        } else if (c == ' ' && end == i + 1 && split && i && end < s.n && yaml_beyond_width(e, 0)) {
            yaml_indent(e);
            if (!quoted) e->whitespace = e->indention = false;
        } else if (quoted) {
            run_quoted(e, str_sub(s, i, end));
        } else {
            buf_add(e->out, s.s + i, end - i);
        }
    }
    if (quoted) yaml_indicator(e, '\'', false);
}

/* The character at i and its length in bytes; a byte that is not UTF-8 stands for itself. */
static uint32_t utf8_at(Str s, size_t i, size_t *length)
{
    const unsigned char *p = (const unsigned char *)s.s + i;
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    size_t n = p[0] < 0x80 ? 1 : p[0] >> 5 == 6 ? 2 : p[0] >> 4 == 14 ? 3 : p[0] >> 3 == 30 ? 4 : 0;
    *length = 1;
    if (n < 2 || n > s.n - i) return p[0];
    uint32_t c = p[0] & (0x7fu >> n);
    for (size_t k = 1; k < n; k++) {
        if (p[k] >> 6 != 2) return p[0];
        c = c << 6 | (p[k] & 0x3f);
    }
    if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) return p[0];
    *length = n;
    return c;
}

static void escape_write(Emit *e, uint32_t c)
{
    static const struct {
        uint32_t c;
        char letter;
    } known[] = {{0, '0'},     {7, 'a'},    {8, 'b'},    {9, 't'},      {10, 'n'},
                 {11, 'v'},    {12, 'f'},   {13, 'r'},   {27, 'e'},     {'"', '"'},
                 {'\\', '\\'}, {0x85, 'N'}, {0xa0, '_'}, {0x2028, 'L'}, {0x2029, 'P'}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (known[i].c != c) continue;
        char text[2] = {'\\', known[i].letter};
        buf_add(e->out, text, 2);
        return;
    }
    buf_printf(e->out, c <= 0xff ? "\\x%02X" : c <= 0xffff ? "\\u%04X" : "\\U%08X", (unsigned)c);
}

static void write_double(Emit *e, Str s, bool split)
{
    yaml_indicator(e, '"', true);
    size_t from = 0, length;
    for (size_t i = 0; i < s.n; i += length) {
        uint32_t c = utf8_at(s, i, &length);
        bool last = i + length == s.n;
        if (c < ' ' || c > '~' || c == '"' || c == '\\') {
            buf_add(e->out, s.s + from, i - from);
            escape_write(e, c);
            from = i + length;
        }
        bool at_escape = from >= i;
        if (!split || i == 0 || last || !(c == ' ' || at_escape)) continue;
        /* after an escape PyYAML counts one column less */
        if (from > i ? !yaml_beyond_width(e, (size_t)-1) : !yaml_beyond_width(e, i - from)) continue;
        if (from < i) {
            buf_add(e->out, s.s + from, i - from);
            from = i;
        }
        buf_putc(e->out, '\\');
        yaml_indent(e);
        e->whitespace = e->indention = false;
        if (s.s[from] == ' ') buf_putc(e->out, '\\');
    }
    buf_add(e->out, s.s + from, s.n - from);
    yaml_indicator(e, '"', false);
}

void quote_write(Emit *e, Str s, QuoteStyle style, bool split)
{
    if (style == QUOTE_DOUBLE)
        write_double(e, s, split);
    else
        write_runs(e, s, style == QUOTE_SINGLE, split);
}
