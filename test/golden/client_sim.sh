# A whole run on the simulated device: log, results, winner columns, merged repeats, update file, plan, choice, levels.
export TUNER_SIM="noise=0;gflops=1000;cus=60;wrong=K_wrong"
sh "$DATA/client/library.sh" K_a K_b K_wrong K_c >lib.yaml
: >k.co
cat >c.ini <<END
library-file=lib.yaml
code-object=k.co
device=sim
results-file=r.csv
performance-metric=DeviceEfficiency
problem-identifier=Contraction_l_Ailk_Bljk_Cijk_Dijk
a-type=Float
b-type=Float
c-type=Float
d-type=Float
alpha-type=Float
beta-type=Float
problem-size=64,64,1,64
problem-size=100,48,2,33
num-elements-to-validate=128
num-syncs-per-benchmark=2
num-enqueues-per-sync=3
csv-export-extra-cols=True
library-update-file=u.yaml
library-update-comment=True
END
"$BIN/tuner-client" --config-file c.ini
echo "failures: $?"
cat r.csv u.yaml
echo "-- three benchmarks merged, no validation, errors only"
"$BIN/tuner-client" --config-file c.ini --num-benchmarks 3 --csv-merge-same-problems True --log-level Error \
  --num-elements-to-validate 0
cat r.csv
echo "-- per CU"
"$BIN/tuner-client" --config-file c.ini --performance-metric CUEfficiency --num-problems 1 --num-solutions 2 | cut -d, -f2,3,9-11
cut -d, -f1-6,15- r.csv
echo "-- plan"
printf '1 3 0\n1 0 1\n0 2 1\n' >plan.txt
"$BIN/tuner-client" --config-file c.ini --plan-file plan.txt --events-fd 3 3>events.txt | cut -d, -f2,3,9,10
cut -f1-4 events.txt | grep -v '^env\|^sample'
echo "-- best solution, selection only"
"$BIN/tuner-client" --config-file c.ini --best-solution True | cut -d, -f2,3,9,10
"$BIN/tuner-client" --config-file c.ini --selection-only True | cut -d, -f2,3,9,10
echo "-- asserts and granularity"
MULTIPLE=16 sh "$DATA/client/library.sh" K_a K_b >lib.yaml
"$BIN/tuner-client" --config-file c.ini | cut -d, -f2,3,9,10
"$BIN/tuner-client" --config-file c.ini --granularity-threshold 0.01 --log-level Normal | cut -d, -f2,3,9,10
cat r.csv
