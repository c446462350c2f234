# The whole line on this machine's CPU: tune, then use the library.
"$BIN/tuner" --arch host "$DATA/run/sim.yaml" out >log 2>&1; echo "exit $?"
"$BIN/tuner" status out | grep -E 'kernels:|measured:'
TUNER_LIBPATH=out/4_LibraryClient/library "$BIN/tuner-bench" -f gemm -r f32_r --transposeA N --transposeB N -m 256 -n 256 -k 256 \
  -v 1 -i 2 >bench.log 2>&1; echo "bench: exit $?"
grep -o 'exact size 256x256x256' bench.log
sh out/4_LibraryClient/build/run.sh >client.log 2>&1; echo "client: exit $?"
grep -c ',PASSED,' client.log
