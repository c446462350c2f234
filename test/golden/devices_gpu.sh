# Several GPUs that the test plays: one falls off the bus in the middle of the run, and the others take its work; all do, and
# the run continues when they are back; unlike GPUs are refused.
cat >client <<SH
#!/bin/sh
LD_LIBRARY_PATH="$BIN/../fake/cuda" exec "$BIN/tuner-client" "\$@"
SH
chmod +x client
sed 's/- Exact: .64, 48, 1, 40./- Range: [[64, 16, 128], [48], [1], [40]]/' "$DATA/run/gpu.yaml" >c.yaml
if ! "$BIN/tuner" --compile-only --arch sm_90 c.yaml probe >log 2>&1; then echo "skipped: $(grep '^tuner:' log)"; exit; fi
tune() { out=$1; shift; cp -r probe/0_Build cache 2>/dev/null; "$BIN/tuner" --client-path "$PWD/client" "$@" --global-parameters \
  ClientBuildPath="$PWD/probe/0_Build" -- c.yaml $out >log 2>&1; echo "exit $?"; grep '^tuner:' log | sed "s|; what it said.*||"; }
winners() { sed -n '/^- - - \[/,$p' $1/3_LibraryLogic/*.yaml | sed 's/, [0-9.]*\]/]/'; }
export TUNER_FAKE="ns=50000;devices=3;twins=1"
tune one --device cuda:0
tune all --devices cuda:all
"$BIN/tuner" status all | sed -n 's/ on cuda:\([012]\) of .*: \(Fake sm_90\), .*/ \1 \2/p' | awk '{ n += $1; print "device", $2 } END { print n, "pairs" }'
echo "--- GPU 1 is lost in the middle"
full=$TUNER_FAKE
export TUNER_FAKE="$full;gone=1;gone_after=100;gone_file=$PWD/gone"
tune lost --devices cuda:all
ls gone; "$BIN/tuner" status lost | grep -e CRASHED -e measured
echo "--- the only one is lost: the run fails, and continues when it is back"
rm gone
tune only --devices cuda:1
tune only2 --devices cuda:0,1; rm -f gone
export TUNER_FAKE="$full"
tune only --devices cuda:1
"$BIN/tuner" status only | grep -e CRASHED -e measured
for o in all lost only; do diff -r one/3_LibraryLogic $o/3_LibraryLogic >/dev/null && echo "$o: winners as of one GPU" || echo "$o: differs"; done
echo "--- unlike GPUs"
export TUNER_FAKE="ns=50000;devices=2"
tune bad --devices cuda:all
