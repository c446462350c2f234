#!/bin/sh
# h200_table.sh DIR: prints tables of the results in DIR (of h200_results.sh; test/bench/results/h200): for every CSV with a ratio
# to cuBLAS, and each stratum of sizes (strata.awk): how many, geometric mean, least, and share of 1 or above.
set -e
[ -d "$1" ] || { echo "usage: h200_table.sh DIR" >&2; exit 2; }
dir=$1 here=$(cd "$(dirname "$0")" && pwd)

# rows FILE COLUMN FIRST LAST: a row of the table, FIRST and LAST before and behind the strata; none if the file lacks the column
row() {
  # shellcheck disable=SC2016
  awk -v column="$2" -v first="$3" -v last="$4" "$(cat "$here/strata.awk")"'
    function cell(s) { return n[s] ? sprintf("%d: %.3f (%.3f) %.0f %%", n[s], exp(sum[s] / n[s]), least[s], 100 * good[s] / n[s]) : "-" }
    function add(s, x) { if (!n[s]++ || x < least[s]) least[s] = x; sum[s] += log(x); if (x >= 1) good[s]++ }
    /^#/ { next }
    !found && !head { head = 1; w = split($0, f, ","); for (i = 1; i <= w; i++) if (f[i] == column) found = i
      if (!found) exit
      next }
    { split($0, q, "\""); split(q[2], z, ","); split(q[1] "X" q[3], f, ","); x = f[found] + 0
      if (x <= 0) { without++; next }
      add(stratum(z[1] + 0, z[2] + 0, z[3] + 0, z[4] + 0), x); add("all", x) }
    END { if (found) printf "| %s | %s | %s | %s | %s | %s | %s | %d |%s\n", first, cell("large"), cell("skinny"), cell("small"), cell("odd"),
                            cell("batched"), cell("all"), without, last }' "$1"
}
head_line() { # first and last columns
  echo "| $1 | large, aligned | skinny | small | odd | batched | all | without |$2"
  echo "|---|---|---|---|---|---|---|---|$3"
}
worst() { sed -n "s/^sizes of $2 us.*worst \([0-9.]* %\).*/\1/p" "$1" 2>/dev/null || true; }
has_files() { for f in "$@"; do [ ! -f "$f" ] || return 0; done; return 1; }

cat <<END
Speed over cuBLAS by stratum. A cell is: number of sizes: geometric mean (least), share of sizes at 1 or above.
Strata, the first that holds: batched (batch above 1), skinny (M or N at most 128 and another dimension 8 times as long), odd (M,
N or K no multiple of 8), small (M*N*K below 1024^3), large. Without: sizes without a peer or a winner.
END
if has_files "$dir"/*.csv; then
  echo
  echo "Sizes of the config, tuned:"
  echo
  head_line config " spread of three runs, sizes over 50 us | library beside tuning, worst size over 20 us |" "---|---|"
  for csv in "$dir"/*.csv; do
    name=$(basename "$csv" .csv)
    spread=$(worst "$dir/$name.spread.txt" 50) library=$(worst "$dir/$name.library.txt" 20)
    row "$csv" ratio "$name" " ${spread:--} | ${library:--} |"
  done
fi
if has_files "$dir"/unseen/*.csv; then
  echo
  echo "Sizes that the config does not name. Tuned: its candidates tuned on them; library: what the library of its own sizes chooses for them, over cuBLAS and over the tuned winner:"
  echo
  head_line "config" "" ""
  for csv in "$dir"/unseen/*.csv; do
    name=$(basename "$csv" .csv)
    case $name in
      *.library) row "$csv" over_peer "${name%.library}, library" ""; row "$csv" over_tuned "${name%.library}, library over tuned" "";;
      *) row "$csv" ratio "$name, tuned" ""; drawn=$(sed -n 's/^# problem sizes: //p' "$csv") race=$(sed -n 's/^# race-seconds: //p' "$csv");;
    esac
  done
  echo
  echo "Sizes: $drawn; up to $race s a size behind the first launch of each kernel."
fi
