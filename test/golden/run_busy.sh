# A machine that is busy while kernels of its CPU are timed is reported at the end and by tuner status; the client's times are simulated.
cat >client <<SH
#!/bin/sh
case "\$*" in *--list-devices*) exec "$BIN/tuner-client" "\$@";; esac
while [ \$# -gt 0 ]; do case \$1 in --plan-file) plan=\$2;; --events-fd) fd=\$2;; esac; shift; done
printf 'events\t1\n' >&\$fd
step=100
[ -f "$PWD/busy" ] && step=5000
while read -r p s v; do
  printf 'start\t%s\t%s\n' \$p \$s >&\$fd
  for i in 0 1 2 3 4 5 6 7 8 9; do
    printf 'sample\t%s\t%s\t%s\t1\t%s\n' \$p \$s \$i \$((100000 + (i * 7 % 10) * step)) >&\$fd
  done
  printf 'end\t%s\t%s\tPASSED\t10\t1000\t1000\t1000\t\n' \$p \$s >&\$fd
done <\$plan
printf 'done\n' >&\$fd
SH
chmod +x client
sed '/ArchitectureName/d' "$DATA/run/sim.yaml" >c.yaml
busy() { grep 'machine was busy' "$1" | sed 's/load average [0-9.]* on [0-9]* cores; //; s/load average [0-9.]* on [0-9]* cores$/LOAD/' | grep -v LOAD; }
"$BIN/tuner" --arch host --client-path ./client c.yaml quiet >log 2>&1; echo "exit $?"
busy log; "$BIN/tuner" status quiet >log; busy log
: >busy
"$BIN/tuner" --arch host --client-path ./client c.yaml noisy >log 2>&1; echo "exit $?"
tail -1 log | grep -c 'machine was busy'
busy log; "$BIN/tuner" status noisy >log; busy log
TUNER_SIM= TUNER_SIM="arch=x86-64-v3" "$BIN/tuner" --arch x86-64-v3 --client-path ./client c.yaml sim >log 2>&1; echo "simulated: exit $?"
busy log || echo "nothing is said of a device that is not this machine"
