/* tuner-bench on GPUs: sets of matrices in device memory to rotate over, and times by device events. */
#ifndef CLIENT_BENCH_GPU_H
#define CLIENT_BENCH_GPU_H

#include "client/bench/bench.h"

/* *out NULL: the library runs on the host. Sets the library's stream to the stream of the bench. */
Err bench_gpu_open(tuner_library *lib, BenchGpu **out);
/* Another library on the same device: its stream becomes that of the bench. g NULL: does nothing. */
Err bench_gpu_join(BenchGpu *g, tuner_library *lib);
/* For peers; belongs to g. */
Device *bench_gpu_device(BenchGpu *g);
void bench_gpu_close(BenchGpu *g);
/* Copies a case's matrices into as many sets as cover the cache twice (or --rotating MB), or as memory
 * allows. c's pointers become those of the first set, whose D is poisoned when it is not C. */
Err bench_gpu_load(BenchGpu *g, BenchCase *c, const BenchData *d);
void bench_gpu_unload(BenchGpu *g);
/* Makes the first set again as bench_gpu_load made it, after all calls. */
Err bench_gpu_restore(BenchGpu *g, const BenchData *d);
/* Bytes of D (or C, where that is written) of the first set; bench_gpu_result copies them to `to`. */
size_t bench_gpu_result_bytes(const BenchCase *c, const BenchData *d);
Err bench_gpu_result(BenchGpu *g, const BenchCase *c, const BenchData *d, void *to);
/* The lane of a GPU; see lane_open. */
Err bench_gpu_lane_open(BenchGpu *g, const BenchSide *s, BenchLane *out);
void bench_gpu_lane_close(BenchGpu *g, BenchLane *l);
Err bench_gpu_lane_block(BenchGpu *g, BenchLane *l, double *ns);
/* Sets the fastest of the peer's algorithms, by one block of each. ERR_INPUT: none of them runs. */
Err bench_gpu_peer_choose(BenchGpu *g, BenchSide *s);
/* Takes case_samples samples of the side, each in ns per call. */
Err bench_gpu_time(BenchGpu *g, const BenchSide *s, const BenchCase *c, double *sample, BenchTiming *how);

#endif
