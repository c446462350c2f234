/* Fake GPU drivers: what the files with the libraries' functions share. One source, two names for each
 * function: FN(cuda, hip). */
#ifndef TEST_FAKE_PRIV_H
#define TEST_FAKE_PRIV_H

#include "test/fake/fake.h"

#ifdef CUDA
#define FN(cuda, hip) cuda
#define ARCH "sm_90"
#define PARAM_END 0
#else
#define FN(cuda, hip) hip
#define ARCH "gfx90a"
#define PARAM_END 3
#endif
#define API __attribute__((visibility("default")))
#define VALID(o, handle, kind)                                                                               \
    Object *o = object_get(handle, kind);                                                                    \
    if (!o) return fake_wrong(BAD_HANDLE, "%s: no such handle", __func__)
#define READY                                                                                                \
    do {                                                                                                     \
        int rc_ = fake_ready(__func__);                                                                      \
        if (rc_) return rc_;                                                                                 \
    } while (0)

extern _Atomic uint64_t fake_clock_ns; /* of the device: launches let it run */
/* Started, with a context, and no fault that stays. */
int fake_ready(const char *who);
int fake_play(const Call *c);
Object *fake_default_stream(void);

#endif
