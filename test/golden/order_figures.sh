# Figures of work-group orders from sweeps whose truth is known: an argument costs 0.2 %, order 16 gains 3 % along N and order 2 loses
# 10 %, all with 0.5 % of noise and a clock that changes between sweeps; the best of equal orders along M gains nothing.
cat >store.py <<'END'
import os, random, sqlite3, sys
rng = random.Random(7)
def store(name, sweeps, words, speed):
    os.mkdir(name)
    db = sqlite3.connect(f'{name}/tuning.db')
    db.executescript('CREATE TABLE problem(id INTEGER PRIMARY KEY, key TEXT); CREATE TABLE plan(id INTEGER PRIMARY KEY);'
                     'CREATE TABLE candidate(plan, i, kernel, name); CREATE TABLE measurement(kernel, problem, run, status, samples);'
                     'INSERT INTO plan VALUES (1);')
    for p in range(12):
        m = 4096 + 1024 * p
        db.execute('INSERT INTO problem VALUES (?, ?)', (p, f'gemm {m},4096,1,4096,{m},{m},4096,4096 rest'))
    for k, (tile, word) in enumerate((t, w) for t in ('256x128x64', '128x256x64') for w in words):
        db.execute('INSERT INTO candidate VALUES (1, ?, ?, ?)', (k, k, f'Cijk_Alik_Bljk_HHS_BH_MT{tile}_K1_{word}_SN'))
        for p in range(12):
            for run in range(sweeps):
                ns = [int(1e6 * (1 + p / 3) * (1 + 0.2 * (run % 2)) / speed(word) * rng.gauss(1, 0.005)) for _ in range(2)]
                db.execute('INSERT INTO measurement VALUES (?, ?, ?, ?, ?)', (k, p, run, 'PASSED', ' '.join(f'10*{10 * x}@1,2' for x in ns)))
    db.commit()
arguments = [f'WGM{w}_WGMD{d}' for d in (0, 1) for w in (0, 1, 2, 4, 8, 16)]
store('argument', 6, [f'WGM{w}' + d for w in (1, 8, 16) for d in ('', '_WGMD1')], lambda w: 0.998 if 'WGMD1' in w else 1)
store('order', 4, arguments, lambda w: 1 if 'WGMD0' in w else {'WGM16_': 1.03, 'WGM0_W': 1.03, 'WGM2_W': 0.9}.get(w[:6], 1))
store('once', 1, arguments[:2], lambda w: 1)
END
python3 store.py
python3 "$ROOT/scripts/order_figures.py" --large 4096,4096,4096 argument order; echo "exit $?"
python3 "$ROOT/scripts/order_figures.py" once; echo "exit $?"
python3 "$ROOT/scripts/order_figures.py" nothing; echo "exit $?"
python3 "$ROOT/scripts/order_figures.py"; echo "exit $?"
