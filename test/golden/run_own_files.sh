# A run removes and moves only what is its own, and writes through no link out of its folders.
export TUNER_SIM="arch=x86-64-v3"
run() { "$BIN/tuner" "$@" >log 2>err; echo "exit $?"; cat err; }
echo "--- files of others in the result folders, behind a linked folder and behind a folder of the config"
mkdir -p out/1_BenchmarkProblems out/2_BenchmarkData outside beside
for d in out/1_BenchmarkProblems out/2_BenchmarkData outside beside; do
  for n in model.c.backup kernel.c.golden notes.md.before .tuner-tmp-mine; do echo mine >$d/$n; done
done
ln -s ../../outside out/1_BenchmarkProblems/link
echo left >out/1_BenchmarkProblems/.tuner-tmp-aB3dE6
mkdir out/1_BenchmarkProblems/.tuner-tmp-aB3dE7
echo left >out/1_BenchmarkProblems/.tuner-tmp-aB3dE7/linked.tmp123456
run --global-parameters LibraryClientPath=../beside -- "$DATA/run/sim.yaml" out
for d in out/1_BenchmarkProblems out/2_BenchmarkData outside beside; do echo "$d: $(ls -A $d | tr '\n' ' ')"; done
echo "--- results go through a link, and into a device, and leave them what they are"
cc -O2 -fPIC -shared -o k.so "$DATA/client/kernels.c" || exit 1
sh "$DATA/client/library.sh" good >lib.yaml
cat >c.ini <<END
library-file=lib.yaml
code-object=k.so
problem-identifier=Contraction_l_Ailk_Bljk_Cijk_Dijk
problem-size=40,30,2,20
num-elements-to-validate=128
host-threads=1
END
echo old >real.csv; ln -s real.csv via.csv; ln -s /dev/full full.csv; mkfifo pipe.csv
"$BIN/tuner-client" --config-file c.ini --results-file via.csv >/dev/null 2>&1; echo "exit $?"
[ -L via.csv ] && cut -d, -f1-6 real.csv
"$BIN/tuner-client" --config-file c.ini --results-file full.csv 2>&1 >/dev/null; echo "exit $?"
[ -L full.csv ] && echo "full.csv is still a link"
timeout 30 cat pipe.csv >piped.csv &
"$BIN/tuner-client" --config-file c.ini --results-file pipe.csv >/dev/null 2>&1; echo "exit $?"
wait; [ -p pipe.csv ] && cut -d, -f1-6 piped.csv
echo "--- logic under another name, by hand, in a folder below; results of other groups"
mkdir out/3_LibraryLogic/more
cp out/3_LibraryLogic/sim_Cijk_Ailk_Bljk_SB.yaml out/3_LibraryLogic/more/sub.yaml
cp out/2_BenchmarkData/Cijk_Ailk_Bljk_SB_01.csv out/2_BenchmarkData/other.csv
cp out/2_BenchmarkData/Cijk_Ailk_Bljk_SB_01.yaml out/2_BenchmarkData/other.yaml
sed 's/ScheduleName: "sim"/ScheduleName: "renamed"/' "$DATA/run/sim.yaml" >renamed.yaml
run renamed.yaml out
(cd out && find 3_LibraryLogic set_aside -type f | sort)
"$BIN/tuner-logic" show out/3_LibraryLogic/renamed_Cijk_Ailk_Bljk_SB.yaml | head -3
echo "--- a group less: its sizes are no longer chosen"
awk '/BenchmarkCommonParameters/ && ++n == 2 { skip = 1 } /LibraryLogic/ { skip = 0 } !skip' "$DATA/run/sim.yaml" >less.yaml
run less.yaml out
grep -c '256, 256, 1, 256' out/3_LibraryLogic/*.yaml
(cd out && find 3_LibraryLogic set_aside -type f | sort)
echo "--- logic in a folder outside is not moved, and not packed"
mkdir logic data; cp out/set_aside/3_LibraryLogic/renamed*.yaml logic/foreign.yaml
sed -i 's/256, 256, 1, 256/257, 256, 1, 256/' logic/foreign.yaml
cp out/set_aside/2_BenchmarkData/other.* data
run --global-parameters LibraryLogicPath=../logic BenchmarkDataPath=../data LibraryFormat=yaml -- less.yaml out
ls logic data; grep -c 257 out/4_LibraryClient/library/TensileLibrary.yaml
echo "--- absolute paths are taken as they are; of the files there none is removed"
kernels=$PWD/abs/problems/Cijk_Ailk_Bljk_SB_00/00_Final/source/library
mkdir -p "$kernels" abs/data abs/logic
for f in "$kernels/Cijk_Ailk_Bljk_SB_mine.so" abs/problems/.tuner-tmp-aB3dE6 abs/data/mine.csv abs/logic/mine.yaml; do echo mine >"$f"; done
run --global-parameters BenchmarkProblemsPath="$PWD/abs/problems" BenchmarkDataPath="$PWD/abs/data" \
  LibraryLogicPath="$PWD/abs/logic" LibraryClientPath="$PWD/abs/client" -- "$DATA/run/sim.yaml" out2 | sed "s|$PWD|DIR|g"
grep -o 'TUNER_LIBPATH=[^ ]*' log | sed "s|$PWD|DIR|"; ls out2 abs/data abs/logic abs/client
cat "$kernels/Cijk_Ailk_Bljk_SB_mine.so" abs/problems/.tuner-tmp-aB3dE6 abs/data/mine.csv abs/logic/mine.yaml; exit 0
