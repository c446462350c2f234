/* NVIDIA's compiler as a library: libnvrtc, opened with dlopen, so that no CUDA package is needed to build
 * or to start. Only the program tuner-nvrtc opens it, because the library may crash, leak or hang.
 *
 * It is looked for by name (the loader's own paths), then below $CUDA_HOME, $CUDA_PATH and
 * /usr/local/cuda; newest version first.
 */
#ifndef BUILD_NVRTC_NVRTC_H
#define BUILD_NVRTC_NVRTC_H

#include "base/arena.h"

/* "NVRTC 13.0 (libnvrtc.so.13, 109338064 bytes)": builds of one version differ in size. */
Err nvrtc_version(Buf *out);
/* Compiles CUDA C++ to a cubin. options: n words for NVRTC. log gets errors and warnings, also on success. */
Err nvrtc_compile(Str source, const char *name, const char *const *options, int n, Buf *cubin, Buf *log);

#endif
