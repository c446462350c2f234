# Kernels that crash, are wrong, or do not compile: recorded, shown, never winners; the run goes on and is not repeated for them.
run() { "$BIN/tuner" "$@" >log 2>&1; echo "exit $?"; grep '^tuner:' log | sed 's/out\/[^ ]*/out\/.../'; }
reports() {
  "$BIN/tuner" status out | sed '1,2d'
  "$BIN/tuner" explain out 100,90,2,80 | sed -n '/out of the running:/,/rejected/p'
}
echo "--- a kernel that crashes"
export TUNER_SIM="arch=x86-64-v3;crash=TT8_4"
run "$DATA/run/sim.yaml" out; reports
lines=$(wc -l <out/1_BenchmarkProblems/Cijk_Ailk_Bljk_SB_00/00_Final/build/client.log)
run "$DATA/run/sim.yaml" out
[ "$lines" = "$(wc -l <out/1_BenchmarkProblems/Cijk_Ailk_Bljk_SB_00/00_Final/build/client.log)" ] && echo "nothing was measured again"
rm -rf out
echo "--- a kernel that is wrong"
export TUNER_SIM="arch=x86-64-v3;wrong=TT4_4"
run "$DATA/run/sim.yaml" out
"$BIN/tuner" status out | grep FAILED
run --global-parameters ExitOnFails=0 -- "$DATA/run/sim.yaml" out
rm -rf out
echo "--- all kernels are wrong"
export TUNER_SIM="arch=x86-64-v3;wrong=Cijk"
run "$DATA/run/sim.yaml" out
rm -rf out
echo "--- stop at the first failure"
run --global-parameters ExitOnFails=2 -- "$DATA/run/sim.yaml" out
rm -rf out
echo "--- a kernel that does not compile"
export TUNER_SIM="arch=x86-64-v3"
cat >cc_picky <<'SH'
#!/bin/sh
echo "$*" >>"$PICKY_LOG"
for a; do case $a in *.c) grep -q TT8_4 "$a" && { echo "$a:1: error: no eight by four today" >&2; exit 1; };; esac; done
exec cc "$@"
SH
chmod +x cc_picky
export PICKY_LOG="$PWD/picky.log"
run --c-compiler "$PWD/cc_picky" "$DATA/run/sim.yaml" out
"$BIN/tuner" status out | sed '1,2d'
"$BIN/tuner" log out TT8_4 | grep -o 'error: no eight.*' | sort | uniq -c
calls=$(wc -l <picky.log)
run --c-compiler "$PWD/cc_picky" "$DATA/run/sim.yaml" out
echo "compiler calls of the second run that compile: $(tail -n +$((calls + 1)) picky.log | grep -c -- '-c .*kernel')"
"$BIN/tuner" explain out 100,90,2,80 | grep compiler | sed 's/log OUTDIR [0-9a-f]*/log OUTDIR .../'
