# scripts/h200_results.sh --unseen on a fake CUDA driver: the run on sizes that no config names, the library of the config's own sizes
# asked for them, the tables.
if ! "$BIN/tuner" --compile-only --arch sm_90 "$DATA/run/gpu.yaml" probe >log 2>&1; then echo "skipped: $(grep '^tuner:' log)"; exit; fi
export TUNER_FAKE="ns=50000" LD_LIBRARY_PATH="$BIN/../fake/cuda" TUNER_DEVICE=cuda
mkdir configs bin
sed 's/TransposeA: False/TransposeA: True/' "$DATA/run/gpu.yaml" >configs/h200_fake.yaml
for p in client bench; do ln -s "$BIN/tuner-$p" bin/tuner-$p; done
# the fake driver computes every product: tuner gets small sizes instead of the drawn ones
cat >bin/tuner <<SH
#!/bin/sh
for a; do case \$a in *.client) sed 's,.*tuner-client",exec tuner-client",' "\$a" | tail -1 >client.txt;; *.unseen.yaml) sed -i 's/ Exact: .*/ Exact: [16, 8, 1, 24]/' "\$a"
  printf '          - Exact: [20, 12, 3, 9]\n          - Exact: [33, 140, 1, 7]\n' >more; sed -i '/Exact/r more' "\$a";; esac; done
LD_LIBRARY_PATH="$LD_LIBRARY_PATH" exec "$BIN/tuner" "\$@"
SH
chmod +x bin/tuner
results() { CONFIGS="$PWD/configs" TUNER="$PWD/bin/tuner" sh "$ROOT/scripts/h200_results.sh" "$@" 2>&1 | sed "s/: [0-9]* s\(,\|\$\)/: N s\1/; s,$PWD/,,"; }
results --unseen --sizes 1 --seed 3 --race-seconds 0.25 o fake | sed '/^Speed over/,$d'; cat client.txt
results o fake >log
results --unseen --sizes 1 --seed 3 --race-seconds 0.25 o fake
ls o/results o/results/unseen
sed "s/^# date.*/# date/; s/^\(# device: [^,]*\).*/\1/; s,$PWD/,,g" o/results/unseen/fake.csv | grep '^#'
grep -v '^# d' o/results/unseen/fake.library.csv
