# A full and a read-only disk: one clear line, exit 1, and the store as it was.
export TUNER_SIM="arch=x86-64-v3"
mkdir disk
mount -t tmpfs -o size=700k tuner-test disk 2>/dev/null || { echo "skipped: cannot mount a tmpfs here"; exit 0; }
trap 'umount disk' EXIT
"$BIN/tuner" "$DATA/run/sim.yaml" disk/out >log 2>&1; echo "exit $?"
grep -c . log; grep -q 'No space left on device\|full' log && echo "it says so"
"$BIN/tuner" status disk/out >/dev/null; echo "status: exit $?"
mount -o remount,size=50m disk
"$BIN/tuner" "$DATA/run/sim.yaml" disk/out >log 2>&1; echo "with room: exit $?"
mount -o remount,ro disk
"$BIN/tuner" "$DATA/run/sim.yaml" disk/out >log 2>&1; echo "read-only: exit $?"
grep -c . log; grep -io 'read-only[a-z ]*' log | head -1
"$BIN/tuner" status disk/out | grep measured
