# The table at the end shows what the library uses, not what happened to be fastest, in 80 columns. The client here plays
# times: on the first size kernel 0 wins, on the second both are alike and kernel 1 is a trace faster, on the third kernel 1
# is far slower.
export TUNER_SIM="arch=x86-64-v3"
cat >client <<SH
#!/bin/sh
case "\$*" in *--list-devices*) exec "$BIN/tuner-client" "\$@";; esac
while [ \$# -gt 0 ]; do case \$1 in --plan-file) plan=\$2;; --events-fd) fd=\$2;; esac; shift; done
printf 'events\t1\n' >&\$fd
while read -r p s v; do
  printf 'start\t%s\t%s\n' \$p \$s >&\$fd
  for i in 0 1 2 3 4 5 6 7 8 9; do
    ns=\$((100000 + (i * 7 % 10) * 100))
    case "\$p \$s" in "0 1"|"2 1") ns=\$((ns * 2));; "1 1") ns=\$((ns - 20));; esac
    printf 'sample\t%s\t%s\t%s\t1\t%s\n' \$p \$s \$i \$ns >&\$fd
  done
  printf 'end\t%s\t%s\tPASSED\t10\t1000\t1000\t1000\t\n' \$p \$s >&\$fd
done <\$plan
printf 'done\n' >&\$fd
SH
chmod +x client
sed 's/PrefetchGlobalRead: .*/PrefetchGlobalRead: [1]/; s/GlobalSplitU: .*/GlobalSplitU: [1]/; s/- Range: .*/- Exact: [512, 512, 1, 512]\n          - Exact: [16384, 16384, 32, 128, 16384, 16384, 16400, 128]/' "$DATA/run/sim.yaml" |
  awk '/BenchmarkCommonParameters/ && ++n == 2 { skip = 1 } /LibraryLogic/ { skip = 0 } !skip' >c.yaml
"$BIN/tuner" --client-path ./client c.yaml out >said 2>&1; echo "exit $?"
sed '/^more about/,$d' said
sed '/^more about/,$d' said | awk 'length > 80 { print "longer than 80 columns: " $0 }'
grep '^analyze' said
echo "--- what the logic says: size, solution"
grep -A3 '^- - - \[\|^  - - \[' out/3_LibraryLogic/*.yaml | grep -o '\[[0-9, ]*\]\|\[[0-9]*, [0-9.]*\]'
