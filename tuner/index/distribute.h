/* Distribution of a tile over the subgroups of a work-group and the work-items of a subgroup (wg_map, sg_map
 * of the XeTile proposal).
 *
 * One dimension at a time: a tile of `size` elements is cut into n = size / data subtiles, and `layout`
 * coordinates share them. With n >= layout, subtile s belongs to coordinate s % layout (round robin); with
 * n < layout, coordinate c has subtile c % n (wrapped around: several coordinates have the same one). Either
 * n is a multiple of layout, or layout of n, so that all coordinates have equally many.
 *
 * Subgroups, and work-items of a subgroup, are numbered by rows, number = c0 * layout[1] + c1, unless a
 * TileOrder says otherwise.
 */
#ifndef INDEX_DISTRIBUTE_H
#define INDEX_DISTRIBUTE_H

#include "index/expr.h"

/* layout: how many along each side; data: elements of each. layout[0] == 0: not distributed. */
typedef struct {
    int32_t layout[2], data[2];
} TileMap;

/* Another order of the numbers. All 0: by rows. */
typedef struct {
    bool by_columns; /* number = c1 * layout[0] + c0 */
    int32_t inner; /* > 0: `inner` neighbours along that side have consecutive numbers; then comes the other
                    * side, then the rest of this one */
    int32_t share; /* > 1: the lanes of a wave form `share` groups, each of which has an equal part of every
                    * line of coordinates (ThreadSeparateGlobalRead) */
} TileOrder;

/* Subtiles of a side. */
static inline int32_t distribute_subtiles(int32_t size, int32_t data) { return size / data; }
/* Subtiles that one coordinate has. */
static inline int32_t distribute_rounds(int32_t n, int32_t layout) { return n > layout ? n / layout : 1; }
/* The subtile that coordinate c has in that round, of n. */
const Expr *distribute_subtile(ExprPool *p, int32_t n, int32_t layout, const Expr *c, const Expr *round);
/* The same on numbers. */
int32_t distribute_subtile_at(int32_t n, int32_t layout, int32_t c, int32_t round);
/* Coordinate c has subtile s. */
bool distribute_has(int32_t n, int32_t layout, int32_t c, int32_t s);
/* Of the coordinates that have the same subtiles, c is the first: the one that writes them to memory. */
const Expr *distribute_writes(ExprPool *p, int32_t n, int32_t layout, const Expr *c);

/* ERR_INPUT: the rule of side `side` that (size, layout, data) breaks, with the numbers. what: "wg_map". */
Err distribute_check(const char *what, int side, int32_t size, int32_t layout, int32_t data);

/* Appends which coordinates have each subtile, one line each behind "; ":
 * "; [0:31, 0:127] [0, 0] [0, 1]". size: rows and columns of the tile. */
void distribute_dump(const TileMap *m, const int32_t size[2], Buf *out);

#endif
