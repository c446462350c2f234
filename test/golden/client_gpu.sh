# The client on a fake CUDA driver: devices, a validated and timed run, failures of the device and of kernels, launches
# byte for byte.
export LD_LIBRARY_PATH="$BIN/../fake/cuda"
export TUNER_FAKE="ns=500000;log=log"
run() { echo "-- $*"; "$BIN/tuner-client" "$@" 2>&1; echo "exit $?"; }
"$BIN/tuner-client" --list-devices | tail -1
A=Cijk_Ailk_Bljk_SB_a B=Cijk_Ailk_Bljk_SB_b C=Cijk_Ailk_Bljk_SB_c
sh "$DATA/client/library.sh" $A $B $C >lib.yaml
printf 'FAKE sm_90\n%s 96 0\n%s 96 65536\n%s 96 0\n' $A $B $C >k.cubin
cat >c.ini <<END
library-file=lib.yaml
code-object=k.cubin
device=cuda
results-file=r.csv
problem-identifier=Contraction_l_Ailk_Bljk_Cijk_Dijk
problem-size=33,18,2,7
num-elements-to-validate=-1
num-syncs-per-benchmark=2
num-enqueues-per-sync=3
END
columns() { grep -E '^[0-9 ]+,.*SB_|solution [0-9]*: |^exit' | cut -d, -f2,3,9-11; }
run --config-file c.ini | columns
echo "-- log"; sed -n 's/^launch \(.* args [0-9]*\) .\{64\}/\1 .../p' log | sort -u; grep WRONG log
rm log
echo "-- C and D in one buffer: as it was before each solution's check"
run --config-file c.ini --c-equal-d True | columns
rm log
echo "-- a batch beyond CUDA's 65,535 workgroups along z: in parts"
sed 's/^problem-size=.*/problem-size=3,5,70000,3/' c.ini >parts.ini
run --config-file parts.ini | columns
echo "-- log"; sed -n 's/^launch [^ ]* \(grid [^ ]*\).*/\1/p' log | sort -u; grep WRONG log
rm log
echo "-- a batch by arrays of pointers, with offsets; lengths of the arguments"
G=Cijk_Ailk_Bljk_SB_GB_a
sh "$DATA/client/library.sh" $G | sed 's/type: StridedBatched, value: true/type: StridedBatched, value: false/; s/stridedBatched: true/stridedBatched: false/' >gb.yaml
printf 'FAKE sm_90\n%s 128 0\n' $G >gb.cubin
sed 's/lib.yaml/gb.yaml/; s/k.cubin/gb.cubin/' c.ini >gb.ini
run --config-file gb.ini --strided-batched False --offset-a 3 --offset-b 5 --offset-c 7 --offset-d 9 --flush-count 3 | columns
echo "-- log"; sed -n 's/^launch \([^ ]*\) .* args \([0-9]*\) .*/\1 \2/p' log | sort -u; grep WRONG log
rm log
run --config-file gb.ini | columns
echo "-- first samples of a race, size: launches; few copies of the operands: the graph of all; many: a graph of some, the cache is
filled before it is timed; long kernels, and a driver without graphs: launches one by one"
sed 's/^problem-size=.*/problem-size=128,128,1,2\nproblem-size=256,256,1,2/; s/^num-elements.*/num-elements-to-validate=0/' c.ini >race.ini
first() {
  TUNER_FAKE="ns=$1;log=log" "$BIN/tuner-client" --config-file race.ini --timing race --num-solutions 1 --race-seconds 0.01 \
    --log-level Error --events-fd 3 3>events >/dev/null 2>&1
  echo "$1 ns:" $(awk -F'\t' '$1 == "sample" && $4 == 0 { print $2 ": " $5 }' events | sort -u)
}
first 3000
awk '/^graph of 64 / { print last; } { last = /^fill/ ? $0 : $1 }' log | sort | uniq -c | sed 's/^ *//'; grep WRONG log
first 15000
first 30000
LD_LIBRARY_PATH="$BIN/../fake/cuda_old" first 3000
rm log
echo "-- wrong results and kernels that fault, fail, hang: each costs itself"
TUNER_FAKE="ns=500000;wrong=SB_b" run --config-file c.ini | columns
TUNER_FAKE="ns=500000;illegal=SB_a" run --config-file c.ini | columns
TUNER_FAKE="ns=500000;fail=SB_b" run --config-file c.ini | columns
TUNER_FAKE="ns=500000;hang=SB_c" run --config-file c.ini --kernel-timeout 1 | columns
echo "-- no room, no device, wrong device"
TUNER_FAKE="ns=500000;memory=4000" run --config-file c.ini | columns | sed 's,: [0-9]* bytes wanted,: N bytes wanted,'
TUNER_FAKE="ns=500000;devices=0" run --config-file c.ini
TUNER_FAKE="ns=500000;arch=sm_80" run --config-file c.ini | columns
run --config-file c.ini --device-idx 1
