/* Functions that the parts of the library writer share. Private to createlib/. */
#ifndef CREATELIB_LIBRARY_INTERNAL_H
#define CREATELIB_LIBRARY_INTERNAL_H

#include "createlib/library_write.h"

void emit_key_int(Emit *e, const char *key, int64_t v);
void emit_key_bool(Emit *e, const char *key, bool v);
void emit_key_str(Emit *e, const char *key, Str v);
/* {type: T} */
void emit_type_only(Emit *e, const char *type);

/* Frame of a library document: the YAML form stands between '---' and '...'. */
void library_begin(Buf *out, LibraryFormat f);
Err library_finish(const char *path, LibraryFormat f, Buf *out);

#endif
