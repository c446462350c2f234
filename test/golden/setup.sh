# scripts/setup.sh for a user without root and sudo: a command that can be pasted.
mkdir bin
for t in sh tr sed grep printf; do ln -s "$(command -v $t)" bin/; done
stub() { printf '#!/bin/sh\n%s\n' "$2" >bin/"$1"; chmod +x bin/"$1"; }
stub id 'echo 1000'
stub apt-get 'echo "apt-get $*"'
stub apt-cache 'case $2 in libmsgpack-c-dev) exit 1;; esac'
stub dpkg-query 'case $3 in make|libc6-dev) echo install ok installed;; *) exit 1;; esac'
PATH=$PWD/bin sh "$ROOT/scripts/setup.sh" check; echo "exit $?"
stub sudo 'echo "sudo $*" >&2'
PATH=$PWD/bin sh "$ROOT/scripts/setup.sh"; echo "exit $?"
rm bin/dpkg-query bin/apt-get
PATH=$PWD/bin sh "$ROOT/scripts/setup.sh" | tail -1; echo "exit $?"
