# Ratios of device_order.sh from tables of 2_BenchmarkData: columns are solutions, named by their parameters.
function part(name, what,   at) { # the number behind "_WHAT", or none
  if (match(name, "_" what "n?[0-9]+") == 0) return none
  at = substr(name, RSTART + length(what) + 1, RLENGTH - length(what) - 1)
  sub(/^n/, "-", at)
  return at
}
function better(a, b) { return a > b ? a : b }
function note(what, ratio) { sum[what] += log(ratio); n[what]++; if (!(what in least) || ratio < least[what]) least[what] = ratio }
BEGIN { none = "" ; split(large, list, " "); for (i in list) is_large[list[i]] = 1 }
/^GFlops/ {
  split("", tile)
  for (i = 1; i <= NF; i++) {
    name = $i
    if (name !~ /^Cijk/) continue
    tile[i] = name; sub(/.*_MT/, "", tile[i]); sub(/_.*/, "", tile[i])
    dim[i] = part(name, "WGMD"); wgm[i] = part(name, "WGM"); xcc[i] = part(name, "WGMXCC")
    if (xcc[i] == none) xcc[i] = 1
    columns = i
  }
  split("", word); split("", model); split("", dies)
  next
}
{
  size = $2 "," $3 "," $5
  split("", best); split("", fixed)
  for (i = 1; i <= columns; i++) {
    if (!(i in tile) || $i + 0 <= 0) continue
    if (dim[i] == none) { fixed[tile[i], wgm[i]] = $i + 0; continue }
    key = tile[i] SUBSEP dim[i]
    if (wgm[i] == 0) { model[size, key] = $i + 0; continue }
    word[size, key, wgm[i], xcc[i]] = $i + 0
    if (xcc[i] == 1) best[key] = better(best[key], $i + 0); else dies[size, key] = better(dies[size, key], $i + 0)
  }
  for (key in best) {
    split(key, k, SUBSEP)
    if ((size, key, 8, 1) in word) note("tuned / 8", best[key] / word[size, key, 8, 1])
    if ((size, key, 1, 1) in word && (size, key, 8, 1) in word && size in is_large) { note("tuned / 8, large sizes", best[key] / word[size, key, 8, 1]); note("tuned / 1, large sizes", best[key] / word[size, key, 1, 1]) }
    if ((size, key) in model) { note("model / tuned", model[size, key] / best[key]); near += model[size, key] >= 0.98 * best[key]; all++ }
    if ((size, key) in dies) note("dies", dies[size, key] / best[key])
    for (w = 1; k[2] == 1 && w <= 32; w *= 2)
      if ((k[1], w) in fixed) note("argument / constant", word[size, key, w, 1] / fixed[k[1], w])
  }
}
END {
  count = split("argument / constant;tuned / 8;tuned / 8, large sizes;tuned / 1, large sizes;model / tuned;dies", what, ";")
  for (i = 1; i <= count; i++)
    if (n[what[i]]) printf "%-26s geometric mean %.4f, least %.4f of %d\n", what[i], exp(sum[what[i]] / n[what[i]]), least[what[i]], n[what[i]]
  if (all) printf "the model's choice is within 2%% of the best order on %.0f%% of %d sizes and kernels\n", 100 * near / all, all
}
