L=$DATA/tensile/logic
T="$BIN/tuner-logic"
mkdir base inc
F=aldebaran_Cijk_Alik_Bjlk_DB.yaml
cp "$L/$F" base/; cp "$L"/vega20_Cijk_Ailk_Bjlk_ZB.yaml base/; cp "$L"/hip_Cijk_Ailk_Bljk_I8II_BH.yaml inc/
# four speeds go up, one goes down, one size is new
"$T" show base/$F --sizes 2>/dev/null | tail -6
awk -v n="$(wc -l <"base/$F")" 'FNR > n - 30 && /\[[0-9]+, [0-9.]+\]$/ { sub(/, /, ", 1") } { print }' base/$F >inc/$F
"$T" merge base inc out -v 2 | grep -v ' kept '; echo "exit $?"; ls out
cmp base/vega20_Cijk_Ailk_Bjlk_ZB.yaml out/vega20_Cijk_Ailk_Bjlk_ZB.yaml && cmp inc/hip_Cijk_Ailk_Bljk_I8II_BH.yaml out/hip_Cijk_Ailk_Bljk_I8II_BH.yaml && echo copies equal
cp -r out again; "$T" merge again inc again | tail -1; diff -r out again && echo idempotent
"$T" merge out base back -v 0; "$T" merge out base back --force_merge true -v 0 | tail -1
"$T" merge base inc theirs --policy tensile --force_merge False -v 0; ls theirs
# nothing is left and nothing is touched when it fails
mkdir bad; head -c 50000 inc/$F >bad/$F; cp -r out before
"$T" merge base bad out; echo "exit $?"; diff -r before out && ls -d out* && echo untouched
G=aldebaran_Cijk_Alik_Bjlk_BBS_BH.yaml
mkdir base2 bad2; cp "$L/$G" base2/; sed 's/^- DeviceEfficiency/- CUEfficiency/' base2/$G >bad2/$G
"$T" merge base2 bad2 out; echo "exit $?"; diff -r before out && echo untouched
sed 's/gfx90a/gfx908/' base/$F >bad/$F; "$T" merge base bad out; echo "exit $?"
"$T" merge base inc; echo "exit $?"
"$T" merge base inc out --policy fastest; echo "exit $?"
"$T" merge base inc out --policy best --force_merge true; echo "exit $?"
"$T" merge base inc out --force; echo "exit $?"
"$T" merge base missing out; echo "exit $?"
echo "--- another distance: that of the original is kept"
mkdir ratio
{ cat base2/$G; printf -- '- null\n- Ratio\n'; } >ratio/$G
"$T" merge base2 ratio kept -v 0; echo "exit $?"; cmp base2/$G kept/$G && echo "as it was"
echo "--- calls of an application as weights"
cat >app.csv <<'END'
M,N,K,batch_count,transA,transB,a_type,b_type,c_type,d_type,compute_type,call_count
END
# the last two sizes, one that is new, and one of another type
"$T" show base/$F --sizes 2>/dev/null | tail -2 | sed 's/ .*//' | awk -F, '{ print $1 "," $2 "," $4 "," $3 ",T,T,f64_r,f64_r,f64_r,f64_r,f64_r,10" }' >>app.csv
echo "77,78,79,1,T,T,f64_r,f64_r,f64_r,f64_r,f64_r,5" >>app.csv
echo "77,78,79,1,T,T,f32_r,f32_r,f32_r,f32_r,f32_r,3" >>app.csv
echo "0,78,79,1,T,T,f32_r,f32_r,f32_r,f32_r,f32_r,3" >>app.csv
"$T" merge base inc out3 --weights app.csv -v 0; echo "exit $?"
awk '!done && /^- - - \[/ { n++ } { print } ' base/$F >inc/$F
sed -i "0,/^- - - \[[0-9, ]*\]/s//- - - [77, 78, 1, 79]/" inc/$F
"$T" merge base inc out4 --weights app.csv -v 0; echo "exit $?"
"$T" merge base inc out4 --weights none.log; echo "exit $?"
echo nothing >none.log; "$T" merge base inc out4 --weights none.log; echo "exit $?"
