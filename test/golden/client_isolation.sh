# Kernels that are wrong, out of bounds, crash, hang, leave or are killed: each is recorded and the run goes on.
cc -O2 -fPIC -shared -o k.so "$DATA/client/kernels.c" || exit 1
sh "$DATA/client/library.sh" good wrong_element write_behind write_before read_behind write_input write_gap segfault \
  illegal bus_error aborts exits killed endless prints good >lib.yaml
cat >c.ini <<END
library-file=lib.yaml
code-object=k.so
code-object=other_device.co
results-file=r.csv
problem-identifier=Contraction_l_Ailk_Bljk_Cijk_Dijk
problem-size=40,30,2,20
d-strides=-1,48,-1
problem-size=33,17,1,64
d-strides=-1,-1,-1
num-elements-to-validate=128
bounds-check=GuardPageAll
num-syncs-per-benchmark=3
kernel-timeout=0.3
host-threads=1
END
"$BIN/tuner-client" --config-file c.ini --events-fd 3 >log.csv 2>err.txt 3>events.txt
echo "failures: $?"
cut -d, -f2,3,9,10 log.csv
echo "-- events: every start has its end, with the reason"
grep -c '^start' events.txt
grep '^end' events.txt | cut -f2-4 >ends.txt
cut -f1-3 ends.txt | tr '\t' ' '
grep '^end' events.txt | cut -f9 | sort -u
grep -c '^sample' events.txt
tail -1 events.txt
echo "-- results: -1 where not valid"
sed -E 's/,[0-9.]+(e[-+]?[0-9]+)?(,|$)/,N\2/g; s/,[0-9.]+(e[-+]?[0-9]+)?(,|$)/,N\2/g' r.csv
echo "-- exit-on-error stops at the first"
"$BIN/tuner-client" --config-file c.ini --exit-on-error >log.csv 2>err.txt
echo "failures: $?"
cut -d, -f2,3,9,10 log.csv | tail -2
