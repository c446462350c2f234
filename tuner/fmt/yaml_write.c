/* The YAML side of Emit: text as PyYAML's emitter lays it out with its defaults (indent 2, width 80, ASCII
 * only, block lists in maps not indented). Scalars are quoted in quote.c. See write.h. */
#include "fmt/emit.h"
#include "fmt/quote.h"
#include "fmt/real.h"

enum { WIDTH = 80, INDENT = 2 };

static size_t column(const Emit *e) { return e->out->n - e->line_start; }

void yaml_line_break(Emit *e)
{
    buf_putc(e->out, '\n');
    e->line_start = e->out->n;
    e->whitespace = e->indention = true;
}

void yaml_indent(Emit *e)
{
    static const char spaces[] = "                                                                ";
    size_t indent = e->indent > 0 ? (size_t)e->indent : 0, at = column(e);
    if (!e->indention || at > indent || (at == indent && !e->whitespace)) {
        yaml_line_break(e);
        at = 0;
    }
    if (at < indent) e->whitespace = true;
    for (size_t n; at < indent; at += n) {
        n = indent - at < sizeof spaces - 1 ? indent - at : sizeof spaces - 1;
        buf_add(e->out, spaces, n);
    }
}

bool yaml_beyond_width(const Emit *e, size_t more) { return column(e) + more > WIDTH; }

void yaml_indicator(Emit *e, char c, bool need_space)
{
    char text[2] = {' ', c};
    bool space = need_space && !e->whitespace;
    buf_add(e->out, space ? text : text + 1, space ? 2 : 1);
    e->whitespace = e->indention = false;
}

/* An indicator of block structure: indentation goes on behind it. */
static void block_indicator(Emit *e, char c)
{
    bool indention = e->indention;
    yaml_indicator(e, c, true);
    e->indention = indention;
}

static void indent_more(Emit *e, bool flow, bool indentless)
{
    if (e->indent < 0)
        e->indent = flow ? INDENT : 0;
    else if (!indentless)
        e->indent += INDENT;
}

/* Writes what precedes a key. simple: ': ' may follow on the key's line. */
static void place_key(Emit *e, EmitFrame *f, bool simple)
{
    f->simple_key = simple;
    if (f->flow) {
        if (f->done) yaml_indicator(e, ',', false);
        if (column(e) > WIDTH) yaml_indent(e);
        if (!simple) yaml_indicator(e, '?', true);
    } else {
        yaml_indent(e);
        if (!simple) block_indicator(e, '?');
    }
}

static void place_value(Emit *e, const EmitFrame *f)
{
    if (f->simple_key) {
        yaml_indicator(e, ':', false);
    } else if (f->flow) {
        if (column(e) > WIDTH) yaml_indent(e);
        yaml_indicator(e, ':', true);
    } else {
        yaml_indent(e);
        block_indicator(e, ':');
    }
}

/* Writes what precedes the next node. simple: the node could be a simple key. Returns whether it is one. */
static bool place(Emit *e, bool simple)
{
    EmitFrame *f = emit_top(e);
    if (!f) return false;
    if (f->map && f->done % 2 == 0) {
        place_key(e, f, simple);
        return simple;
    }
    if (f->map) {
        place_value(e, f);
    } else if (f->flow) {
        if (f->done) yaml_indicator(e, ',', false);
        if (column(e) > WIDTH) yaml_indent(e);
    } else {
        yaml_indent(e);
        block_indicator(e, '-');
    }
    return false;
}

static void on_open(Emit *e, EmitFrame *f, size_t n)
{
    const EmitFrame *parent = emit_top(e);
    bool in_map = parent && parent->map;
    if (in_map && parent->done % 2 == 0) {
        e->bug = "a collection as a key";
        return;
    }
    place(e, false);
    f->indent = e->indent;
    f->flow = f->flow || e->flow_level || n == 0;
    bool indentless = !f->flow && !f->map && in_map && !e->indention;
    if (f->flow) {
        yaml_indicator(e, f->map ? '{' : '[', true);
        e->whitespace = true;
        e->flow_level++;
    }
    indent_more(e, f->flow, indentless);
}

static void on_close(Emit *e, const EmitFrame *f)
{
    e->indent = f->indent;
    if (!f->flow) return;
    e->flow_level--;
    yaml_indicator(e, f->map ? '}' : ']', false);
}

/* A text that needs neither quotes nor folding. */
static void plain(Emit *e, const char *s, size_t n)
{
    place(e, true);
    if (!e->whitespace) buf_putc(e->out, ' ');
    buf_add(e->out, s, n);
    e->whitespace = e->indention = false;
}

static void on_str(Emit *e, Str s)
{
    QuoteStyle style = quote_style(s, e->flow_level > 0);
    if (style == QUOTE_SAFE && s.n <= QUOTE_MAX_KEY) {
        plain(e, s.s, s.n);
        return;
    }
    bool simple = place(e, s.n && !quote_multiline(s) && quote_length(s) <= QUOTE_MAX_KEY);
    int indent = e->indent;
    indent_more(e, true, false);
    quote_write(e, s, style, !simple);
    e->indent = indent;
}

static void on_integer(Emit *e, int64_t v)
{
    place(e, true);
    if (!e->whitespace) buf_putc(e->out, ' ');
    buf_i64(e->out, v);
    e->whitespace = e->indention = false;
}

static void on_boolean(Emit *e, bool v) { plain(e, v ? "true" : "false", v ? 4 : 5); }

/* Python's form, with the point that a YAML 1.1 float needs: 1e+20 is 1.0e+20. */
static void on_real(Emit *e, double v)
{
    char text[REAL_TEXT];
    Str s = {text, real_text(v, text)};
    size_t exponent = str_find(s, 'e', 0);
    bool word = s.s[s.n - 1] == 'f' || s.s[s.n - 1] == 'n'; /* inf, nan */
    char out[REAL_TEXT + 4];
    size_t n = 0;
    if (word && s.s[0] == '-') out[n++] = '-', s = str_sub(s, 1, s.n);
    if (word) out[n++] = '.';
    for (size_t i = 0; i < s.n; i++) {
        if (!word && i == exponent && str_find(s, '.', 0) == s.n) out[n++] = '.', out[n++] = '0';
        out[n++] = s.s[i];
    }
    plain(e, out, n);
}

static void on_null(Emit *e) { plain(e, "null", 4); }

static void on_finish(Emit *e)
{
    if (column(e) > 0) yaml_line_break(e);
}

Emit *emit_yaml(Buf *out)
{
    static const EmitOps ops = {on_open,    on_close, on_str,  on_integer,
                                on_boolean, on_real,  on_null, on_finish};
    return emit_new(out, &ops);
}
