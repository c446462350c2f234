#!/bin/sh
# Sets up, builds and runs the main job on the CPU of this machine: a tuned library, a winners table, and a
# tuner-bench run that used the library. quickstart.sh [--no-setup] [OUTDIR]
set -e
cd "$(dirname "$0")/.."
setup=1
[ "${1:-}" = --no-setup ] && { setup=0; shift; }
out=${1:-build/quickstart}
if [ $setup = 1 ]; then
  sh scripts/setup.sh run
  make -j"$(nproc)"
fi
echo
echo "+ build/bin/tuner configs/quickstart.yaml $out"
build/bin/tuner configs/quickstart.yaml "$out"
lib=$out/4_LibraryClient/library
echo
echo "+ TUNER_LIBPATH=$lib build/bin/tuner-bench -f gemm -r f32_r -m 512 -n 512 -k 512 -v 1 -i 20"
TUNER_LIBPATH=$lib build/bin/tuner-bench -f gemm -r f32_r --transposeA N --transposeB N -m 512 -n 512 -k 512 \
  --alpha 1 --beta 0 -v 1 -i 20
echo
echo "+ TUNER_LIBPATH=$lib build/bin/tuner-bench -f gemm -r f32_r -m 500 -n 300 -k 200 -v 1 -i 20"
TUNER_LIBPATH=$lib build/bin/tuner-bench -f gemm -r f32_r --transposeA N --transposeB N -m 500 -n 300 -k 200 \
  --alpha 1 --beta 0 -v 1 -i 20
