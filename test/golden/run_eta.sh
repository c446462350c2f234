# The remaining time is estimated by time, not by the number of pairs: small sizes come first here, and the time of a pair is proportional to its flops. On a
# terminal of 80 columns no line is longer, and there are no colours; elsewhere lines are plain.
command -v python3 >/dev/null || { echo "skipped: no python3 for a terminal"; exit 0; }
python3 -c 'import pty; pty.openpty()' 2>/dev/null || { echo "skipped: no pseudo-terminals here (/dev/pts)"; exit 0; }
export TUNER_SIM="arch=x86-64-v3"
cat >client <<SH
#!/bin/sh
# Sleeps in place of measuring: 0.05 s for a pair of the sizes below 3, else 1 s.
case "\$*" in *--list-devices*) exec "$BIN/tuner-client" "\$@";; esac
while [ \$# -gt 0 ]; do case \$1 in --plan-file) plan=\$2;; --events-fd) fd=\$2;; esac; shift; done
printf 'events\t1\n' >&\$fd
while read -r p s v; do
  printf 'start\t%s\t%s\n' \$p \$s >&\$fd
  if [ \$p -lt 3 ]; then sleep 0.05; else sleep 1; fi
  printf 'sample\t%s\t%s\t0\t1\t1000\n' \$p \$s >&\$fd
  printf 'end\t%s\t%s\tPASSED\t1\t1000\t1000\t1000\t\n' \$p \$s >&\$fd
done <\$plan
printf 'done\n' >&\$fd
SH
chmod +x client
sed 's/PrintLevel: 0/PrintLevel: 1/; s/Range: .*/Exact: [32, 32, 1, 32]\n          - Exact: [40, 32, 1, 32]\n          - Exact: [32, 40, 1, 32]/; s/Exact: \[100, 90, 2, 80\]/Exact: [256, 256, 1, 256]\n          - Exact: [264, 256, 1, 256]/' "$DATA/run/sim.yaml" >eta.yaml
awk '/BenchmarkCommonParameters/ && ++n == 2 { skip = 1 } /LibraryLogic/ { skip = 0 } !skip' eta.yaml >c.yaml
cat >look.py <<'PY'
# Runs the command on a terminal of 80 columns (argument 1: tty) or a pipe and compares its estimates with the real times.
import os, pty, re, sys, time, fcntl, termios, struct
tty, cmd = sys.argv[1] == "tty", sys.argv[2:]
pid, fd = pty.fork() if tty else (0, 0)
if not tty:
    r, w = os.pipe(); pid = os.fork()
    if pid == 0: os.dup2(w, 2); os.dup2(os.open("/dev/null", 1), 1)
    fd = r
    if pid: os.close(w)
if pid == 0:
    if tty: time.sleep(0.1)
    os.execvp(cmd[0], cmd)
if tty: fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
said, text = [], b""
while True:
    try: got = os.read(fd, 4096)
    except OSError: break
    if not got: break
    text += got; now = time.time()
    for m in re.finditer(rb"measure  (\d+)/\d+[^\r\n]*ETA (?:(\d+):(\d+)-)?(\d+):(\d+)", got):
        g = [int(x) if x else None for x in m.groups()]
        hi = g[3] * 60 + g[4]; lo = hi if g[1] is None else g[1] * 60 + g[2]
        said.append((now, lo, hi))
    if b"measure  20/20" in text and not said or b"analyze:" not in text: end = now
print("exit", os.waitpid(pid, 0)[1] >> 8)
shown = re.sub(rb"\x1b\[K", b"", text).decode()
lines = re.split(r"[\r\n]+", shown)
progress = [l for l in lines if re.match(r"(measure|build|fork)  \d+/", l)]
table = shown[shown.find("winners"):shown.find("more about")] if "winners" in shown else ""
print("progress lines in 80 columns:", all(len(l) <= 80 for l in progress), "table:", all(len(l) <= 80 for l in table.splitlines()))
print("escapes but for erasing a line:", "\x1b" in shown)
late = [(lo, hi, end - t) for t, lo, hi in said if end - t > 1]
good = [x for x in late if x[0] - 1.5 <= x[2] <= x[1] * 1.3 + 1.5]
print("ETA at", ("many" if len(late) > 8 else "some" if late else 0), "moments, right:", "nearly all" if len(good) >= 0.8 * len(late) else "%d of %d %s" % (len(good), len(late), late))
PY
# look tty|pipe COMMAND...: what look.py says of the command with the output folder 'out'. Other tests on the machine can hold up a
# run against its estimate, but hardly three in a row: one whose estimates were wrong is made again, from the folder as it was.
look() {
  for try in 1 2 3; do
    rm -rf tried; [ ! -d out ] || cp -r out tried
    python3 look.py "$@" tried >said
    ! grep -q 'ETA.*right: [0-9]\|ETA at 0' said && break
  done
  rm -rf out; mv tried out; cat said
}
echo "--- terminal"
look tty "$BIN/tuner" --client-path ./client c.yaml
echo "--- again with more sizes, elsewhere: what was measured before says how long it takes"
sed 's/- Exact: \[264, 256, 1, 256\]/- Exact: [264, 256, 1, 256]\n          - Exact: [256, 264, 1, 256]/' c.yaml >more.yaml
look pipe "$BIN/tuner" --client-path ./client more.yaml
