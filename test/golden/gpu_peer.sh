# A run against a peer, on the fake CUDA driver with a fake cuBLAS: peer.csv, the ratios, explain; results collected.
cat >client <<SH
#!/bin/sh
LD_LIBRARY_PATH="$BIN/../fake/cuda" exec "$BIN/tuner-client" "\$@"
SH
chmod +x client
export TUNER_FAKE="ns=50000"
if ! "$BIN/tuner" --compile-only --arch sm_90 "$DATA/run/gpu.yaml" probe >log 2>&1; then echo "skipped: $(grep '^tuner:' log)"; exit; fi
"$BIN/tuner" --client-path "$PWD/client" --device cuda --peer cublas "$DATA/run/gpu.yaml" h/fake >log 2>&1; echo "exit $?"
sed -n '/^speed over/,/^$/p' log
sed "s/^# date.*/# date/; s/^\(# device: [^,]*\).*/\1/; s,$DATA/,,; s,$PWD/,," h/fake/peer.csv
"$BIN/tuner" explain h/fake 64,48,1,40 | grep peer
echo "--- collected"
TUNER="$BIN/tuner" sh "$ROOT/scripts/h200_results.sh" h fake; ls h/results h/results/logic
echo "--- a peer that is wrong"
TUNER_FAKE="ns=50000;blas_wrong=1;wrong=blas_wrong" "$BIN/tuner" --client-path "$PWD/client" --device cuda --peer cublas \
  "$DATA/run/gpu.yaml" wrong >log 2>&1; echo "exit $?"
sed -n '/^peer/,/D(0/p' log; sed -n '/^Cijk/s/.*TT4_4,/no ratio: /p' wrong/peer.csv
"$BIN/tuner" explain wrong 64,48,1,40 | grep peer
echo "--- kernels that are wrong: the peer alone"
TUNER_FAKE="ns=50000;wrong=SB_MT" "$BIN/tuner" --client-path "$PWD/client" --device cuda --peer cublas "$DATA/run/gpu.yaml" none >log 2>&1; echo "exit $?"
sed -n '/^peer/,/^no/p' log; grep '^Cijk' none/peer.csv
