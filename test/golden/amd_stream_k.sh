# Stream-K for AMD from a config to a packed library without a device: fork, logic, library, selection, and on the emulator, where
# there is one, the results of its kernels with the launcher's arguments and grids (scripts/pack_amd.sh).
TUNER_BIN="$BIN" EMULATE=1e8 sh "$ROOT/scripts/pack_amd.sh" out "$DATA/run/amd_stream_k.yaml" >table 2>err; rc=$?
if grep -q 'no compiler' err; then echo "skipped: $(grep -o 'no compiler.*' err)"; exit; fi
awk '{ print $1, $2, $3, $4, $5, $7, $8, $9 }' table; echo "exit $rc"
grep -v ' skipped: ' err | grep -v ': \([0-9]*\) of \1 problems right'; true
