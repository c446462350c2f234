# make install, then the example of tuner.h compiled against both libraries with what the installed pkg-config file says.
make -C "$ROOT" --no-print-directory B="${BIN%/bin}" PREFIX="$PWD/inst" install >log 2>&1 || cat log
find inst -type f | LC_ALL=C sort | grep -v share
ls inst/share/tuner/quickstart.yaml
sed -n '/^ \*     #include <stdio.h>/,/^ \*     }$/s/^ \* \{0,5\}//p' inst/include/tuner.h >example.c
pc() { sed -n "s/^$1: //p" inst/lib/pkgconfig/tuner.pc; }
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
