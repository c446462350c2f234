# AMD configs end to end without a device (scripts/pack_amd.sh): simulated run, library of its logic, selection on every size,
# the kernels in its code objects, and on the emulator, where there is one, their results.
pack() { TUNER_BIN="$BIN" EMULATE=4e7 sh "$ROOT/scripts/pack_amd.sh" out "$@" 2>err; }
pack "$DATA/run/amd.yaml" >table; rc=$?
if grep -q 'no compiler' err; then echo "skipped: $(grep -o 'no compiler.*' err)"; exit; fi
# without times and sizes of files; spills are the compiler's
awk '{ print $1, $2, $3, $4, $5, $7, $8, $9 }' table; echo "exit $rc"
grep -v ' skipped: ' err | grep -v ': \([0-9]*\) of \1 problems right'
head -4 out/amd/3_LibraryLogic/aldebaran_Cijk_Alik_Bljk_HHS_BH.yaml | tail -1
echo "--- the part is the config's or asked for"
PART=MI210 pack "$DATA/run/amd.yaml" >/dev/null; echo "exit $?"; head -1 out/amd.log; grep ' cached' out/amd/pack_amd/createlib.log | sed 's/.*  //'
echo "--- what is missing is reported"
sed 's/\[64, 4, 1, 128\]/[1, 4, 1, 128]/' "$DATA/run/amd.yaml" >amd.yaml
pack amd.yaml >table; echo "exit $?"; awk '{ print $1, $3, $9 }' table; sed "s,$PWD/,," err | grep -v 'emulator\|right$\|refused$'
mkdir bin; ln -s "$BIN"/* bin/; rm bin/tuner-createlib
printf '#!/bin/sh\n"%s/tuner-createlib" "$@" && for a; do rm -f "$a"/library/*.hsaco; done\n' "$BIN" >bin/tuner-createlib; chmod +x bin/tuner-createlib
TUNER_BIN=$PWD/bin sh "$ROOT/scripts/pack_amd.sh" out "$DATA/run/amd.yaml" 2>&1 >/dev/null; echo "exit $?"
