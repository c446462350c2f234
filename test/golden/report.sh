# tuner report: runs (done, killed, with failures), CSV files and output of rocblas-bench as Markdown and JSON; JSON of the other
# commands; traces; metrics; bad input.
command -v python3 >/dev/null || { echo 'skipped: no python3 here'; exit 0; }
tune() { # OUT SIM [OPTION...]
  out=$1 sim=$2; shift 2
  TUNER_SIM="arch=x86-64-v3;$sim" "$BIN/tuner" "$DATA/run/sim.yaml" "$out" "$@" >/dev/null 2>&1
}
tune a "noise=0.01;gflops=100" --metrics a.prom --global-parameters SyncsPerBenchmark=12
tune b "noise=0.01;gflops=80;seed=3" --global-parameters SyncsPerBenchmark=12
tune bad "noise=0;wrong=MT32x32x16;crash=WG16_8_1"
report() { "$BIN/tuner" report "$@" 2>&1; }
masked() { sed -E 's/[0-9.]+ % \|/P % |/; s/\*\*[0-9.]+\*\*/**G**/; s/ \| [0-9.]+ \| P/ | G | P/; s/(\| P % \| )[0-9.]+ \| [0-9.]+ \|/\1G | R |/'; }
echo "-- a run, against another, weighted by calls"
printf 'rocblas-bench -f gemm -r f32_r --transposeA N --transposeB N -m 64 -n 64 -k 128 --lda 64 --ldb 128 --ldc 64\n' >calls.log
report a --before b | masked; echo "exit $?"
report a --log calls.log | sed -n 's/| [0-9.]* | [0-9.]* %/| G | P %/; 7p'
echo "-- failures"
report bad | head -4 | masked
echo "-- JSON: all documents are read back; keys"
cat >keys.py <<'END'
import json, sys
d = json.load(open(sys.argv[1]), parse_constant=lambda c: sys.exit('not JSON: ' + c))
print(d['format'], d['version'], *sorted(k for k in d if k not in ('format', 'version')))
for part in sys.argv[2:]:
    x = d
    for key in part.split('.'): x = x[int(key) if key.isdigit() else key]
    print(' ', part + ':', *(sorted(x) if isinstance(x, dict) else [x]))
END
report a bad "$DATA/report/results.csv" --before b --json r.json --html r.html | sed 's/^report: .*/report written/'
python3 keys.py r.json runs.0 runs.1.faults.0 groups.0 groups.0.sizes groups.0.kernels.0 groups.0.before groups.0.parameters.0.values.0 groups.1.statuses.0
"$BIN/tuner" status a --json >x.json && python3 keys.py x.json run groups.0
"$BIN/tuner" explain a --json >x.json && python3 keys.py x.json sizes.0
"$BIN/tuner" explain bad 64,64,1,128 --json >x.json && python3 keys.py x.json sizes.0 sizes.0.candidates.0 sizes.0.failures.0
"$BIN/tuner" log bad MT32x32x16 --json >x.json && python3 keys.py x.json compiles.0 faults.0
"$BIN/tuner" --list-solutions --json "$DATA/run/sim.yaml" >x.json && python3 keys.py x.json groups.0 groups.0.valid
"$BIN/tuner" sizes calls.log --json --arch gfx90a | python3 -c 'import json, sys; print("sizes", *sorted(json.load(sys.stdin)))'
echo "-- the same numbers everywhere"
python3 - <<'END'
import json
d = json.load(open('r.json'))
page = open('r.html').read()
inside = json.loads(page.split('<script type="application/json" id="data">')[1].split('</script>')[0])
print('page and JSON are equal:', all(inside[k] == d[k] for k in d if k != 'made'))
g = d['groups'][0]
s, n = g['sizes'], len(g['sizes']['size'])
print('columns are equally long:', all(len(c) == n for c in s.values()) and len(g['races']) == len(g['speeds']) == n)
for i in range(n):
    best = max(range(len(g['kernels'])), key=lambda k: g['speeds'][i][k])
    assert g['speeds'][i][best] == 10000 and s['kernel'][i] == g['races'][i][0][0], i
    assert abs(s['gflops'][i] * s['us'][i] * 1e3 / s['flops'][i] - 1) < 1e-4, i
    assert s['us_lo'][i] <= s['us'][i] <= s['us_hi'][i], i
print('winners are the fastest')
END
echo "-- trace"
tune race "noise=0.002" --global-parameters TimingMethod=race
report a race --trace t.json
python3 "$ROOT/test/browser/trace_check.py" t.json | sed 's/ of [^ ]*: / of HOST: /'
echo "-- metrics"
python3 "$ROOT/test/browser/metrics_check.py" a.prom | sed 's/, tuner_load$//'
TUNER_SIM="arch=x86-64-v3" "$BIN/tuner" "$DATA/run/sim.yaml" c --metrics none/x.prom 2>&1 | tail -1; echo "exit $?"
echo "-- a killed run, and one that is at work"
cp -r a killed; python3 -c "
import sqlite3; d = sqlite3.connect('killed/tuning.db'); d.execute(\"update session set state='running', ended=null\"); d.commit()"
report killed --json k.json --md k.md; python3 -c "
import json; r = json.load(open('k.json'))['runs'][0]; print(r['state'], r['live'])"
python3 - "$BIN" <<'END'
import fcntl, json, subprocess, sys, threading, time
lock = open('killed/tuning.lock'); fcntl.flock(lock, fcntl.LOCK_EX)
p = subprocess.Popen([sys.argv[1] + '/tuner', 'report', 'killed', '--html', 'f.html', '--json', 'f.json', '--follow'], stderr=subprocess.PIPE, text=True)
until = time.time() + 60
seen = None
while time.time() < until and not seen:
    try: seen = json.load(open('f.json'))
    except (OSError, ValueError): time.sleep(0.05)
print('at work:', seen['runs'][0]['state'], 'live' if seen['live'] else 'not live', 'and waits' if p.poll() is None else 'ended')
lock.close()
p.wait(60)
last = json.load(open('f.json'))
print('then:', last['runs'][0]['state'], 'live' if last['live'] else 'not live', 'exit', p.returncode)
END
echo "-- bad input"
report none; echo "exit $?"
mkdir empty; report empty; echo "exit $?"
echo 'a,b' >bad.csv; report bad.csv; echo "exit $?"
report a --before calls.log; echo "exit $?"
report a --log none; echo "exit $?"
echo 'rocblas-bench -f gemm -r f32_r -m 7 -n 7 -k 7 --lda 7 --ldb 7 --ldc 7' >other.log; report a --log other.log; echo "exit $?"
report a --html none/x.html; echo "exit $?"
"$BIN/tuner" report bad.csv --trace t; echo "exit $?"
"$BIN/tuner" --json "$DATA/run/sim.yaml" x; echo "exit $?"
