# What stops a run before it starts, each with one line and its exit code.
export TUNER_SIM="arch=x86-64-v3"
t() { echo "+ tuner $*" | sed "s|$DATA|DATA|g"; "$BIN/tuner" "$@" 2>&1 | sed "s|$DATA|DATA|g; s|(...)|(...)|; s|here (.*); --arch|here (...); --arch|"; }
rc() { "$BIN/tuner" "$@" >/dev/null 2>&1; echo "exit $?"; }
edit() { sed "$1" "$DATA/run/sim.yaml" >edited.yaml; }
edit 's/x86-64-v3/gfx906/'
t edited.yaml out; rc edited.yaml out
t --arch gfx90a "$DATA/run/sim.yaml" out; rc --arch gfx90a "$DATA/run/sim.yaml" out
t --arch gfx9999 "$DATA/run/sim.yaml" out; rc --arch gfx9999 "$DATA/run/sim.yaml" out
t --device 7 "$DATA/run/sim.yaml" --arch x86-64-v4 out | sed 's/(.*)/(...)/'; rc --device 7 --arch x86-64-v4 "$DATA/run/sim.yaml" out
edit 's/PrefetchGlobalRead: .1, 2./PrefetchGlobalRead: [2]/; s/PrintLevel: 0/PrintLevel: 1/'
t edited.yaml out | grep -E '^\+|host-prefetch|no valid|size-groups'; rc edited.yaml out
edit 's/PrefetchGlobalRead: .1, 2./PrefetchGlobalRead: [2]/; s/WorkGroup: ..8, 8, 1., .16, 8, 1../PrefetchGlobalRead: [2]/'
t edited.yaml none; rc edited.yaml none
t "$DATA/run/sim.yaml" "$DATA/run/sim.yaml" out; rc "$DATA/run/sim.yaml" "$DATA/run/sim.yaml" out
t --client-path nowhere "$DATA/run/sim.yaml" out; rc --client-path nowhere "$DATA/run/sim.yaml" out
t --c-compiler nowhere "$DATA/run/sim.yaml" out; rc --c-compiler nowhere "$DATA/run/sim.yaml" out
touch file
t "$DATA/run/sim.yaml" file; rc "$DATA/run/sim.yaml" file
mkdir held; : >hold
flock held/tuning.lock sh -c ': >locked; while [ -e hold ]; do sleep 0.1; done' &
while [ ! -e locked ]; do sleep 0.05; done
t "$DATA/run/sim.yaml" held; rc "$DATA/run/sim.yaml" held
rm hold
wait
