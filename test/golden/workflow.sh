# The scripts of the workflow, from a log to a report: each by itself with Tensile's command lines, then all by tune_all.sh; what
# they refuse, what they say of options that have no meaning, and a log that is cut in the middle of a line.
export TUNER_BIN="$BIN"
S=$ROOT/scripts W=$PWD
plain() { sed "/^problem type/,/^Times/d; s|$DATA|DATA|g; s|$W/||g; s|$BIN/||g; s|$S/||g; s/x86-64-v[234]/HOST/g"; }
run() { name=$1; shift; echo "+ $name $*" | plain; sh "$S/$name" "$@" >got 2>&1; code=$?; plain <got; echo "exit $code"; }
bench() { echo "rocblas-bench -f gemm -r f$1_r --transposeA N --transposeB $2 -m $3 -n $4 -k $5 --alpha 1 --beta 0"; }
{ bench 32 N 32 32 32; bench 32 N 48 40 30; bench 32 N 32 32 32; bench 64 N 16 17 18; bench 32 T 20 21 22
  echo "rocblas-bench -f trsm -r f32_r -m 3 -n 3"; bench 32 N 0 4 4; printf 'rocblas-bench -f gemm -r f32_r -m 4'; } >app.log
echo "--- provision_tuning.sh"
run provision_tuning.sh -w t -z app.log -o app.yaml -l host -y sgemm --one-type nn --base "$DATA/run/bench.yaml" -b develop -m
find t -type f | LC_ALL=C sort
cut -d, -f1-6,21 t/scripts/app.csv
echo "--- the tuning"
t/doit-all.sh --search exhaustive >log 2>&1; echo "exit $?"
echo "--- provision_verification.sh, with the library of the same tuning as the one in use"
run provision_verification.sh -w v -r t -l host --logic t/tune/3_LibraryLogic # the same: nothing to replace
ls v/library v/library/*
echo "--- run_validation.sh"
run run_validation.sh -w v -s t/scripts -i 7 --iters 6 --initialization rand_int | sed '/machine was busy/d; s/[0-9.]* \[[^]]*\]/RATIO/; s/: [0-9.]* ms old.*/: .../; s/: [0-9]* faster.*/: .../'
ls v/benchmarks
run run_validation.sh -w v -s t/scripts -i 7
echo "--- analyze_results.sh"
run analyze_results.sh -o a -s 2 -f 1301 -g mi60 -r v/benchmarks -b v/benchmarks -z app.log >analyzed
sed 's/^analyze_results.sh: a.final.*/REPORT/; s/^analyze_results.sh: this tuner.*/REPORT/; /^report: /d' analyzed
cut -d, -f1-9 a/new/app.7.csv | sed '/^#/!b; s/: .*//'
echo "--- tune_all.sh, of a directory of logs, into the logic of before"
mkdir logs; cp app.log logs/rank0.log; bench 32 N 50 60 70 >logs/rank1.log; bench 32 N 1 1 1 >logs/other.txt
all() { sh "$S/tune_all.sh" -o "$W/all" -z logs -n rank --base "$DATA/run/bench.yaml" --search exhaustive --logic t/tune/3_LibraryLogic --iters 6 "$@" >got 2>&1; code=$?; grep '^tune_all\|left out\|merged' got | grep -v "no command 'report'" | sed 's/, [0-9]* replaced//' | plain; echo "exit $code"; }
all
grep -c '^N' all/validate/benchmarks/tuning.1.csv
"$BIN/tuner-bench" --library all/validate/library/tensile_library -f gemm -r s -m 50 -n 60 -k 70 -v 1 -i 1 | grep -o 'exact size [0-9x]*\|right: .*'
echo "--- again: nothing is done twice; with another option, from there on"
all
all --peer none
all --fail-below 0.000001
bench 32 N 51 60 70 >>logs/rank1.log
all --fail-below 0.000001
echo "--- a rocBLAS tree: massage of gfx906, none where half precision sums in single precision, none of gfx90a"
mkdir wrap; for p in "$BIN"/*; do ln -s "$p" wrap/; done; rm wrap/tuner-createlib
printf '#!/bin/sh\nexec "%s/tuner-createlib" --metadata-only "$@"\n' "$BIN" >wrap/tuner-createlib; chmod +x wrap/tuner-createlib
L=$DATA/tensile/logic T=rb/library/src/blas3/Tensile/Logic
mkdir -p $T/archive $T/asm_full/vega20 $T/asm_full/aldebaran new/3_LibraryLogic new90/3_LibraryLogic
cp "$L/vega20_Cijk_Ailk_Bjlk_ZB.yaml" $T/archive; cp "$L/vega20_Cijk_Ailk_Bjlk_ZB.yaml" $T/asm_full/vega20; cp "$L/vega20_Cijk_Ailk_Bjlk_ZB.yaml" new/3_LibraryLogic
cp "$L/aldebaran_Cijk_Alik_Bjlk_DB.yaml" $T/asm_full/aldebaran; cp "$L/aldebaran_Cijk_Alik_Bjlk_DB.yaml" new90/3_LibraryLogic
export TUNER_BIN="$PWD/wrap"
run provision_verification.sh -w rv -r new -p rb -l vega20
ls rv/library; "$BIN/tuner-logic" massage rv/library/merge direct >/dev/null && diff -rq direct rv/library/massage && echo "massaged"
run provision_verification.sh -w rn -r new -p rb --no-massage; ls rn/library
run provision_verification.sh -w r9 -r new90 -p rb; ls r9/library
cp "$L/vega20_Cijk_Ailk_Bjlk_ZB.yaml" new/3_LibraryLogic/vega20_Cijk_Ailk_Bjlk_HHS_BH.yaml
run provision_verification.sh -w rh -r new; ls rh/library
export TUNER_BIN="$BIN"
echo "--- refused"
run tune_all.sh -o x
run tune_all.sh -z app.log -o x --rk
run tune_all.sh -z none.log -o x
run tune_all.sh -z app.log -o x --nonsense
echo "rocblas-bench -f trsm -m 3" >empty.log; run tune_all.sh -z empty.log -o x
run tune_all.sh -z app.log -o
run provision_tuning.sh -w x -z none.log
run provision_tuning.sh -w x -z logs -n nothing
run provision_tuning.sh -w x -z app.log -l host -y hgemm | tail -2
run provision_tuning.sh -w x -z app.log -y fgemm
run provision_tuning.sh -w x -z app.log -o 'a b.yaml'
run provision_tuning.sh -w x -z app.log -l hip
run provision_verification.sh -w x -r logs
run provision_verification.sh -w x -r t -l vega20
mkdir -p mixed/3_LibraryLogic; cp t/tune/3_LibraryLogic/*.yaml mixed/3_LibraryLogic; sed 's/^- x86-64-v[0-9]/- gfx90a/' t/tune/3_LibraryLogic/*.yaml >mixed/3_LibraryLogic/z.yaml
run provision_verification.sh -w x -r mixed
run run_validation.sh -w v -s none
run run_validation.sh -w x -s t/scripts
run run_validation.sh -w v -s t/scripts -i a/b
run analyze_results.sh -o x -b t/scripts
run analyze_results.sh -o x -b logs
for s in provision_tuning provision_verification run_validation analyze_results tune_all; do sh "$S/$s.sh" --help | head -1; done
