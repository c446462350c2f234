# Wrong options and input: one line, exit code 2 (4: no device).
run() { echo "-- $*"; "$BIN/tuner-client" "$@"; echo "exit $?"; }
run
run --nosuch 1
run --config-file missing.ini
run --device cuda --device-idx 900 --library-file x --problem-identifier Contraction_l_Ailk_Bljk_Cijk_Dijk --problem-size 1,1,1,1 2>&1 | sed 's/: .*:.*/: .../; s/no cuda device .*/.../'
run --device gpu --library-file x
run --device-idx 3 --library-file x --problem-identifier Contraction_l_Ailk_Bljk_Cijk_Dijk --problem-size 1,1,1,1
run --library-file missing.yaml --problem-identifier Contraction_l_Ailk_Bljk_Cijk_Dijk --problem-size 1,1,1,1
run --library-file x --problem-identifier Contraction_l_Ailk_Bljk_Cijk_Dijk --problem-size 1,1,1,0
run --library-file x --problem-identifier Contraction_l_Ailk_Bljk_Cijk_Dijk --problem-size 1,1,1,1 --a-type I --init-a NaN
printf 'num-warmups=1\nnum-warmup=1\n' >bad.ini
run --config-file bad.ini
sh "$DATA/client/library.sh" good >lib.yaml
printf '0 0 1\n0 1 1\n' >plan.txt
run --library-file lib.yaml --problem-identifier Contraction_l_Ailk_Bljk_Cijk_Dijk --problem-size 1,1,1,1 --plan-file plan.txt
echo "-- events reader gone: the client ends"
"$BIN/tuner-client" --library-file lib.yaml --device sim --sim "" --code-object lib.yaml --problem-identifier \
  Contraction_l_Ailk_Bljk_Cijk_Dijk --problem-size 8,8,1,8 --num-benchmarks 1000000 --log-level Error --events-fd 3 3>&1 >/dev/null |
  head -1
echo "-- list-devices"
"$BIN/tuner-client" --list-devices | sed 's/[ :].*//' | uniq
echo "-- help"
"$BIN/tuner-client" --help | grep -c -e '^      --num-warmups N'
