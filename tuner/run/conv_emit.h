/* --emit-conv: the kernel of one convolution as files for other projects. For a convolution NAME:
 *
 *   NAME.yaml         a config with this one kernel, which tuner builds and measures
 *   NAME.hpp          the kernel's text, HIP C++ or CUDA C++, with the symbol NAME
 *   NAME_wrapper.cpp  includes it, to be compiled by itself
 *
 * gridwise.c writes a fourth file, NAME_solver.cpp, with sizes, products and launches. */
#ifndef RUN_CONV_EMIT_H
#define RUN_CONV_EMIT_H

#include "problem/conv_desc.h"
#include "run/options.h"
#include "space/gridwise.h"

/* Writes the files below the directory of --emit-conv, with the parameters of a tuning. ERR_INPUT: there is
 * no kernel for the convolution or the tuning, with the reason; no file of the three is then written. */
Err conv_emit_kernel(const Options *o, const ConvDesc *c, const GridwiseTuning *t, const GridwiseDerived *d,
                     const char *name);

#endif
