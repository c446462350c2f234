/* Equal pieces of a range. See pieces.h. */
#include "client/worker/pieces.h"

Pieces pieces_whole(int64_t of) { return (Pieces){of, 1, of}; }

bool pieces_are_whole(const Pieces *p) { return p->n * p->size == p->of; }

int64_t pieces_total(const Pieces *p) { return p->n * p->size; }

int64_t piece_start(const Pieces *p, int64_t i) { return p->n > 1 ? i * (p->of - p->size) / (p->n - 1) : 0; }

int64_t pieces_number(const Pieces *p, int64_t at)
{
    return p->n > 1 ? piece_start(p, at / p->size) + at % p->size : at;
}

int64_t pieces_run(const Pieces *p, int64_t at, int64_t most)
{
    const int64_t left = p->n > 1 ? p->size - at % p->size : p->size - at;
    return left < most ? left : most;
}
