# A whole run on a GPU that the test plays (libcuda of test/fake), with real cubins: kernels, times, logic, library.
# NVRTC takes the fake driver for the real one, so only the client sees it.
cat >client <<SH
#!/bin/sh
LD_LIBRARY_PATH="$BIN/../fake/cuda" exec "$BIN/tuner-client" "\$@"
SH
chmod +x client
export TUNER_FAKE="ns=50000"
run() { "$BIN/tuner" --client-path "$PWD/client" "$@" "$DATA/run/gpu.yaml" out >log 2>&1; }
if ! "$BIN/tuner" --compile-only --arch sm_90 "$DATA/run/gpu.yaml" probe >log 2>&1; then echo "skipped: $(grep '^tuner:' log)"; exit; fi
run --device cuda; echo "exit $?"; grep -e 'the library uses' -e '^  [0-9]' -e '^   *[0-9]*  Cijk' -e '^tuner:' log | sed 's/  */ /g'
(cd out && find . -type f -path '*ibrary*' | grep -v SOURCE | sort)
sed -n 2,4p out/3_LibraryLogic/test_Cijk_Ailk_Bljk_SB.yaml
grep -c code-object out/1_BenchmarkProblems/*/00_Final/source/ClientParameters.ini
grep -e code-object -e ^device out/4_LibraryClient/source/*.ini
"$BIN/tuner" explain out 100,90,2,80 | grep -o 'lds=[0-9]* scratch=0 kernarg=100 threads=64' | sort -u
echo "--- the library beside the winners timed again"
sed 's/tuner-client/tuner-bench/' client >bench; chmod +x bench
TUNER_CLIENT=$PWD/client TUNER_BENCH=$PWD/bench sh "$ROOT/scripts/library_speed.sh" out --again | sed 's/; [0-9]* s$//'
echo "--- again: nothing to do"
run --device cuda; echo "exit $?"
echo "--- only a library of what was found"
rm -rf out/4_LibraryClient; run --compile-only --arch sm_90; echo "exit $?"; ls out/4_LibraryClient/library
echo "--- no such device"
run --device cuda:1; echo "exit $?"; sed "s, (.*,,; s,$DATA/,," log
run --device cuda --arch sm_80; echo "exit $?"; sed "s, (.*,,; s,$DATA/,," log
echo "--- 4xi8, with a beta-only kernel; a kernel that is wrong; in tuner-bench"
sed 's/DataType: s, TransposeA: False, TransposeB: False/DataType: 4xi8, DestDataType: I, ComputeDataType: I, HighPrecisionAccumulate: True, TransposeA: False, TransposeB: True/
  s/PrefetchGlobalRead: .*/GlobalSplitU: [1, 2]/; s/ThreadTile: .*/ThreadTile: [[4, 4]]/' "$DATA/run/gpu.yaml" >packed.yaml
TUNER_FAKE="$TUNER_FAKE;wrong=GSU1" "$BIN/tuner" --client-path "$PWD/client" --device cuda packed.yaml packed >log 2>&1; echo "exit $?"
grep -e "^  [0-9]" -e tuner-bench -e "^tuner:" log | sed "s|  *| |g; s|$BIN|BIN|"
TUNER_LIBPATH=packed/4_LibraryClient/library ./bench $(sed -n 's/.*tuner-bench \(-f\)/\1/p' log) --rotating 0 -v 1 | sed -n 's/.*; right/right/p'
sed -i 's/HighPrecisionAccumulate: True, //' packed.yaml
"$BIN/tuner" --client-path "$PWD/client" --device cuda packed.yaml plain >log 2>&1; echo "exit $?"; grep -e HighPrec log
