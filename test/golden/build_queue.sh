# Kernels of all size-groups are compiled in one queue: with enough compilers those of both groups run at once.
export TUNER_SIM="arch=x86-64-v3"
cat >cc_slow <<SH
#!/bin/sh
case "\$*" in *" -c "*c-header*) ;; *" -c "*) echo + >>"$PWD/calls"; cc "\$@"; code=\$?; sleep 3; echo - >>"$PWD/calls"; exit \$code;; esac
exec cc "\$@"
SH
chmod +x cc_slow
"$BIN/tuner" -j 64 --c-compiler "$PWD/cc_slow" "$DATA/run/sim.yaml" out >log 2>&1; echo "exit $?"
"$BIN/tuner" status out | grep 'kernels:'
awk '{ if ($1 == "+") n++; else n--; if (n > most) most = n } END { print most " at once" }' calls
