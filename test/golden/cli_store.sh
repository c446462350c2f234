# A store of another program or version is refused and not changed; two runs on one output directory are too.
t() { echo "+ tuner $*"; "$BIN/tuner" "$@"; echo "exit $?"; }
mkdir garbage empty
printf 'this is not a database, it only has the name of one\n' >garbage/tuning.db
cp garbage/tuning.db before
t status garbage
t explain garbage 64,64,1,64
cmp garbage/tuning.db before && echo unchanged
: >empty/tuning.db
t status empty
