/* NVIDIA's compiler as a library: libnvrtc, opened with dlopen, so that no CUDA package is needed to build
 * and none to start. Private to the program tuner-nvrtc: the library may crash, leak or hang, so nothing else
 * opens it.
 *
 * It is looked for by name (the loader's own paths), then below $CUDA_HOME, $CUDA_PATH and
 * /usr/local/cuda; newest version first.
 */
#ifndef BUILD_NVRTC_NVRTC_H
#define BUILD_NVRTC_NVRTC_H

#include "base/arena.h"

/* "NVRTC 13.0 (libnvrtc.so.13, 109338064 bytes)": its size tells builds of one version apart. */
Err nvrtc_version(Buf *out);
/* CUDA C++ to a cubin. options: n words for NVRTC. The log, errors and warnings, goes to log in any case. */
Err nvrtc_compile(Str source, const char *name, const char *const *options, int n, Buf *cubin, Buf *log);

#endif
