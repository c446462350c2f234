# A race on the simulated device: the right winner in spite of noise, drift, outliers and throttling; the fields of samples;
# how many launches the losers got; failures of all kinds.
NAMES="K_a K_b K_c K_d K_e K_f K_g K_h K_i K_j K_k K_l K_m K_n K_o K_p"
sh "$DATA/client/library.sh" $NAMES >lib.yaml
: >k.co
cat >c.ini <<END
library-file=lib.yaml
code-object=k.co
device=sim
problem-identifier=Contraction_l_Ailk_Bljk_Cijk_Dijk
type=Float
csv-export-extra-cols=True
log-level=Error
END
i=1
while [ $i -le 20 ]; do echo "problem-size=$((400+7*i)),$((300+13*i)),1,$((200+i))" >>c.ini; i=$((i+1)); done
TUNER_SIM="noise=0;gflops=50" "$BIN/tuner-client" --config-file c.ini --timing loop --results-file truth.csv >/dev/null
# Largest loss of a winner against the best, by the true speeds
loss() {
  awk -F, 'FNR == 1 { next } NR == FNR { for (i = 18; i <= NF; i++) { v[$1, i-18] = $i; if ($i > best[$1]) best[$1] = $i } next }
    { l = 1 - v[$1, $13] / best[$1]; if (l > worst) worst = l } END { print (worst <= 0.004 ? "all within 0.4 %" : "loss " worst) }' \
    truth.csv "$1"
}
for sim in "noise=0.002" "noise=0.01" "noise=0.005;drift=0.02" "noise=0.002;drift=2" "noise=0.005;outliers=0.02" "noise=0.005;throttle=0.3"; do
  TUNER_SIM="$sim;gflops=50" "$BIN/tuner-client" --config-file c.ini --timing race --race-seconds 10 --results-file r.csv \
    --events-fd 3 3>events.txt >/dev/null 2>err.txt
  echo "$sim: exit $?, $(loss r.csv)"
done
echo "-- throttled blocks are marked and repeated"
awk -F'\t' '$1 == "sample" && $11 == 8 { if ($12 == "outlier") m++; else u++ } END { print m+0, "marked,", u+0, "counted" }' events.txt
echo "-- blocks at a fallen clock are marked and repeated, though they are only 5 % slower and no reason for throttling is given"
TUNER_SIM="noise=0.002;sag=0.25;gflops=50" "$BIN/tuner-client" --config-file c.ini --timing race --race-seconds 10 --results-file r.csv \
  --events-fd 3 3>events.txt >/dev/null 2>err.txt
awk -F'\t' '$1 == "sample" && $12 == "outlier" { if ($8 < 1650) m++; else f++ }
  END { print (m >= 10 ? "10 or more" : m + 0), "blocks at the low clock are marked,", f + 0, "others" }' events.txt
echo "-- losers get two looks, the top a last stage"
TUNER_SIM="noise=0.005;gflops=50" "$BIN/tuner-client" --config-file c.ini --timing race --num-problems 1 --results-file r.csv \
  --events-fd 3 3>events.txt >/dev/null 2>err.txt
awk -F'\t' '$1 == "sample" { n[$3]++; if ($12 == "final") f[$3]++ }
  END { for (s in n) { if (n[s] <= 2) few++; if (f[s] >= 7) top++ }; print few, "with one or two samples,", top, "in the last stage" }' events.txt
echo "-- with one stage (race-stages 1): the same winners up to noise, with a fraction of the launches"
TUNER_SIM="noise=0.005;gflops=50" "$BIN/tuner-client" --config-file c.ini --timing race --race-stages 1 --race-seconds 0.2 \
  --results-file r.csv --events-fd 3 3>few.txt >/dev/null 2>err.txt
loss r.csv | sed 's/loss 0.0[01][0-9]*/all within 2 %/; s/within 0.4/within 2/'
awk -F'\t' '$1 == "sample" && $12 == "final" { n++ } END { print n+0, "samples of a last stage" }' few.txt
awk -F'\t' '$1 == "sample" && $2 == 0 { n[$3]++ } END { for (s in n) if (n[s] > most) most = n[s]; print (most <= 4 ? "at most 4" : most), "samples" }' few.txt
echo "-- without stages (race-stages 0): one sample of each, none is dropped"
TUNER_SIM="noise=0.005;gflops=50" "$BIN/tuner-client" --config-file c.ini --timing race --race-stages 0 --check-winner False \
  --results-file r.csv --events-fd 3 3>few.txt >/dev/null 2>err.txt
awk -F'\t' '$1 == "sample" { n[$2, $3]++ } END { for (s in n) { runners++; if (n[s] == 1) one++ }; print runners, "runners,", one, "with one sample" }' few.txt
echo "-- short kernels, in graphs: 16 runners on a size of 2 us"
TUNER_SIM="noise=0.01;gflops=10000" "$BIN/tuner-client" --config-file c.ini --timing race --num-problems 1 --results-file r.csv \
  --events-fd 3 3>events.txt >/dev/null 2>err.txt
grep '^end' events.txt | cut -f2-4 | sort | uniq -c | wc -l
echo "-- launch gaps of the host: first samples of short kernels have none, those of long ones are right as well"
for speed in 50000 4000; do
  TUNER_SIM="noise=0;gflops=$speed" "$BIN/tuner-client" --config-file c.ini --timing loop --results-file /dev/null --events-fd 3 \
    3>truth.txt >/dev/null
  TUNER_SIM="noise=0.005;gap_ns=3500;gflops=$speed" "$BIN/tuner-client" --config-file c.ini --timing race --results-file r.csv \
    --events-fd 3 3>events.txt >/dev/null 2>err.txt
  awk -F'\t' '$1 != "sample" { next } FNR == NR { ns[$2, $3] = $6 / $5; next } ($2, $3) in seen { next }
    { seen[$2, $3]; n++; true_ns = ns[$2, $3]; off = $6 / $5 / true_ns - 1; if (off > 0.03 || off < -0.03) far++
      if (true_ns < 3500) gaps++; else if (true_ns > 20000) long++ }
    END { printf "%d first samples: %d of kernels shorter than the gap, %d of long ones; %d off by more than 3 %%\n", n, gaps, long, far }' \
    truth.txt events.txt
done
echo "-- a size that judges choices (race-all-from): 60 solutions within 30 % of each other"
sh "$DATA/client/library.sh" $(i=10; while [ $i -lt 70 ]; do echo K_$i; i=$((i+1)); done) >many.yaml
sed 's/lib.yaml/many.yaml/' c.ini >many.ini
TUNER_SIM="noise=0.002;gap_ns=3500;spread=0.15" "$BIN/tuner-client" --config-file many.ini --timing race --race-seconds 0.2 \
  --num-problems 2 --race-all-from 1 --results-file r.csv --events-fd 3 3>events.txt >/dev/null 2>err.txt
awk -F'\t' '$1 == "sample" { n[$2, $3]++ } END { for (i in n) { split(i, at, SUBSEP); m[at[1]] += n[i] >= 2; three[at[1]] += n[i] >= 3 }
  for (p = 0; p < 2; p++) print "problem " p ":", m[p], "with two samples or more,", three[p] + 0, "with three or more" }' \
  events.txt
echo "-- failures"
sh "$DATA/client/library.sh" K_good K_wrong K_crash K_hang K_exit K_best >lib.yaml
TUNER_SIM="noise=0;fast=K_best,K_wrong;wrong=K_wrong;crash=K_crash;hang=K_hang;exit=K_exit" "$BIN/tuner-client" --config-file c.ini \
  --timing race --num-elements-to-validate 128 --num-problems 2 --kernel-timeout 0.3 --results-file r.csv --events-fd 3 3>events.txt 2>err.txt >/dev/null
echo "failures: $?"
grep '^end' events.txt | cut -f2-4,9
cut -d, -f1,14 r.csv
echo "-- exit-on-error"
TUNER_SIM="noise=0;wrong=K_wrong" "$BIN/tuner-client" --config-file c.ini --timing race --num-elements-to-validate 128 --num-problems 2 \
  --results-file r.csv --events-fd 3 --exit-on-error 3>events.txt 2>err.txt >/dev/null
echo "failures: $?"
grep '^end' events.txt | cut -f2-4
echo "-- options"
export TUNER_SIM=
"$BIN/tuner-client" --config-file c.ini --timing fast; echo "exit $?"
"$BIN/tuner-client" --config-file c.ini --race-seconds 0; echo "exit $?"
"$BIN/tuner-client" --config-file c.ini --peer mkl; echo "exit $?"
"$BIN/tuner-client" --config-file c.ini --peer cublas --timing loop; echo "exit $?"
"$BIN/tuner-client" --config-file c.ini --peer cublas >/dev/null; echo "exit $?"
