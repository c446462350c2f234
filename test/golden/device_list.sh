# scripts/device_conformance.sh --list: every family, type and transposes, and the tools of compute-sanitizer that see them; its
# configs of wgmma kernels have solutions of every type. Needs no GPU.
unset TOOLS SANITIZER
script=$ROOT/scripts/device_conformance.sh
sh "$script" --list wgmma_16 wgmma_32 wgmma_int wgmma_f8 lag_16 lag_32 lag_int register_16
echo "--- every type is under memcheck, racecheck and synccheck in every family"
sh "$script" --list | awk '{ k = $1 " " $2; n[k]; if (/memcheck/) m[k]; if (/racecheck/) r[k]; if (/synccheck/) s[k] }
  END { for (k in n) { total++; if (!(k in m) || !(k in r) || !(k in s)) print k ": not by all" } print (total > 40 ? "all types" : "few types") }'
echo "--- solutions of the configs of wgmma kernels"
mkdir -p x/scripts; cp "$ROOT/scripts/bench_words.sh" x/scripts
{ sed '/^if \[ -n "\$list"/,$d' "$script"; echo 'arch=sm_90a; config $1 "$2" 21'; } >x/scripts/config.sh
for type in $(sh "$script" --list wgmma_16 wgmma_32 wgmma_int wgmma_f8 | cut -d' ' -f2 | sort -u); do
  sed "s/^families=.*/&; set -- wgmma $type/" x/scripts/config.sh >x/scripts/one.sh
  sh x/scripts/one.sh out >$type.yaml && "$BIN/tuner" --list-solutions --count --arch sm_90a $type.yaml 2>&1 | awk -F/ -v t=$type '{ if ($3 > 0) some++ } END { print t ": " (some == NR ? "in all" : "not in all") " groups" }' 
done
sh "$script" 2>&1 | cut -d"|" -f1
