/* Tensor maps: descriptions of matrices for NVIDIA's copy engine (TMA), which kernels may take as arguments
 * behind Tensile's. A solution says in its sizeMapping which it wants,
 *     tensorMaps: [{tensor: A, box: [64, 128], swizzle: 128, l2: 128}, ...]
 * (box: elements of one copy along the contiguous dimension and across it; swizzle and L2 promotion in bytes,
 * 0 none); readers that do not know the key skip it. launch.c fills in the problem's sizes, the device
 * encodes. Used by launch.c, gpu.c and client/device.
 */
#ifndef CLIENT_RUNTIME_TENSOR_MAP_H
#define CLIENT_RUNTIME_TENSOR_MAP_H

#include "base/err.h"

#include <stdint.h>

enum { TENSOR_MAPS_MAX = 4, TENSOR_MAP_BYTES = 128, TENSOR_MAP_ALIGN = 64 };

/* What a solution asks for. */
typedef struct {
    uint8_t tensor;       /* 0 A, 1 B, 2 C, 3 D */
    uint16_t swizzle, l2; /* bytes */
    uint16_t box[2];
} TensorMapSpec;

/* The same for one problem: dimensions are contiguous, across, batch. */
typedef struct {
    uint64_t address;
    int type;           /* DataType */
    uint64_t size[3];   /* elements */
    uint64_t stride[2]; /* bytes from one to the next, of the last two dimensions */
    uint32_t box[3];
    uint32_t swizzle, l2;
} TensorMap;

typedef struct {
    /* Writes the bytes that the device wants; ERR_INPUT: the matrix has an address, size or stride that it
     * cannot do. */
    Err (*encode)(void *ctx, const TensorMap *map, unsigned char out[TENSOR_MAP_BYTES]);
    void *ctx;
} TensorMapEncoder;

#endif
