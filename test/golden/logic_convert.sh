T="$BIN/tuner-logic"; L=$DATA/tensile/logic; A=aldebaran_Cijk_Alik_Bjlk_DB.yaml
mkdir in; cp "$L/$A" "$L"/vega20_Cijk_Ailk_Bjlk_ZB.yaml in/
"$T" convert in/$A g.yaml --to gflops --sclk 1700 && "$T" convert g.yaml back.yaml --to efficiency --sclk 1700
cmp in/$A back.yaml && echo same; "$T" show g.yaml | grep speeds
"$T" convert in out --trim --remove-unused --filter 'm>=1024,n>=1024' --remove 'k%2!=0'; ls out
"$T" convert g.yaml x.yaml --to efficiency --sclk 170; "$T" convert in/$A x.yaml --to efficiency --sclk 1700
"$T" convert in/$A in/$A --reindex; cmp in/$A "$L/$A" && echo in place
rm x.yaml
"$T" convert in/$A x.yaml --to percent; echo "exit $?"
"$T" convert in/$A x.yaml --to gflops; echo "exit $?"
"$T" convert in/$A x.yaml --sclk 1700; echo "exit $?"
"$T" convert in/$A x.yaml --filter 'm>1 and n>1'; echo "exit $?"
"$T" convert in/$A; echo "exit $?"
mkdir empty; "$T" convert empty x; echo "exit $?"
ls x.yaml 2>/dev/null
