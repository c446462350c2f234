# Shards that do not fit, damaged files, wrong numbers: one line each, and what can be gathered is.
export TUNER_SIM="arch=x86-64-v3;spread=0;noise=0;words=0.2"
tuner() { "$BIN/tuner" "$@"; }
said() { grep "^tuner:" log | sed "s|$DATA|DATA|g; s|$PWD|.|g; s|plan [0-9a-f]*, expected plan [0-9a-f]*|plan X, expected plan Y|"; }
C=$DATA/run/shards.yaml
tuner shard "$C" S --shards 4 --global-parameters ClientBuildPath="$PWD/build" >/dev/null 2>&1; echo "exit $?"
echo "--- numbers"
tuner shard "$C" T --shards 10 2>&1 | sed "s|$DATA|DATA|"; [ -e T ] && echo "T was made"
tuner shard "$C" T; echo "exit $?"
tuner shard "$C" T --shards 0; echo "exit $?"
for i in 4 -1 x; do tuner run-shard S -- $i; echo "exit $?"; done
tuner run-shard nowhere 0; echo "exit $?"
tuner gather nowhere; echo "exit $?"
echo "--- the same plan again; another one"
tuner shard "$C" S --shards 4 --global-parameters ClientBuildPath="$PWD/build" >/dev/null 2>&1; echo "exit $?"
tuner shard "$C" S --shards 3 >log 2>&1; echo "exit $?"; said
for i in 0 1; do tuner run-shard S $i >/dev/null 2>&1; done
echo "--- a shard of another device, in its settings"
TUNER_SIM="$TUNER_SIM;cus=80" tuner run-shard S 2 >/dev/null 2>&1; echo "exit $?"
tuner gather S >log 2>&1; echo "exit $?"; said
echo "--- of another version; of another plan; damaged; cut"
cp S/shard_0001/shard.yaml good
sealed() { # EDIT FILE: the file, changed, with the hash that such a text has
  sed "$1;\$d" "$2" >sealed; printf 'sha256: %s\n' "$(sha256sum <sealed | cut -d' ' -f1)" | cat sealed -
}
for edit in 's/^version: .*/version: 0.0.9/' 's/^plan: ..../plan: 0000/' 's/^shard: 1/shard: 3/' 's/- \[0, /- [1, /' 's/kernels:/kernel:/'; do
  sealed "$edit" good >S/shard_0001/shard.yaml
  tuner gather S >log 2>&1; echo "exit $?"; said | grep 'shard 1 '; said | grep -v 'shard [0-9]* is\|not finished\|gathered [0-9]'
done
head -c 500 good >S/shard_0001/shard.yaml
tuner gather S >log 2>&1; echo "exit $?"; said | grep 'shard 1 '
cp good S/shard_0001/shard.yaml
echo "--- its store is damaged"
cp S/shard_0001/tuning.db db; head -c 5000 db >S/shard_0001/tuning.db; rm -f S/shard_0001/tuning.db-*
tuner gather S -o fresh >log 2>&1; echo "exit $?"; said | tail -1
mv db S/shard_0001/tuning.db
tuner gather S -o fresh >log 2>&1; echo "exit $?"; said | tail -1
echo "--- the config was changed"
echo "# more" >>S/config.yaml
tuner run-shard S 3; echo "exit $?"
tuner gather S; echo "exit $?"
sed -i '$d' S/config.yaml
echo "--- another version of the plan; a plan that is damaged"
cp S/shards.yaml plan
for edit in 's/^version: .*/version: 0.0.9/' 's/^tuner-shards: 1/tuner-shards: 9/' 's/\[0, 0, /[9, 0, /'; do
  sealed "$edit" plan >S/shards.yaml; tuner gather S; echo "exit $?"
done
head -n -3 plan >S/shards.yaml; tuner gather S; echo "exit $?"
cp plan S/shards.yaml
echo "--- two processes on one shard"
mkdir -p S/shard_0003
: >hold
flock S/shard_0003/tuning.lock sh -c ': >held; while [ -e hold ]; do sleep 0.1; done' &
while [ ! -e held ]; do sleep 0.05; done
tuner run-shard S 3 2>&1 | sed 's/pid .*)/pid N)/'
rm hold
wait
