/* Tensor maps: descriptions of matrices for NVIDIA's copy engine (TMA), which kernels may take as arguments
 * after Tensile's. A solution lists its tensor maps in its sizeMapping,
 *     tensorMaps: [{tensor: A, box: [64, 128], swizzle: 128, l2: 128}, ...]
 * (box: elements of one copy along the contiguous dimension and across it; swizzle and L2 promotion in bytes,
 * 0 none); readers that do not know the key ignore it. The launcher fills in the problem's sizes and the
 * driver encodes the map.
 */
#ifndef CLIENT_RUNTIME_TENSOR_MAP_H
#define CLIENT_RUNTIME_TENSOR_MAP_H

#include "base/err.h"

#include <stdint.h>

enum { TENSOR_MAPS_MAX = 4, TENSOR_MAP_BYTES = 128, TENSOR_MAP_ALIGN = 64 };

/* A tensor map of a solution. */
typedef struct {
    uint8_t tensor;       /* 0 A, 1 B, 2 C, 3 D */
    uint16_t swizzle, l2; /* bytes */
    uint16_t box[2];
} TensorMapSpec;

/* The tensor map for one problem; its dimensions are the contiguous one, the other one, and the batch. */
typedef struct {
    uint64_t address;
    int type;           /* DataType */
    uint64_t size[3];   /* elements */
    uint64_t stride[2]; /* of the last two dimensions, in bytes */
    uint32_t box[3];
    uint32_t swizzle, l2;
} TensorMap;

typedef struct {
    /* Writes the encoded map; ERR_INPUT: the device does not support the matrix's address, a size or a
     * stride. */
    Err (*encode)(void *ctx, const TensorMap *map, unsigned char out[TENSOR_MAP_BYTES]);
    void *ctx;
} TensorMapEncoder;

#endif
