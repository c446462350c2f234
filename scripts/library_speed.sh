#!/bin/sh
# library_speed.sh OUTDIR: runs the library of a tuner run in tuner-bench on the sizes that it was tuned for, with the same
# scalars, and prints GFlops then and now. OUTDIR is a tuner run on a device that is here.
# Exit code 1 when a size of 20 us or more differs by more than LIMIT (0.03); shorter ones are shown.
set -e
out=$1 limit=${LIMIT:-0.03}
lib=$out/4_LibraryClient/library
[ -d "$lib" ] || { echo "usage: library_speed.sh OUTDIR: no library in '$lib'" >&2; exit 2; }
bench=${TUNER_BENCH:-$(cd "$(dirname "$0")/.." && pwd)/build/bin/tuner-bench}
[ -x "$bench" ] || { echo "library_speed.sh: there is no '$bench' (TUNER_BENCH)" >&2; exit 2; }
work=$(mktemp -d "${TMPDIR:-/tmp}/tuner-library-XXXXXX")
trap 'rm -rf "$work"' EXIT
: >"$work/tuned"
for data in "$out"/2_BenchmarkData/*.csv; do
  group=$(basename "$data" .csv)
  # Cijk_Ailk_Bljk_HHS_BH_00: transposes, then types
  types=$(echo "$group" | sed 's/^Cijk_[^_]*_[^_]*_//; s/_[0-9]*$//')
  case $types in
    SB|SB_MX) t="f32_r f32_r f32_r";; DB) t="f64_r f64_r f64_r";; HB) t="f16_r f16_r f16_r";;
    CB) t="f32_c f32_c f32_c";; ZB) t="f64_c f64_c f64_c";; HHS_BH) t="f16_r f16_r f32_r";; HSS_BH) t="f16_r f32_r f32_r";;
    BBS_BH) t="bf16_r bf16_r f32_r";; BSS_BH) t="bf16_r f32_r f32_r";; I8II_BH) t="i8_r i32_r i32_r";;
    *) echo "$group: tuner-bench has no name for its types"; continue;;
  esac
  ta=N; tb=N
  case $group in Cijk_AlikC_*) ta=C;; Cijk_Alik_*) ta=T;; esac
  case $group in *_BjlkC_*) tb=C;; *_Bjlk_*) tb=T;; esac
  # alpha and beta as they were: with a beta of zero C is not read
  ini=$out/1_BenchmarkProblems/$group/00_Final/source/ClientParameters.ini
  scalar() { case $(sed -n "s/^init-$1=//p" "$ini" 2>/dev/null) in Zero) echo 0;; One) echo 1;; *) echo 2;; esac; }
  awk -F, -v alpha="$(scalar alpha)" -v beta="$(scalar beta)" -v g="$group" -v ta=$ta -v tb=$tb -v t="$t" -v yaml="$work/problems" 'NR == 1 {
      for (i = 1; i <= NF; i++) if ($i == "WinnerTemperature") first = i + 1
      math = ($0 ~ /_MX_/) ? 1 : 0
      split(t, type, " "); next }
    { best = 0; for (i = first; i <= NF; i++) if ($i + 0 > best) best = $i + 0
      if (best <= 0) next
      batched = ($4 + 0 > 1) ? "_strided_batched" : ""
      print g, $2 "x" $3 "x" $4 "x" $5, best
      printf "- {rocblas_function: rocblas_gemm%s_ex, transA: %s, transB: %s, a_type: %s, b_type: %s, c_type: %s, d_type: %s, " \
             "compute_type: %s, math_mode: %d, M: %d, N: %d, K: %d, batch_count: %d, ldd: %d, ldc: %d, lda: %d, ldb: %d, alpha: %d, beta: %d, " \
             "iters: 20}\n", batched, ta, tb, type[1], type[1], type[2], type[2], type[3], math,
             $2, $3, $5, $4, $6, $7, $8, $9, alpha, beta >>yaml }' "$data" >>"$work/tuned"
done
[ -s "$work/problems" ] || { echo "library_speed.sh: no results in '$out/2_BenchmarkData'" >&2; exit 2; }
"$bench" --library "$lib" --yaml "$work/problems" >"$work/now" 2>"$work/errors" || { cat "$work/errors" >&2; exit 1; }
awk -F, '/^transA/ { for (i = 1; i <= NF; i++) { if ($i == "rocblas-Gflops") c = i; if ($i == "us") u = i } next }
  /^#/ { next } { print $c, $u }' "$work/now" | paste -d' ' "$work/tuned" - | awk -v limit="$limit" '
  { ratio = $4 / $3; off = ratio > 1 ? ratio - 1 : 1 - ratio
    printf "%-28s %-22s tuned %10.1f  library %10.1f GFlops  ratio %.4f  %9.2f us\n", $1, $2, $3, $4, ratio, $5
    if ($5 >= 20) { n++; if (off > worst) worst = off; if (off > limit) above++ } else short++ }
  END { printf "sizes of 20 us and more: %d, worst %.2f %%, above %.1f %%: %d; shorter: %d\n", n, 100 * worst, 100 * limit, above, short
        exit above > 0 }'
