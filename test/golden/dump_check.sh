# Every kernel of every config: the program's text, read again, gives the same kernel. One line of counts each.
for arch in x86-64-v4 gfx906 gfx90a gfx942 gfx1030 gfx1100 sm_80 sm_90; do
  config=gpu.yaml; [ $arch = x86-64-v4 ] && config=three.yaml
  "$BIN/tuner" --dump-program=check --arch $arch "$DATA/program/$config" >log 2>&1
  echo "$arch $config $? $(grep -c 'gives the same kernel' log) of $(grep -c '^# ' log)"
done
for config in "$CONFIGS"/*.yaml; do
  "$BIN/tuner" --dump-program=check "$config" >log 2>&1
  code=$?
  [ $code = 4 ] && continue
  echo "$(basename "$config") $code $([ "$(grep -c 'gives the same kernel' log)" = "$(grep -c '^# ' log)" ] && echo all the same)"
done
