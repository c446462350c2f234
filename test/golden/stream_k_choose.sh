# The 8 stream-K kernels of stream_k_speed.sh are those that stream_k_choose.py chooses by the recorded times.
list=$DATA/search/stream_k_candidates.txt times=$ROOT/test/bench/results/h200/stream_k_candidates.csv
choose() { # a Python that writes into a file ends its standard output after its messages
  python3 "$ROOT/test/bench/stream_k_choose.py" "$1" "$times" "$2" >chosen 2>said
  sed "s#$ROOT/##" said
}
choose 8 "$list"
sed -n '/cat <<LIST/,/^LIST/p' "$ROOT/scripts/stream_k_speed.sh" | grep '^\[' | cmp - chosen && echo 'the script has them'
choose 1 "$list"
cat chosen
sed 1d "$list" >less
choose 8 less
