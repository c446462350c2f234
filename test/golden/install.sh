# make install, moved to another place; then the example of tuner.h compiled against both libraries with what pkg-config says;
# manual pages, completions and scripts from there; make uninstall.
PATH=$OPTIMIZING
make -C "$ROOT" --no-print-directory B="${BIN%/bin}" PREFIX="$PWD/first" install >log 2>&1 || cat log
mv first inst
echo "--- files"
find inst -type f | LC_ALL=C sort | grep -v -e share -e 'libtuner\.so'
find inst/lib -name 'libtuner.so*' | grep -c . | sed 's/^[1-9]$/libtuner.so/'
find inst/share -type f | LC_ALL=C sort | grep -v configs; ls inst/share/tuner/configs/quickstart.yaml
grep -l "$PWD/first" inst/lib/pkgconfig/tuner.pc inst/share/man/man1/* inst/share/bash-completion/completions/* inst/share/zsh/site-functions/*
echo "--- an application"
sed -n '/^ \*     #include <stdio.h>/,/^ \*     }$/s/^ \* \{0,5\}//p' inst/include/tuner.h >example.c
# what pkg-config makes of the file, which need not be there
pc() { sed -n "s/^$1: //p" inst/lib/pkgconfig/tuner.pc | sed "s|\${includedir}|$PWD/inst/include|; s|\${libdir}|$PWD/inst/lib|"; }
if command -v pkg-config >/dev/null; then
  export PKG_CONFIG_PATH="$PWD/inst/lib/pkgconfig"
  real() { (cd "$(echo $1 | sed 's/^-.//')" && pwd); }
  [ "$(real "$(pkg-config --cflags tuner)")" = "$(real "$(pc Cflags)")" ] || pkg-config --cflags tuner
  [ "$(real "$(pkg-config --libs-only-L tuner)")" = "$PWD/inst/lib" ] || pkg-config --libs tuner
  [ "tuner $(pkg-config --modversion tuner)" = "$(inst/bin/tuner --version | cut -d' ' -f1,2)" ] || pkg-config --modversion tuner
fi
cc -std=c11 -Wall -Wextra -Wpedantic -Werror $(pc Cflags) example.c $(pc Libs) -Wl,-rpath,"$PWD/inst/lib" -o shared
cc -std=c99 -Wall -Wextra -Wpedantic -Werror $(pc Cflags) example.c inst/lib/libtuner.a $(pc Libs.private) -o static
echo 'int main(void) { return 0; }' >c++.cc; echo '#include <tuner.h>' >>c++.cc
c++ -Wall -Wextra -Werror $(pc Cflags) c++.cc -o c++ >log 2>&1
code=$? # 127 is the shell's: there is no c++ here
[ $code = 0 ] || [ $code = 127 ] || { echo "c++ exits with $code"; cat log; }
awk '/^  -/ && ++n == 2 { skip = 1 } /^LibraryLogic/ { skip = 0 } !skip' "$DATA"/run/bench.yaml >one.yaml
inst/bin/tuner one.yaml out >log 2>&1 || cat log
for p in ./shared ./static; do
  $p out/4_LibraryClient/library; echo "exit $?"
  $p nowhere; echo "exit $?"
done
if command -v cmake >/dev/null; then # find_package(tuner): both targets, an older version that will do, a newer one that will not
  cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.13)
project(example C)
find_package(tuner ${WANTED} REQUIRED)
add_executable(shared example.c)
target_link_libraries(shared tuner::tuner)
add_executable(static example.c)
target_link_libraries(static tuner::static)
END
  cmake -S . -B cmake -DCMAKE_PREFIX_PATH="$PWD/inst" -DWANTED=0.1 >log 2>&1 && make -C cmake >>log 2>&1 || cat log
  for p in cmake/shared cmake/static; do $p nowhere 2>&1 | grep -v "'nowhere' does not exist"; done
  cmake -S . -B newer -DCMAKE_PREFIX_PATH="$PWD/inst" -DWANTED=99.0 >log 2>&1 && echo "cmake takes another major version"
fi
sh inst/share/tuner/scripts/library_speed.sh out >log 2>&1; grep -c 'not the winner: 0; wrong: 0' log || cat log
echo "--- the scripts of the workflow"
echo 'rocblas-bench -f gemm -r f32_r -m 40 -n 30 -k 20' >app.log
sh inst/share/tuner/scripts/provision_tuning.sh -w tuning -z app.log -l host --base one.yaml | tail -1
sh tuning/doit-all.sh >log 2>&1; echo "exit $?"
echo "--- manual pages"
for f in inst/share/man/man1/*.1; do
  grep -c '^\.SH NAME\|^\.SH SYNOPSIS\|^\.SH OPTIONS\|^\.TH' "$f"
  if command -v groff >/dev/null; then groff -man -ww -Tascii "$f" 2>&1 >/dev/null; fi
done
echo "--- completions"
for f in inst/share/zsh/site-functions/*; do if command -v zsh >/dev/null; then zsh -n "$f"; fi; done
cat >complete.sh <<'END'
for f in inst/share/bash-completion/completions/*; do . $f; done
t() {
  COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
  f=$(complete -p "$1" | sed 's/.*-F \([^ ]*\).*/\1/'); $f
  echo "$*: $(printf '%s\n' "${COMPREPLY[@]}" | sort | tr '\n' ' ')"
}
t tuner st
t tuner --list-
t tuner --peer ''
t tuner --peer = o
t tuner status ou
t tuner-logic m
t tuner-logic diff --
t tuner-logic merge --policy n
t tuner-logic merge --policy best one
t tuner-bench --initialization Ra
t tuner-bench -r f1
t tuner-client --config
t tuner-createlib --library-format ''
t tuner-nvrtc --ch
END
if command -v bash >/dev/null; then bash complete.sh; fi
echo "--- uninstall"
echo mine >inst/share/tuner/mine
make -C "$ROOT" --no-print-directory B="${BIN%/bin}" PREFIX="$PWD/inst" uninstall >log 2>&1 || cat log
find inst -type f -o -type l
make -C "$ROOT" --no-print-directory B="${BIN%/bin}" PREFIX=relative install 2>&1 | grep install.sh
