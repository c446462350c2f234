# The 8 stream-K kernels of stream_k_speed.sh are those that stream_k_choose.py chooses by the recorded times.
choose=$ROOT/test/bench/stream_k_choose.py
list=$DATA/search/stream_k_candidates.txt times=$ROOT/test/bench/results/h200/stream_k_candidates.csv
python3 "$choose" 8 "$times" "$list" >eight
sed -n '/cat <<LIST/,/^LIST/p' "$ROOT/scripts/stream_k_speed.sh" | grep '^\[' | cmp - eight && echo 'the script has them'
python3 "$choose" 1 "$times" "$list"
sed 1d "$list" >less
python3 "$choose" 8 "$times" less 2>&1 | sed "s#$ROOT/##"
