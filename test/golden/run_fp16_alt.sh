# A run with Fp16AltImpl: its solutions ask for problems that have it, and tuner-client makes such problems.
c=$DATA/run/fp16_alt.yaml
if ! "$BIN/tuner" --compile-only --arch gfx90a "$c" probe >log 2>&1; then echo "skipped: $(grep '^tuner:' log)"; exit; fi
"$BIN/tuner" --simulate --arch gfx90a "$c" out >log 2>&1; echo "exit $?"
grep -e '^measure' -e 'no winner' log | sed 's/ *[0-9.]*\/s//'
grep fp16 out/1_BenchmarkProblems/*/00_Final/source/ClientParameters.ini
