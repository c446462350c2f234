# Debian packages: made, judged by lintian where it is installed, taken apart; the programs run from there and an application
# that was compiled with the development package loads the library package's libtuner.
for tool in dpkg-deb dpkg-shlibdeps dpkg-architecture strip; do
  command -v $tool >/dev/null || { echo "skipped: there is no $tool (apt-get install dpkg-dev binutils)"; exit 0; }
done
B=${BIN%/bin} sh "$ROOT/scripts/deb.sh" "$PWD/deb" >names 2>&1 || cat names
sed 's/.*\///; s/_.*//' names
if command -v lintian >/dev/null; then lintian --allow-root --fail-on error deb/*.deb >log 2>&1 || cat log; fi
sums() { (cd "$1" && sha256sum ./*.deb); }
B=${BIN%/bin} sh "$ROOT/scripts/deb.sh" "$PWD/again" >/dev/null 2>&1
[ "$(sums deb)" = "$(sums again)" ] || echo "packages of the same tree differ"
for p in deb/*.deb; do dpkg-deb -x "$p" root; done
echo "--- control"
for p in deb/*.deb; do
  dpkg-deb -f "$p" Package Section Multi-Arch
  dpkg-deb -f "$p" Depends | grep -o 'libtuner0\|libc6\|libsqlite3-0\|python3' | sort -u | tr '\n' ' '; echo
done
echo "--- runs"
lib=$(dirname "$(find root -name 'libtuner.so.0')")
root/usr/bin/tuner --version | sed 's/^tuner .*/tuner VERSION/'
sed -n '/^ \*     #include <stdio.h>/,/^ \*     }$/s/^ \* \{0,5\}//p' root/usr/include/tuner.h >example.c
cc -std=c11 -Iroot/usr/include example.c -L"$lib" -ltuner -Wl,-rpath,"$PWD/$lib" -o example
./example nowhere; echo "exit $?"
if command -v python3 >/dev/null; then
  TUNER_LIBRARY_FILE=$PWD/$lib/libtuner.so.0 PYTHONPATH=root/usr/lib/python3/dist-packages python3 -c '
import tuner
try: tuner.open("nowhere")
except tuner.Error as e: print(e)' >log 2>&1; grep -q "'nowhere' does not exist" log || cat log
fi
echo "--- errors"
sh "$ROOT/scripts/deb.sh" a b; echo "exit $?"
