"""How long `tuner report` takes on a large run, and its page in a browser: report_bench.py TUNER [SIZES KERNELS]. The store is
that of a small simulated run, filled with made-up samples of a race; 10,000 sizes and 100 kernels unless told otherwise."""
import os
import random
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time

import cdp

tuner = os.path.abspath(sys.argv[1])
n_sizes, n_kernels = (int(a) for a in sys.argv[2:4]) if len(sys.argv) > 3 else (10000, 100)
root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def fill(db):
    """Replaces the plan of the run by a large one."""
    rng = random.Random(1)
    for table in 'measurement compile candidate size rejection session_plan code model_kernel model kernel problem'.split():
        db.execute(f'delete from {table}')
    plan, = db.execute('select min(id) from plan').fetchone()
    setting, environment = db.execute('select setting, environment from plan where id=?', (plan,)).fetchone()
    session, = db.execute('select max(id) from session').fetchone()
    db.execute('insert into session_plan values(?, 0, ?)', (session, plan))
    for k in range(n_kernels):
        tile = rng.choice(['16x16', '32x32', '64x64', '128x64', '128x128', '256x64'])
        name = (f'Cijk_Ailk_Bljk_SB_MT{tile}x{rng.choice([8, 16, 32])}_SN_GSU{rng.choice([1, 2, 4])}_K1_PGR{rng.choice([0, 1, 2])}'
                f'_PLR{rng.choice([0, 1])}_TT4_4_VW{rng.choice([1, 2, 4])}_WG16_16_{k}')
        db.execute('insert into kernel values(?, ?, ?)', (k + 1, f'{k:064x}', name))
        db.execute('insert into candidate values(?, ?, ?, ?)', (plan, k, k + 1, name))
        db.execute("insert into compile values(?, ?, ?, 'ok', 1000000, '', '2026-01-01T00:00:00.000Z')", (k + 1, k + 1, environment))
    sizes = set()
    while len(sizes) < n_sizes:
        sizes.add(tuple(int(2 ** rng.uniform(4, 13)) for _ in range(3)))
    for z, (m, n, k) in enumerate(sizes):
        flops = 2.0 * m * n * k
        db.execute('insert into problem values(?, ?, ?)', (z + 1, f'Cijk_Ailk_Bljk_SB {m},{n},1,{k},{m},{m},{m},{k}', flops))
        db.execute('insert into size values(?, ?, ?)', (plan, z, z + 1))
        rows = []
        for i in range(n_kernels):
            ns, last = (flops / 300 + 2000) * (1 + rng.expovariate(2)), i < 6
            samples = ' '.join(f"30*{int(30 * ns * rng.gauss(1, 0.004))}@{r + 1},1980,{300 + 100 * rng.random():.6g},51,0,{'f' if last else '-'}"
                               for r in range(8 if last else 3))
            rows.append((i + 1, z + 1, setting, 'PASSED' if rng.random() > 0.01 else 'FAILED', samples))
        db.executemany('insert into measurement(kernel, problem, setting, run, status, detail, samples, checked, max_err, at)'
                       " values(?, ?, ?, 0, ?, '', ?, 128, 0, '2026-01-01T00:00:01.000Z')", rows)
    db.commit()


with tempfile.TemporaryDirectory() as work:
    subprocess.run([tuner, root + '/test/data/run/sim.yaml', work + '/out'], env={**os.environ, 'TUNER_SIM': 'arch=x86-64-v3'},
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    db = sqlite3.connect(work + '/out/tuning.db')
    fill(db)
    db.close()
    page, start = work + '/page.html', time.time()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([tuner, 'report', work + '/out', '--html', page], stderr=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f'{n_sizes} sizes x {n_kernels} kernels: made in {time.time() - start:.2f} s ({cpu:.2f} s of CPU), page of {os.path.getsize(page) / 1e6:.2f} MB')
    if cdp.find_browser():
        with cdp.Browser() as b:
            print(f'opened in {b.open("file://" + page):.2f} s, '
                  f'filtered in {b.eval("""(() => { const t = performance.now(), i = document.getElementById("filter"); i.value = "m>=1024 k<64"; i.form.requestSubmit(); return performance.now() - t; })()"""):.0f} ms')
    else:
        print('not opened: no chromium here')
