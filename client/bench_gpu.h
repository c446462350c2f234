/* tuner-bench on GPUs: sets of matrices in device memory that are rotated over, and times by device events.
 * Used by bench_run.c. */
#ifndef CLIENT_BENCH_GPU_H
#define CLIENT_BENCH_GPU_H

#include "client/bench.h"

/* *out NULL: the library runs on the host. The library's stream is the bench's from then on. */
Err bench_gpu_open(tuner_library *lib, BenchGpu **out);
void bench_gpu_close(BenchGpu *b);
/* Copies a case's matrices into as many sets as cover the cache twice (or --rotating MB). c's pointers become
 * those of the first set. */
Err bench_gpu_load(BenchGpu *b, BenchCase *c, const BenchData *d);
void bench_gpu_unload(BenchGpu *b);
/* Brings C and D of the first set back into d. */
Err bench_gpu_result(BenchGpu *b, const BenchCase *c, const BenchData *d);
/* c->iters samples of ns per call. */
Err bench_gpu_time(BenchGpu *b, tuner_library *lib, const BenchCase *c, double *sample, BenchTiming *how);

#endif
