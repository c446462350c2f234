/* Text scalars in YAML: which need quotes, and how PyYAML writes and folds them. Private to tuner/fmt. */
#ifndef FMT_QUOTE_H
#define FMT_QUOTE_H

#include "fmt/emit.h"

typedef enum { QUOTE_SAFE, QUOTE_PLAIN, QUOTE_SINGLE, QUOTE_DOUBLE } QuoteStyle;

/* A key of more characters gets '? ' before it: PyYAML's limit of 128 less the five of '!!str'. */
enum { QUOTE_MAX_KEY = 122 };

/* QUOTE_SAFE: plain, and without spaces to fold at. */
QuoteStyle quote_style(Str s, bool in_flow);
bool quote_multiline(Str s);
/* Length in characters, not bytes. */
size_t quote_length(Str s);
/* split: lines may be folded at spaces. */
void quote_write(Emit *e, Str s, QuoteStyle style, bool split);

/* Layout, from yaml_write.c. */
void yaml_line_break(Emit *e);
void yaml_indent(Emit *e);
bool yaml_beyond_width(const Emit *e, size_t more);
void yaml_indicator(Emit *e, char c, bool need_space);

#endif
