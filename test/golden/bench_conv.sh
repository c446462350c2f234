# tuner-bench conv: lines of MIOpenDriver and files with them; bad input; oneDNN's results are right where it is installed.
bench() { echo "+ tuner-bench $*"; "$BIN"/tuner-bench "$@" 2>&1; echo "exit $?"; }
cat >app.log <<'END'
./bin/MIOpenDriver conv -n 4 -c 16 -H 14 -W 14 -k 32 -y 3 -x 3 -p 1 -q 1 -F 1
./bin/MIOpenDriver conv -n 4 -c 16 -H 14 -W 14 -k 32 -y 3 -x 3 -p 1 -q 1 -F 5
./bin/MIOpenDriver pool -n 1
rocblas-bench -f gemm -r s -m 8 -n 8 -k 8
END
printf 'rocblas-bench -f gemm -r s -m 8 -n 8 -k 8\n' >gemm.log
bench convfp16 -n 8 -c 16 -H 14 -W 14 -k 32 -p 1 -q 1 -I NHWC -f NHWC -O NHWC
bench conv -_ 3 -n 2 -c 4 '-!' 8 -H 8 -W 8 -k 8 -F 2 --pad_h_end 1
bench conv app.log
echo "--- errors"
for words in 'conv -n 4 -Q 2' 'conv -c 4 -g 3' 'convx -n 3' 'conv none.log' 'conv app.log -n 3' 'conv gemm.log' 'conv --peer mkl' \
  'conv --device cuda' 'conv --every-solution' 'conv --peer onednn --device cuda:x' 'conv --peer cudnn --device host' 'conv --peer' 'conv --out_h 9'; do
  bench $words
done
echo "--- oneDNN"
cat >cases <<'END'
conv -n 2 -c 6 -k 8 -g 2 -H 9 -W 7 -p 1 -q 2 -u 2 -I NHWC -f NHWC -O NHWC
conv -n 2 -c 4 -k 4 -g 4 -H 9 -W 7 -l 2 -j 2
convint8 -n 1 -c 16 -k 16 -H 8 -W 8 -F 1
END
while read -r words; do
  "$BIN"/tuner-bench $words --peer onednn --threads 1 -i 2 >out 2>err </dev/null
  case $? in 0) ;; 4) sed 's/.*/right/' err >out ;; *) cat err out ;; esac # 4: oneDNN is not installed; test_conv_peer says so
  grep -c right out | sed 's/.*/some are right/'
  grep WRONG out
done <cases
echo "--- cuDNN, faked"
faked() { # SETTINGS WORDS [BLOCKS]: without norm_error_1, whose last digits are the compiler's
  TUNER_FAKE="arch=sm_90;log=$PWD/calls;$1" LD_LIBRARY_PATH="$BIN/../fake/cuda" "$BIN"/tuner-bench $2 --peer cudnn -i ${3:-3} \
    -n 1 -c 2 -k 4 -H 5 -W 4 -q 2 2>&1 | awk -F, -v OFS=, '!/^#/ && NF > 9 { $10 = "" } { print }'
}
faked '' 'conv -g 2 -u 2'
faked '' 'conv -I NHWC -f NHWC -O NHWC --xf32 1 -F 1 -l 2 --pad_h_end 2'
faked '' 'convfp16 -F 1'
faked 'cudnn_wrong=1' 'conv -F 4'
faked '' 'conv -F 1' 0
grep -v '^launch\|^record\|^graph' calls # calls that were wrong
echo "--- conv_peer.sh"
cat >made <<'END'
#!/bin/sh
for file; do :; done
sed 's/ -n.*-F/ .. -F/' "$file" | sort | uniq -c >&2
cat <<'CSV'
convolution,gflop,by,algorithm,gflops,us,us_lo,us_hi,blocks,norm_error_1,check
forward f32 NCHW KCYX NCHW n64 c3 h224 w224 k64,15.1,tuner,K (exact),30000,500,499,501,10,0,right: all
forward f32 NCHW KCYX NCHW n64 c3 h224 w224 k64,15.1,cudnn 9,plan0,20000,750,749,751,10,0,right: all
# 1.5 times the peer's speed
forward f32 NCHW KCYX NCHW n64 c64 h56 w56 k64,14.8,tuner,K (exact),40000,400,399,401,10,0,right: all
forward f32 NCHW KCYX NCHW n64 c64 h56 w56 k64,14.8,cudnn 9,plan0,50000,300,299,301,10,0,right: all
data f32 NCHW KCYX NCHW n64 c64 h56 w56 k64,14.8,tuner,,,,,,,,no kernel, none
data f32 NCHW KCYX NCHW n64 c64 h56 w56 k64,14.8,cudnn 9,plan0,50000,300,299,301,10,0,WRONG: all
CSV
END
chmod +x made
TUNER_BENCH=./made sh "$ROOT/scripts/conv_peer.sh" --library out --types conv --directions 'data forward' --limit 2 2>&1
echo "exit $?"
TUNER_BENCH=./made sh "$ROOT/scripts/conv_peer.sh" --directions back 2>&1
echo "exit $?"
exit 0
