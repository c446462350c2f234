/* What made-up kernels of the performance model's tests and benches share: 16-bit A, B and D, sums in
 * f32, loads and stores of 16 bytes. */
#ifndef TEST_MODEL_KERNEL_H
#define TEST_MODEL_KERNEL_H

#define MODEL_KERNEL_16_BIT                                                                                  \
    .bytes_ab = 2, .bytes_d = 2, .bytes_sum = 4, .load_a = 16, .load_b = 16, .store = 16

/* The same for the ring of stages and matrix instructions of an H200, in chunks of 32 elements of K. */
#define MODEL_KERNEL_RING                                                                                    \
    .class = MODEL_MATRIX, .depth = 32, .stages = 3, .mapping = 8, .cluster_m = 1, .cluster_n = 1,           \
    MODEL_KERNEL_16_BIT, .steps = 2, .rate = 2540, .peak = 4096

#endif
