"""A page that is written while a run is at work reloads itself, and stops when the run ends: live.py TUNER OUTDIR."""
import fcntl
import os
import subprocess
import sys
import time

import cdp

tuner, outdir = sys.argv[1:]
lock = open(outdir + '/tuning.lock')
fcntl.flock(lock, fcntl.LOCK_EX)
p = subprocess.Popen([tuner, 'report', outdir, '--html', 'live.html', '--follow'], stderr=subprocess.DEVNULL)
until = time.time() + 60
while not os.path.exists('live.html') and time.time() < until:
    time.sleep(0.05)
with cdp.Browser(1280, 900) as b:
    b.open('file://' + os.path.abspath('live.html') + '#f=m%3E%3D64')
    print('at work:', b.eval("document.getElementById('state').textContent"))
    n = b.loaded
    until = time.time() + 60
    while b.loaded <= n and time.time() < until:
        time.sleep(0.2)
        b.wait("document.documentElement.dataset.ready === 'yes'", 60)
    print('reloaded:', b.loaded > n, '| filter', b.eval("document.getElementById('filter').value"))
    fcntl.flock(lock, fcntl.LOCK_UN)
    p.wait(60)
    b.wait("document.documentElement.dataset.ready === 'yes' && document.getElementById('state').textContent === 'killed'"
           " && document.readyState === 'complete'", 60)
    time.sleep(0.5)  # the event of this load may come behind what the page shows
    b.eval('0')
    n = b.loaded
    time.sleep(4)
    print('ended:', b.eval("document.getElementById('state').textContent"), '| reloads:', b.loaded - n, '| exit', p.returncode)
    print('messages:', b.messages)
