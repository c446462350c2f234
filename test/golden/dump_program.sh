# Kernel programs as text: after every pass for a packed kernel, after the last for three kinds; an unknown pass.
t() { echo "+ tuner $*"; "$BIN/tuner" "$@" "$DATA/program/three.yaml" 2>&1 | sed "s|$ROOT/||"; }
t --dump-program=all --arch x86-64-v4 | sed '/^# .*DB_/,$d'
t --dump-program --arch x86-64-v4
t --dump-program=pipelines --arch x86-64-v4
t --dump-program=build --arch gfx90a | head -3
