# The table of parts and what uses it: listings, --part and DeviceNames where no device is.
T="$BIN/tuner" C="$DATA/run/sim.yaml"
echo "--- targets"
"$T" --list-targets | grep -A4 '^gfx906:\|^gfx90a:\|^sm_90:\|^sm_90a:\|^x86-64-v3:'
[ "$("$T" --list-targets | grep -c '^[^ ]')" = "$(grep -c '^TARGET(' "$ROOT/tuner/problem/targets.def")" ] && echo "all architectures"
[ "$("$T" --list-targets | grep -c ' CUs ')" = "$(grep -c '^PART(' "$ROOT/tuner/problem/parts.def")" ] && echo "all parts"
echo "--- architecture of a part"
for p in mi210 'RX 7900 XT' 'NVIDIA H100 PCIe' 'Device 66af'; do "$T" --list-solutions --count --part "$p" "$C" | tr '\n' ' '; echo "$p"; done
"$T" --list-solutions --count --part mi211 "$C"; echo "exit $?"
"$T" --list-solutions --count --part mi210 --arch gfx942 "$C"; echo "exit $?"
echo "--- logic"
L=$DATA/tensile/logic
for f in arcturus_Cijk_Alik_Bjlk_SB vega20_Cijk_Ailk_Bjlk_ZB aldebaran_Cijk_Alik_Bjlk_BBS_BH; do "$BIN/tuner-logic" show "$L/$f.yaml" 2>/dev/null | grep '^devices\|^parts'; done
convert() { "$BIN/tuner-logic" convert "$L/$1.yaml" out.yaml --to efficiency --sclk 1000 $2 2>/dev/null | grep -o 'peak [0-9]* GFlops'; }
convert arcturus_Cijk_Alik_Bjlk_SB            # 120 by its DeviceNames
convert aldebaran_Cijk_Alik_Bjlk_BBS_BH       # MI250X or MI250: that of the table of rates
convert aldebaran_Cijk_Alik_Bjlk_BBS_BH "--part MI250X"
convert aldebaran_Cijk_Alik_Bjlk_BBS_BH "--part MI250X --cus 10"
"$BIN/tuner-logic" convert "$L/r9nano_Cijk_Ailk_Bjlk_SB.yaml" out.yaml --part MI250X; echo "exit $?"
echo "--- selection"
mkdir logic; cp "$L/arcturus_Cijk_Alik_Bjlk_SB.yaml" logic
"$BIN/tuner-createlib" -v 0 --metadata-only logic lib HIP 2>/dev/null
for o in "--part mi100" "--arch gfx908 --cus 120" "--part mi100 --cus 60" "--arch gfx908 --cus 60"; do
  echo 'S T T 1000 1000 300 1 300 1000 1000 1000 1 0' | "$BIN/tuner-bench" --library lib/library --select-only --launches $o >"answer $o" || echo "exit $?"
done
cmp "answer --part mi100" "answer --arch gfx908 --cus 120" && cmp "answer --part mi100 --cus 60" "answer --arch gfx908 --cus 60" && echo same
grep -c Cijk_Alik_Bjlk_SB "answer --part mi100"
"$BIN/tuner-bench" --library lib/library --part mi210 -m 8 -n 8 -k 8; echo "exit $?"
"$BIN/tuner-bench" --library lib/library --select-only --part mi100 --arch gfx90a </dev/null; echo "exit $?"
echo "--- a simulated run"
export TMPDIR=$PWD
head -11 "$C" >small.yaml
cat >>small.yaml <<'Y'
      ForkParameters:
        - WorkGroup: [[8, 8, 1]]
        - ThreadTile: [[4, 4], [8, 4]]
        - DepthU: [8]
      BenchmarkFinalParameters:
        - ProblemSizes: [{Exact: [8192, 8192, 1, 8192]}, {Exact: [64, 64, 1, 64]}]
LibraryLogic: {ScheduleName: sim, DeviceNames: [Device 740c, Device 73bf], ArchitectureName: gfx90a}
LibraryClient:
Y
sed 's/PrintLevel: 0/PrintLevel: 1/' small.yaml >loud.yaml
"$T" --simulate --arch host --peer openblas loud.yaml out >log 2>&1; echo "exit $?"; head -2 log | sed 's/x86-64-v[234]/HOST/g'
head -4 out/3_LibraryLogic/*.yaml | tail -1 | sed 's/x86-64-v[234]/HOST/'; ls out/4_LibraryClient/library | sed 's/x86-64-v[234]/HOST/'
tail -1 out/1_BenchmarkProblems/*/00_Final/source/ClientParameters.ini | sed 's/x86-64-v[234]/HOST/'
sh out/1_BenchmarkProblems/*/00_Final/build/run.sh >again 2>&1; echo "exit $?"
"$T" status out | grep '^  tuner' | sed 's/x86-64-v[234]/HOST/'
"$T" --simulate --arch sm_89 --part h100 loud.yaml bad; echo "exit $?"
simulated() { timeout 100 "$T" --simulate "$@" --cxx-compiler /nowhere loud.yaml bad 2>&1 | grep -v '^/'; }
simulated; simulated --part mi210 | head -1
simulated --arch sm_86 | head -2; simulated --arch gfx90a --part 'RX 6900 XT'
"$T" --simulate --compile-only loud.yaml bad; echo "exit $?"
"$T" --simulate --device cuda loud.yaml bad 2>&1; echo "exit $?"
