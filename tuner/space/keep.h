/* Kernels that keep the pixels of a tile in local memory (KeepWindow): what their launch must know. */
#ifndef SPACE_KEEP_H
#define SPACE_KEEP_H

#include "space/solution.h"

/* Elements of the filter that a thread copies at once. */
int32_t keep_piece(const Solution *s);
/* Rows of a warp. */
int32_t keep_rows(const Solution *s);
/* Bytes for pixels and the table of steps: what the stages of filters leave. */
int32_t keep_room(const Solution *s);

#endif
