/* Writers: one stream of events to YAML text as PyYAML writes it (default_flow_style=None) or to msgpack.
 *
 * Emit: a small interface so that the code that writes a library or logic file exists once. The caller
 * gives map sizes up front (msgpack needs them). Text scalars are quoted only where a YAML 1.1 reader would
 * take them for something else. Flow style: a collection is written in flow style when the caller says so,
 * block style otherwise. Lines of flow collections are folded at 80 columns like PyYAML's.
 */
#ifndef FMT_WRITE_H
#define FMT_WRITE_H

#include "base/str.h"

typedef struct Emit Emit;

Emit *emit_yaml(Buf *out);    /* no '---' line; add it to out yourself where it belongs */
Emit *emit_msgpack(Buf *out); /* smallest int encodings, float64, str8/fixstr */
void emit_free(Emit *e);

void emit_map(Emit *e, size_t n_pairs, bool flow);
void emit_seq(Emit *e, size_t n_items, bool flow);
void emit_end(Emit *e); /* of the innermost map or seq */
void emit_str(Emit *e, Str s);
void emit_cstr(Emit *e, const char *s);
void emit_int(Emit *e, int64_t v);
void emit_bool(Emit *e, bool v);
void emit_real(Emit *e, double v); /* shortest text that reads back the same, Python's form (120.0) */
void emit_null(Emit *e);

/* Err when memory ran out or the nesting does not fit the sizes that were announced (BUG). */
Err emit_finish(Emit *e);

#endif
