# kill -9 at random moments of the run, of the client and of compilers, and the same command again: in the end all files are
# those of a run that was not killed, and nothing was measured twice.
export TUNER_SIM="arch=x86-64-v3"
seed=4711
random() { seed=$(( (seed * 1103515245 + 12345) % 2147483648 )); echo $(( seed / 65536 % $1 )); }
children() { # of process $1, all generations
  for c in $(cat /proc/"$1"/task/*/children 2>/dev/null); do echo "$c"; children "$c"; done
}
victim() { # pid of what to kill: mostly the run itself, sometimes what it has started
  case $(random 4) in
    0) children "$1" | while read -r p; do case $(cat /proc/"$p"/comm 2>/dev/null) in cc1|as|tuner-client) echo "$p"; break;; esac; done ;;
    *) echo "$1" ;;
  esac
}
mkdir whole killed
(cd whole && "$BIN/tuner" "$DATA/run/sim.yaml" out >/dev/null 2>&1; echo "whole run: exit $?")
cd killed
kills=0 started=$(date +%s)
while [ $kills -lt 24 ] && [ $(( $(date +%s) - started )) -lt 150 ]; do
  "$BIN/tuner" "$DATA/run/sim.yaml" out >/dev/null 2>&1 &
  pid=$!
  sleep "$(printf '0.%03d' $(( $(random 60) * 6 + 10 )))"
  what=$(victim $pid)
  if [ -n "$what" ] && kill -9 "$what" 2>/dev/null; then
    kills=$((kills + 1))
    [ "$what" = $pid ] || { sleep 0.05; kill -9 $pid 2>/dev/null; }
    wait $pid 2>/dev/null
  else
    wait $pid 2>/dev/null
    rm -rf out # it was through: from the start again
  fi
done
[ $kills -ge 20 ] && echo "at least 20 kills" || echo "only $kills kills"
"$BIN/tuner" "$DATA/run/sim.yaml" out >/dev/null 2>&1; echo "last run: exit $?"
cd ..
for m in */out/4_LibraryClient/library/TensileManifest.txt; do # has full paths
  sed "s|^$PWD/[a-z]*/||" $m >m && mv m $m
done
for d in 1_BenchmarkProblems 2_BenchmarkData 3_LibraryLogic 4_LibraryClient; do
  diff -r -x client.log -x plan.txt whole/out/$d killed/out/$d >/dev/null && echo "$d: the same" || { echo "$d: differs"; diff -rq -x client.log -x plan.txt whole/out/$d killed/out/$d; }
done
count() { "$BIN/tuner" status "$1/out" | grep -E 'kernels:|measured:'; }
count whole >a; count killed >b; cmp a b && cat b
