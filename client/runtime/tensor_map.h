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

#include <stdbool.h>
#include <stdint.h>

enum { TENSOR_MAPS_MAX = 4, TENSOR_MAP_BYTES = 128, TENSOR_MAP_ALIGN = 64 };

/* A tensor map of a solution. */
typedef struct {
    uint8_t tensor;       /* 0 A, 1 B, 2 C, 3 D */
    uint16_t swizzle, l2; /* bytes */
    uint16_t box[2];
} TensorMapSpec;

/* The tensor map for one problem. The dimensions of a matrix are the contiguous one, the other one, and the
 * batch; those of pixels channels, W, H, images, and a copy reads box[1] pixels from one on, line after line,
 * each `channels` wide (PTX ISA, "im2col mode"). */
enum { MAP_DIMS = 4 };
typedef struct {
    uint64_t address;
    int type;                      /* DataType */
    int32_t rank;                  /* 3 or 4 */
    uint64_t size[MAP_DIMS];       /* elements */
    uint64_t stride[MAP_DIMS - 1]; /* of all dimensions but the first, in bytes */
    uint32_t box[MAP_DIMS];
    uint32_t swizzle, l2;
    bool pixels;
    int32_t lower[2],
        upper[2];     /* of pixels: corners of the positions along W, H, from the first and last pixel */
    uint32_t step[2]; /* of pixels: from one that is read to the next */
} TensorMap;

typedef struct {
    /* Writes the encoded map; ERR_INPUT: the device does not support the matrix's address, a size or a
     * stride. */
    Err (*encode)(void *ctx, const TensorMap *map, unsigned char out[TENSOR_MAP_BYTES]);
    void *ctx;
} TensorMapEncoder;

#endif
