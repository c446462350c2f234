# Fallback logic, of whose architectures the compiler knows one.
C="$BIN/tuner-createlib"
clang=$(for v in 25 24 23 22 21 20 19 18 17 16 15; do command -v clang++-$v && break; done)
[ -n "$clang" ] || { echo "skipped: no clang++"; exit; }
printf '%s\n' '#!/bin/sh' 'case "$*" in *gfx908*) echo "error: unknown architecture" >&2; exit 1;; esac' "exec $clang \"\$@\"" >clang-picky
chmod +x clang-picky
"$C" -v 0 --cxx-compiler "$PWD/clang-picky" --architecture 'gfx906;gfx908' "$DATA"/tensile/logic/hip_Cijk_Ailk_Bljk_I8II_BH.yaml some HIP >log 2>&1; e=$?
grep -c "no kernel '.*' for gfx908" log; grep 'some of the architectures' log; ls some/library | grep hsaco; echo "exit $e"
