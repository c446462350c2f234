# tune_all.sh, killed at random moments (KILLS=20 make workflow-kill: more of them), alone or with all that it has started, and the
# same command again: in the end all files are those of a workflow that was not killed. Times are simulated, but for those of the
# verification: of that the sizes, solutions and checks are compared.
export TUNER_BIN="$BIN" TUNER_SIM="arch=x86-64-v3;noise=0"
command -v setsid >/dev/null || { echo "skipped: no setsid"; exit; }
bench() { echo "rocblas-bench -f gemm -r f$1_r --transposeA N --transposeB N -m $2 -n $3 -k $4 --alpha 1 --beta 0"; }
{ bench 32 32 32 32; bench 32 48 40 30; bench 32 32 32 32; bench 64 16 17 18; } >app.log
for t in s d; do echo "  -
    - {OperationType: GEMM, DataType: $t, TransposeA: False, TransposeB: False, UseBeta: True, Batched: True}
    - ForkParameters:
        - ThreadTile: [[8, 2], [4, 4], [16, 2]]
        - WorkGroup: [[4, 8, 1]]
        - DepthU: [16]
      BenchmarkFinalParameters:
        - ProblemSizes: [{Exact: [32, 32, 2, 32]}]"; done >problems
{ echo "GlobalParameters: {SyncsPerBenchmark: 1, EnqueuesPerSync: 1, NumWarmups: 1, SleepPercent: 0}"; echo BenchmarkProblems:; cat problems
  echo "LibraryLogic: {ScheduleName: sim, DeviceNames: [simulated], ArchitectureName: x86-64-v3}"; echo LibraryClient:; } >base.yaml
all() { # DIR
  out=$1; shift
  "$@" sh "$ROOT/scripts/tune_all.sh" -o "$out" -z app.log --base base.yaml --arch x86-64-v3 --search exhaustive --logic first/tuning/tune/3_LibraryLogic \
    --no-massage --iters 6
}
sh "$ROOT/scripts/tune_all.sh" -o first -z app.log -y sgemm --base base.yaml --arch x86-64-v3 --search exhaustive >log 2>&1; echo "logic in use: exit $?"
from=$(date +%s%N)
all whole >log 2>&1; echo "whole: exit $?"
took=$(( ($(date +%s%N) - from) / 1000000 ))
seed=${SEED:-4711} kills=0 tries=0
random() { seed=$(( (seed * 1103515245 + 12345) % 2147483648 )); echo $(( seed / 65536 % $1 )); }
while [ $kills -lt "${KILLS:-3}" ] && [ $tries -lt 100 ]; do
  tries=$((tries + 1))
  all killed setsid >log 2>&1 &
  pid=$!
  # a moment within the time of a whole workflow, or of what remains of one
  sleep "$(awk -v ms="$(random $((took / (kills % 4 + 1) + 50)))" 'BEGIN { print ms / 1000 }')"
  group=$(cat /proc/$pid/task/*/children 2>/dev/null | cut -d' ' -f1)
  [ -n "$group" ] || group=$pid
  if [ "$(random 2)" = 0 ]; then kill -9 -- "-$group" 2>/dev/null || kill -9 "-$pid" 2>/dev/null; else kill -9 $pid "$group" 2>/dev/null; fi
  # it was through, as the machine is less busy than it was: from the start again, and killed earlier
  if wait $pid 2>/dev/null; then rm -rf killed; took=$((took / 2)); else kills=$((kills + 1)); fi
done
[ $kills = "${KILLS:-3}" ] || echo "only $kills kills"
all killed >log 2>&1; echo "killed: exit $?"
same() { if diff -r "$@" >differs; then echo "$name: the same"; else echo "$name: differs"; cat differs; fi; }
for name in tuning/sizes tuning/scripts tuning/tune/2_BenchmarkData tuning/tune/3_LibraryLogic validate/library/exact validate/library/merge; do
  same "whole/$name" "killed/$name"
done
for d in whole killed; do
  sed -i "s|$PWD/$d/||" $d/tuning/configs/tuning.yaml; find $d/validate/library -name TensileManifest.txt -exec sed -i "s|$PWD/$d/||" {} +
  find $d/validate/library -name '*.report.csv' -exec sed -i "s|$PWD/$d/||g" {} +
done
name=tuning/configs; same whole/$name killed/$name
for name in tensile_library reference; do name=validate/library/$name/library; same "whole/$name" "killed/$name"; done
for d in whole killed; do
  awk -F, '/^#/ { next } !n { n = NF; for (i = 1; i <= n; i++) at[$i] = i } { print $3, $4, $5, $at["call_count"], $at["solution_old"], $at["solution_new"] }' \
    $d/validate/benchmarks/tuning.1.csv >$d.verified
done
name=verified; same whole.verified killed.verified; cat killed.verified
ls -A killed | grep -v '^report\|^analysis' # of tuner report
ls -A killed/validate/library killed/.steps
