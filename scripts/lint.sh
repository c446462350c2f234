#!/bin/sh
# Lint: include direction, sizes of files, functions and lines, words that mark unfinished work. Prints each finding.
# Needs no package; run from the repository root.
found=0
say() { echo "lint: $*"; found=1; }

files=$(git ls-files '*.c' '*.h' '*.def' 2>/dev/null | grep -v '^test/data/\|/text/')
[ -n "$files" ] || files=$(find tuner client logic createlib test -name '*.[ch]' -o -name '*.def' | grep -v 'test/data/\|/text/')

# folder: prefixes that it may include
allowed() {
  case $1 in
    tuner/base) echo "base/" ;;
    tuner/fmt) echo "base/ fmt/" ;;
    tuner/problem) echo "base/ fmt/ problem/" ;;
    tuner/index) echo "base/ fmt/ problem/ index/" ;;
    tuner/space) echo "base/ fmt/ problem/ index/ space/" ;;
    tuner/kernel/*) echo "base/ fmt/ problem/ index/ kernel/" ;; # a lowering sees the program, not the solution
    tuner/kernel*) echo "base/ fmt/ problem/ index/ space/ kernel/" ;;
    tuner/build*) echo "base/ fmt/ problem/ index/ space/ kernel/ build/" ;;
    tuner/measure) echo "base/ fmt/ problem/ index/ space/ kernel/ build/ measure/" ;;
    tuner/workload) echo "base/ fmt/ problem/ logic/logic.h workload/" ;;
    tuner/report) echo "base/ fmt/ problem/ index/ space/ kernel/ build/ measure/ workload/workload.h report/" ;;
    tuner*) echo "base/ fmt/ problem/ index/ space/ kernel/ build/ measure/ logic/ createlib/ client/events.h client/answer.h report/ workload/ run/" ;;
    client/runtime) echo "base/ fmt/ problem/ index/ client/runtime/" ;;
    client/bench) echo "base/ fmt/ problem/ measure/stats.h measure/busy.h workload/workload.h client/" ;;
    client*) echo "base/ fmt/ problem/ measure/stats.h measure/level.h client/" ;;
    logic) echo "base/ fmt/ problem/ index/ space/ workload/workload.h logic/" ;;
    createlib) echo "base/ fmt/ problem/ index/ space/ kernel/ build/ logic/ createlib/" ;;
    *) echo "" ;;
  esac
}

for f in $files; do
  d=$(dirname "$f")
  ok=$(allowed "$d")
  [ -n "$ok" ] || continue
  for inc in $(sed -n 's/^#include "\([^"]*\)".*/\1/p' "$f"); do
    good=0
    for p in $ok; do case $inc in "$p"*) good=1 ;; esac; done
    case $inc in */*) ;; *) [ -f "$d/$inc" ] && good=1 ;; esac
    [ $good = 1 ] || say "$f includes \"$inc\": $d may include only: $ok"
  done
done

for f in $(echo "$files" | grep '^tuner/kernel/.*/'); do
  grep -n '#include "kernel/plan.h"' "$f" && say "$f includes kernel/plan.h: planning is done before a lowering"
done

for f in $(echo "$files" | grep '^\(tuner\|client\|logic\|createlib\)/' | grep -v '^tuner/measure/'); do
  grep -nE '"(SELECT|INSERT|UPDATE|DELETE|CREATE|DROP|PRAGMA) |sqlite3|#include "measure/db.h"' "$f" &&
    say "$f has SQL: it stands in functions below tuner/measure/ that answer with structs (measure/query.h)"
done

# What differs by family is a field of its struct (problem/target.h) or a function of its folder.
families=$(grep -nE 'family *[!=]= *TARGET_' $(echo "$files" | grep '^\(tuner\|client\|logic\|createlib\)/' |
  grep -v '^tuner/\(problem\|space\)/') /dev/null)
[ -z "$families" ] || say "comparisons with a family outside tuner/problem and tuner/space: $families"

# Matrix instructions and their shapes are rows of one table.
shapes='\{ *(4|8|16|32|64), *(4|8|16|32|64), *[0-9]+, *[0-9]+ *\}|m(8|16|64)n[0-9]+k[0-9]|mfma_[fi][0-9]|wmma_[fi][0-9]'
code=$(echo "$files" | grep '^\(tuner\|client\|logic\|createlib\)/.*\.[ch]$\|caps\.def$')
lists=$(grep -nE "$shapes" $code /dev/null | grep -v ':[0-9]*: *\(/\*\| \*\)')
[ -z "$lists" ] || say "shapes of matrix instructions outside matrix_inst.def: $lists"
# Generated code is statements (kernel/lower) or a file below text/: no line of a lowering is a string literal, but for
# messages and for rows of names.
for f in $(echo "$files" | grep '^tuner/kernel/\(lower\|gpu\|nvptx\|amdgcn\|tile\|host\)/.*\.c$'); do
  awk -v f="$f" '
    /^ *"/ && !/^ *"[^"]*", *"/ && !message { printf "lint: %s:%d: a line of generated code as a string literal\n", f, NR; bad = 1 }
    /(FAIL(_[A-Z]+)?|REFUSE|BUG|err_set|err_context)\(/ { message = 1 }
    /;$/ { message = 0 }
    END { exit bad }' "$f" || found=1
done

# folders whose kernels are statements: a line that is a string with line ends is text of a kernel
for f in $(echo "$files" | grep '^tuner/kernel/host/'); do
  grep -n '^ *".*\\n"' "$f" && say "$f: text of a kernel in a string: it is made of statements or stands in text/"
done

# Texts of kernels: where an element is, and on NVIDIA who waits for whom, are statements (kernel/lower and a family's folder).
texts=$(git ls-files 'tuner/kernel/*/text/*' 2>/dev/null)
[ -n "$texts" ] || texts=$(find tuner/kernel/*/text -type f)
strides='\b(ld[abcd]?|batch_?[abcd]|stride_[abcd][0-9])\b'
lists=$(grep -nE "$strides *\*|\* *(\([a-z0-9_]+\) *)?[a-z_.>-]*$strides" $texts /dev/null | grep -v '\* (unsigned)sizeof')
[ -z "$lists" ] || say "products with strides in texts, which views print: $lists"
texts=$(echo "$texts" | grep '\.cuh$')
waits='(bar_(init|wait|expect|arrive)|load_box|load_box_shared|store_box|store_commit|store_wait_read|cluster_sync|group_sync|wgmma_[a-z]+'
waits="$waits|put_sums|get_sums|count_in|wait_count|change_flag|word_(begin|count|leave|reset|wait)|any_of_group|g_cpz?|g_commit|g_arrived)"
lists=$(grep -nE "\b$waits *[(<]" $texts /dev/null | grep -vE '(FN|g_DEV) (void|u32|u64|bool)')
[ -z "$lists" ] || say "copies, waits and releases in texts, which are statements: $lists"

for f in $files; do
  case $f in *.def) table=1 ;; *) table=0 ;; esac
  awk -v f="$f" -v table=$table '
    length($0) > 110 { printf "lint: %s:%d: line of %d columns, limit 110\n", f, NR, length($0); bad = 1 }
    /[ \t]$/ { printf "lint: %s:%d: space at the end of the line\n", f, NR; bad = 1 }
    /\t/ { printf "lint: %s:%d: tab\n", f, NR; bad = 1 }
    /^{/ { start = NR }
    /^}/ { if (start && $0 == "}" && NR - start - 1 > 60) {
             printf "lint: %s:%d: function of %d lines, limit 60\n", f, start, NR - start - 1; bad = 1 }
           start = 0 }
    NR == 1 && $0 !~ /^\/\*/ { printf "lint: %s: no header comment in the first line\n", f; bad = 1 }
    END { if (NR > 600 && !table) { printf "lint: %s: %d lines, limit 600\n", f, NR; bad = 1 } exit bad }' "$f" || found=1
done

words=$(grep -nE '\b(TODO|FIXME|XXX|HACK)\b' $files /dev/null)
[ -z "$words" ] || say "unfinished work: $words"

lines=$(wc -l <Makefile)
[ "$lines" -le 250 ] || say "Makefile: $lines lines, limit 250"
[ $found = 0 ] && echo "lint: clean ($(echo "$files" | wc -w) files)"
exit $found
