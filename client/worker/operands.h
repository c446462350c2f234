/* Data of the operands of all problems of a worker, and memory for copies of results.
 *
 * Element i of an operand depends on its seed and on i alone (init.h), unless it is initialised by position:
 * the data of an operand are the beginning of those of a larger one. They are made once, as many as the
 * largest operand so far has, and on a GPU a copy of them stays in its memory, from which the sets of
 * buffers are filled. A kernel that writes anywhere may change that copy: operand_restore makes it good
 * again.
 */
#ifndef CLIENT_OPERANDS_H
#define CLIENT_OPERANDS_H

#include "client/device/device.h"
#include "client/worker/init.h"

typedef struct {
    DataType type;
    InitType how;
    uint64_t seed;
    unsigned char *data;
    uint64_t bytes, room; /* that are made; that there is memory for */
    uint64_t *hash;       /* of its whole chunks */
    size_t n_hashes;
    DeviceMem copy;   /* on the device; empty: there is none */
    uint64_t n_there; /* bytes of the copy that are made */
} Operand;

/* Host memory that is kept between results: page faults of new memory cost more than a copy. */
typedef struct {
    unsigned char *data;
    uint64_t bytes;
    bool pinned;
} Bounce;

enum { OPERANDS = 3, OPERAND_SEEDS = 2 };

typedef struct {
    Device *device;
    uint64_t copy_most;      /* bytes of an operand's copy on the device, at most */
    uint64_t room[OPERANDS]; /* bytes of the largest operand that is known to come */
    int n_threads;
    Operand of[OPERANDS][OPERAND_SEEDS];
    Bounce d_out, in_out; /* D and an input, where the host cannot access the device's memory */
} Operands;

Operands operands_make(Device *device, int n_threads);
/* Notes the bytes of an operand that is to come, so that its data get memory at once. */
void operands_expect(Operands *o, int number, uint64_t bytes);
/* The device must still be open. */
void operands_free(Operands *o);

/* Whether operands share their data if they are initialised so. */
bool operand_is_shared(InitType how);
/* The data of operand `number` (0: A), at least as many as x has; valid until the next call for it. */
Err operand_get(Operands *o, int number, const Tensor *x, InitType how, uint64_t seed, Operand **out);
/* Hash of the first bytes, as bytes_hash. */
uint64_t operand_hash(Operand *x, uint64_t bytes, int n_threads);
/* Copies the first bytes to the device's memory. */
Err operand_write(Operands *o, Operand *x, const DeviceMem *to, uint64_t offset, uint64_t bytes);
/* *changed: the copy on the device differed in the first bytes; it is made again. */
Err operand_restore(Operands *o, Operand *x, uint64_t bytes, bool *changed);

/* Hash of many bytes, by several threads. 0: out of memory. */
uint64_t bytes_hash(const unsigned char *data, uint64_t n, int n_threads);

/* Room for so many bytes; what was there is lost. */
Err bounce_room(Operands *o, Bounce *b, uint64_t bytes);

#endif
