/* Equal pieces of a range of numbers, at equal distances; the first starts where the range does and the last
 * ends where it does. A check that looks at a part of a matrix takes such pieces of its rows. */
#ifndef CLIENT_PIECES_H
#define CLIENT_PIECES_H

#include <stdbool.h>
#include <stdint.h>

/* n pieces of size numbers each, out of 0..of-1: n * size <= of, and n > 1 unless size is of. The numbers in
 * the pieces have positions 0..n*size-1. */
typedef struct {
    int64_t of, n, size;
} Pieces;

Pieces pieces_whole(int64_t of);
bool pieces_are_whole(const Pieces *p);
/* How many numbers the pieces have together. */
int64_t pieces_total(const Pieces *p);
int64_t piece_start(const Pieces *p, int64_t i);
/* The number at a position. */
int64_t pieces_number(const Pieces *p, int64_t at);
/* How many numbers from a position on are in the same piece, most at most. */
int64_t pieces_run(const Pieces *p, int64_t at, int64_t most);

#endif
