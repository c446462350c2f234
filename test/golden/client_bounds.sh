# One element out of bounds, in each bounds-check mode.
cc -O2 -fPIC -shared -o k.so "$DATA/client/kernels.c" || exit 1
sh "$DATA/client/library.sh" good write_behind write_before read_behind write_gap >lib.yaml
cat >c.ini <<END
library-file=lib.yaml
code-object=k.so
results-file=
problem-identifier=Contraction_l_Ailk_Bljk_Cijk_Dijk
problem-size=40,30,2,20
d-strides=-1,48,-1
offset-d=3
num-elements-to-validate=-1
host-threads=1
END
for mode in Disable NaN GuardPageFront GuardPageBack GuardPageAll; do
  "$BIN/tuner-client" --config-file c.ini --bounds-check $mode >log.csv 2>err.txt
  echo "$mode: $? failures"
  cut -d, -f9,10 log.csv | tail -n +2
done
