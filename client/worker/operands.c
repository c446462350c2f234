/* Data of operands. See operands.h. */
#include "client/worker/operands.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "client/worker/parallel.h"

/* CHUNK: bytes that are hashed at once. Memory of up to PINNED_BYTES is pinned where the driver can: GPUs
 * copy to it at their full speed. An operand's copy on the device takes one COPY_PART-th of its memory at
 * most. */
enum { CHUNK = 1 << 20, PINNED_BYTES = 64 << 20, COPY_PART = 64 };

Operands operands_make(Device *device, int n_threads)
{
    DeviceProps props;
    Operands o = {.device = device, .n_threads = n_threads};
    if (!device->api->is_gpu) return o;
    if (device->api->props(device, &props))
        err_clear();
    else
        o.copy_most = props.memory_bytes / COPY_PART;
    return o;
}

static void bounce_free(Operands *o, Bounce *b)
{
    if (b->pinned)
        o->device->api->pinned_free(o->device, b->data);
    else
        free(b->data);
    *b = (Bounce){0};
}

static void operand_free(Operands *o, Operand *x)
{
    free(x->data);
    free(x->hash);
    o->device->api->free(o->device, &x->copy);
    *x = (Operand){0};
}

void operands_free(Operands *o)
{
    if (!o->device) return;
    for (int i = 0; i < OPERANDS; i++)
        for (int k = 0; k < OPERAND_SEEDS; k++) operand_free(o, &o->of[i][k]);
    bounce_free(o, &o->d_out);
    bounce_free(o, &o->in_out);
}

bool operand_is_shared(InitType how) { return !init_is_positional(how); }

void operands_expect(Operands *o, int number, uint64_t bytes)
{
    if (bytes > o->room[number]) o->room[number] = bytes;
}

/* Memory that is not written to costs nothing. */
static Err room_make(Operands *o, Operand *x, uint64_t room)
{
    unsigned char *more = realloc(x->data, room + 1);
    if (!more) FAIL(ERR_FAILED, "out of memory for an operand of %llu bytes", (unsigned long long)room);
    x->data = more, x->room = room;
    o->device->api->free(o->device, &x->copy);
    x->n_there = 0;
    return 0;
}

/* Makes data up to `bytes`. */
static Err operand_grow(Operands *o, Operand *x, uint64_t bytes, uint64_t room)
{
    const uint64_t size = (uint64_t)type_bytes(x->type);
    if (bytes > x->room) TRY(room_make(o, x, bytes > room ? bytes : room));
    init_more(x->type, x->how, x->seed, (int64_t)(x->bytes / size), (int64_t)(bytes / size), o->n_threads,
              x->data);
    x->bytes = bytes;
    return 0;
}

Err operand_get(Operands *o, int number, const Tensor *x, InitType how, uint64_t seed, Operand **out)
{
    Operand *of = o->of[number], *found = NULL;
    const uint64_t bytes = (uint64_t)x->n_elements * (uint64_t)type_bytes(x->type);
    for (int k = 0; k < OPERAND_SEEDS; k++)
        if (of[k].data && of[k].type == x->type && of[k].how == how && of[k].seed == seed) found = &of[k];
    for (int k = 0; k < OPERAND_SEEDS && !found; k++)
        if (!of[k].data) found = &of[k];
    if (!found) operand_free(o, found = &of[OPERAND_SEEDS - 1]);
    *out = found;
    found->type = x->type, found->how = how, found->seed = seed;
    return found->bytes < bytes ? operand_grow(o, found, bytes, o->room[number]) : 0;
}

/* ---- hashes ---- */

typedef struct {
    const unsigned char *data;
    uint64_t n;
    uint64_t *part;
} Hashing;

static void hash_task(void *ctx, int64_t i)
{
    Hashing *h = ctx;
    const uint64_t at = (uint64_t)i * CHUNK, left = h->n - at;
    h->part[i] = hash64((Str){(const char *)h->data + at, left < CHUNK ? left : CHUNK});
}

uint64_t bytes_hash(const unsigned char *data, uint64_t n, int n_threads)
{
    const uint64_t n_parts = (n + CHUNK - 1) / CHUNK;
    if (n_parts < 2) return hash64((Str){(const char *)data, n});
    Hashing h = {data, n, malloc(n_parts * sizeof *h.part)};
    if (!h.part) return 0;
    parallel_for((int64_t)n_parts, n_threads, hash_task, &h);
    const uint64_t all = hash64((Str){(const char *)h.part, n_parts * sizeof *h.part});
    free(h.part);
    return all;
}

/* Hashes of the first n chunks. */
static bool chunks_hash(Operand *x, size_t n, int n_threads)
{
    if (n <= x->n_hashes) return true;
    uint64_t *more = realloc(x->hash, n * sizeof *more);
    if (!more) return false;
    x->hash = more;
    const uint64_t from = x->n_hashes;
    Hashing h = {x->data + from * CHUNK, (n - from) * CHUNK, more + from};
    parallel_for((int64_t)(n - from), n_threads, hash_task, &h);
    x->n_hashes = n;
    return true;
}

uint64_t operand_hash(Operand *x, uint64_t bytes, int n_threads)
{
    const size_t whole = bytes / CHUNK, n_parts = (bytes + CHUNK - 1) / CHUNK;
    if (n_parts < 2 || !chunks_hash(x, whole, n_threads)) return bytes_hash(x->data, bytes, n_threads);
    uint64_t *part = malloc(n_parts * sizeof *part);
    if (!part) return 0;
    memcpy(part, x->hash, whole * sizeof *part);
    if (n_parts > whole)
        part[whole] = hash64((Str){(const char *)x->data + whole * CHUNK, bytes - whole * CHUNK});
    const uint64_t all = hash64((Str){(const char *)part, n_parts * sizeof *part});
    free(part);
    return all;
}

/* ---- the device ---- */

/* Makes the copy's first bytes. Without room for a copy there is none. */
static Err copy_make(Operands *o, Operand *x, uint64_t bytes)
{
    const DeviceApi *api = o->device->api;
    const uint64_t room = x->room < o->copy_most ? x->room : o->copy_most;
    if (bytes > room || bytes <= x->n_there) return 0;
    if (!x->copy.bytes && api->alloc(o->device, room, DEVICE_GUARD_NONE, &x->copy)) {
        err_clear();
        return 0;
    }
    TRY(api->copy_to(o->device, &x->copy, x->n_there, x->data + x->n_there, bytes - x->n_there));
    x->n_there = bytes;
    return 0;
}

Err operand_write(Operands *o, Operand *x, const DeviceMem *to, uint64_t offset, uint64_t bytes)
{
    const DeviceApi *api = o->device->api;
    TRY(copy_make(o, x, bytes));
    if (bytes > x->n_there) return api->copy_to(o->device, to, offset, x->data, bytes);
    TRY(device_range(to, offset, bytes));
    const DeviceMem at = {.address = to->address + offset, .bytes = bytes};
    return api->copy(o->device, &at, &x->copy, bytes);
}

Err operand_restore(Operands *o, Operand *x, uint64_t bytes, bool *changed)
{
    const DeviceApi *api = o->device->api;
    *changed = false;
    if (bytes > x->n_there) return 0;
    TRY(bounce_room(o, &o->in_out, bytes));
    TRY(api->copy_from(o->device, o->in_out.data, &x->copy, 0, bytes));
    *changed = memcmp(o->in_out.data, x->data, bytes) != 0;
    return *changed ? api->copy_to(o->device, &x->copy, 0, x->data, x->n_there) : 0;
}

/* ---- results ---- */

Err bounce_room(Operands *o, Bounce *b, uint64_t bytes)
{
    const DeviceApi *api = o->device->api;
    if (b->bytes >= bytes && b->data) return 0;
    bounce_free(o, b);
    /* a quarter more than is needed, so that slightly larger ones need no new memory */
    uint64_t room = bytes + bytes / 4 + 1;
    if (room <= PINNED_BYTES && api->pinned_alloc) b->data = api->pinned_alloc(o->device, room);
    b->pinned = b->data != NULL;
    if (!b->data) b->data = malloc(room);
    if (!b->data) FAIL(ERR_FAILED, "out of memory for %llu bytes of a result", (unsigned long long)bytes);
    b->bytes = room;
    return 0;
}
