/* What the work-groups of a cluster get from all producers. See producer.h. */
#include <stdlib.h>

#include "kernel/lower/producer_run.h"

/* ---- a work-group ---- */

void producer_box(Producer *p, ProducerBox *b, Thing along, Thing across)
{
    Trace *r = &p->trace;
    const ProducerTile *t = &p->of->tile[b->tile];
    const int block = t->rows * t->row_bytes, row = b->offset % block / t->row_bytes;
    if (b->offset % t->row_bytes || b->bytes % t->row_bytes || b->offset % block + b->bytes > block)
        REFUSE(r, "a box of %d bytes at byte %d of '%s' is not of whole rows of a block", b->bytes, b->offset,
               t->name);
    int64_t *const of_row = t->k_major ? &b->k : &b->free, *const of_column = t->k_major ? &b->free : &b->k;
    const int number = t->blocks ? b->offset / block % t->blocks : b->offset / block;
    if (along.kind == THING_NUMBER) *of_row = along.number - (int64_t)number * t->row_elements;
    if (across.kind == THING_NUMBER) *of_column = across.number - row;
    const int i = p->at - p->first_at;
    if (i >= TILE_CHUNKS_MAX || p->at - p->first_at >= p->walk.tile[p->tile].chunks)
        REFUSE(r, "a producer copies more chunks of a tile than it has");
    if (r->e) return;
    if (b->k >= 0 && p->k[i] >= 0 && p->k[i] != b->k)
        REFUSE(r, "boxes of chunk %d begin at elements %d and %d of K", p->at, (int)p->k[i], (int)b->k);
    if (b->k >= 0) p->k[i] = b->k;
    if (!VEC_PUSH(&p->boxes, *b)) r->e = err_set(ERR_FAILED, "out of memory for the stages of a kernel");
}

/* Every chunk of the tile's part of K was copied, in any order. */
static void every_chunk(Producer *p)
{
    const ProducerWalkTile *t = &p->walk.tile[p->tile];
    const int part = p->rank / p->of->sharing;
    for (int i = 0; i < t->chunks; i++) {
        const int64_t k = (int64_t)(t->first + part + i * t->step) * p->of->depth;
        int times = 0;
        for (int j = 0; j < t->chunks; j++) times += p->k[j] == k;
        if (times != 1) REFUSE(&p->trace, "chunk %d of a tile is copied %d times", i, times);
    }
}

void producer_begin(Producer *p)
{
    p->first_at = p->at;
    for (int i = 0; i < TILE_CHUNKS_MAX; i++) p->k[i] = -1;
}

void producer_next(Producer *p)
{
    Trace *r = &p->trace;
    const int chunks = p->tile < p->walk.n ? p->walk.tile[p->tile].chunks : 0;
    if (p->at - p->first_at != (p->copies ? chunks : 0))
        REFUSE(r, "a producer copies %d of %d chunks of a tile", p->at - p->first_at, chunks);
    if (r->e) return;
    if (p->copies && !p->of->by_tap) every_chunk(p);
    p->tile++;
    producer_begin(p);
}

static int all_chunks(const ProducerWalk *w)
{
    int n = 0;
    for (int i = 0; i < w->n; i++) n += w->tile[i].chunks;
    return n;
}

/* ---- a cluster ---- */

enum { UNITS = 2048 }; /* rows of a tile, at most */

/* The boxes of one tile of a chunk that a work-group gets. */
typedef struct {
    uint64_t row[UNITS / 64]; /* those that it has got */
    int64_t bytes, k, free;   /* k, free: of its own box; -1: it has copied none */
} Got;

static void get(Producer *p, int rank, const ProducerBox *b, Got *g)
{
    const ProducerTile *t = &p->of->tile[b->tile];
    if (b->k != g->k || b->free != g->free)
        REFUSE(&p->trace, "work-group %d gets rows of '%s' of another tile or chunk from %d", rank, t->name,
               b->rank);
    for (int i = b->offset / t->row_bytes; i < (b->offset + b->bytes) / t->row_bytes && i < UNITS; i++) {
        const uint64_t bit = UINT64_C(1) << i % 64;
        if (g->row[i / 64] & bit)
            REFUSE(&p->trace, "work-group %d gets row %d of '%s' twice", rank, i, t->name);
        g->row[i / 64] |= bit;
    }
    g->bytes += b->bytes;
}

/* The boxes from..to are those of a chunk. */
static void check_tile(Producer *p, int rank, int tile, const ProducerBox *const *box, int n)
{
    const ProducerTile *t = &p->of->tile[tile];
    Got g = {.k = -1, .free = -1};
    for (int i = 0; i < n; i++)
        if (box[i]->rank == rank && box[i]->tile == tile) g.k = box[i]->k, g.free = box[i]->free;
    for (int i = 0; i < n; i++)
        if (box[i]->tile == tile && box[i]->to >> rank & 1) get(p, rank, box[i], &g);
    if (g.bytes != t->bytes)
        REFUSE(&p->trace, "work-group %d gets %d of %d bytes of '%s'", rank, (int)g.bytes, (int)t->bytes,
               t->name);
}

static int by_chunk(const void *x, const void *y)
{
    const ProducerBox *a = *(const ProducerBox *const *)x, *b = *(const ProducerBox *const *)y;
    if (a->chunk != b->chunk) return a->chunk < b->chunk ? -1 : 1;
    return (a > b) - (a < b);
}

void producer_check(Producer *p)
{
    Trace *r = &p->trace;
    const size_t n = p->boxes.n;
    if (r->e) return;
    const ProducerBox **box = calloc(n ? n : 1, sizeof *box);
    if (!box) r->e = err_set(ERR_FAILED, "out of memory for the stages of a kernel");
    for (size_t i = 0; i < n && box; i++) {
        box[i] = &p->boxes.v[i];
        p->out->reaches[box[i]->rank] |= box[i]->to;
        if (box[i]->to >> p->of->cluster) REFUSE(r, "a box is copied to work-groups outside of the cluster");
    }
    if (box) qsort(box, n, sizeof *box, by_chunk);
    int chunks = 0;
    for (size_t from = 0, to; from < n && !r->e; from = to, chunks++) {
        for (to = from; to < n && box[to]->chunk == box[from]->chunk;) to++;
        for (int rank = 0; rank < p->of->cluster && !r->e; rank++)
            for (int t = 0; t < PRODUCER_TILES; t++) check_tile(p, rank, t, box + from, (int)(to - from));
    }
    if (chunks != all_chunks(&p->walk))
        REFUSE(r, "boxes are copied for %d of %d chunks", chunks, all_chunks(&p->walk));
    p->out->bytes = p->of->tile[0].bytes + p->of->tile[1].bytes;
    if (!r->e && !p->expect) REFUSE(r, "'%s' is not given its bytes", p->of->full);
    free(box);
}
