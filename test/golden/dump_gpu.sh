# Programs of GPU kernels: after every pass with one chunk of K ahead, after the last without and with two, and with one loop.
t() { echo "+ tuner $*"; "$BIN/tuner" "$@" "$DATA/program/gpu.yaml" 2>&1 | sed "s|$ROOT/||"; }
t --dump-program=all --arch gfx906 | awk '/^# /{n++} n == 2'
t --dump-program --arch gfx906 | awk '/^# /{n++} n != 2'
