# An output directory from elsewhere: its store and its links change nothing outside it, and cost no time or memory.
command -v python3 >/dev/null || { echo "skipped: no python3 to change a store with"; exit 0; }
export TUNER_SIM="arch=x86-64-v3"
sql() { python3 -c 'import sqlite3, sys; c = sqlite3.connect("out/tuning.db"); c.execute("PRAGMA foreign_keys=OFF"); c.execute(sys.argv[1]); c.commit()' "$1"; }
fresh() { echo "--- $1"; rm -rf out; cp -a whole out; }
again() { (ulimit -v 4000000; timeout -k 1 10 "$BIN/tuner" "$DATA/run/sim.yaml" out >/dev/null 2>err); echo "exit $?"; sed "s|$PWD/||" err; }
look() { timeout -k 1 10 "$BIN/tuner" "$@" 2>&1 | cat -v | sed '/^last run/d; /^  tuner /d' | head -3; }
"$BIN/tuner" "$DATA/run/sim.yaml" whole >/dev/null 2>&1; echo "exit $?"
fresh "a group that is a path"
for n in x.csv x.yaml x_CSVWinner.csv; do echo mine >$n; done
sql "INSERT INTO plan SELECT 100+id, key||'x', '../../x', arch, setting, environment, permutations, valid, duplicates, runs, at FROM plan LIMIT 1"
again; ls x*
sql "UPDATE plan SET grp='../../x' WHERE id=1"
look status out
look explain out 100,90,2,80
again
fresh "10^9 runs"
sql "UPDATE plan SET runs=1000000000"
again; look explain out 100,90,2,80
fresh "a candidate less"
sql "DELETE FROM candidate WHERE plan=1 AND i=(SELECT max(i) FROM candidate WHERE plan=1)"
again
fresh "a candidate in the middle less"
sql "DELETE FROM candidate WHERE plan=1 AND i=1"
again; look status out
fresh "a kernel less"
sql "DELETE FROM kernel WHERE id=1"
look explain out 100,90,2,80
fresh "a trigger"
sql "CREATE TRIGGER t AFTER INSERT ON session BEGIN DELETE FROM measurement; END"
again
fresh "text that steers a terminal"
sql "UPDATE session SET command=char(27)||'[2J'||char(7)||'tuner'"
"$BIN/tuner" status out | sed -n 2p | cat -v
fresh "links in place of the lock, the log, the plan and the database"
echo precious >victim
links="tuning.lock 1_BenchmarkProblems/Cijk_Ailk_Bljk_SB_00/00_Final/build/client.log"
links="$links 1_BenchmarkProblems/Cijk_Ailk_Bljk_SB_00/00_Final/build/plan.txt tuning.db tuning.db-wal"
links="$links 1_BenchmarkProblems/Cijk_Ailk_Bljk_SB_00/00_Final/source/ClientParameters.ini"
links="$links $(cd whole && find * -path '*SOURCE/*.c' | sort | head -1)"
links="$links 2_BenchmarkData/Cijk_Ailk_Bljk_SB_00.csv 3_LibraryLogic/sim_Cijk_Ailk_Bljk_SB.yaml"
links="$links 4_LibraryClient/library/TensileLibrary.dat"
for l in $links; do
  rm -rf out; cp -a whole out; rm -f "out/$l"; ln -s "$PWD/victim" "out/$l"
  again
done
cat victim
