#!/bin/sh
# The C compiler for kernels of tests, as `cc` in a folder of its own that comes first in PATH: it does not optimize, and
# immintrin.h, which takes most of the time of compiling a kernel, is precompiled once for each set of flags, beside this file.
folder=$(dirname "$0")
PATH=${OPTIMIZING:-/usr/local/bin:/usr/bin:/bin} # as it was before this came first
source= flags= skip=
for a; do
  case $skip:$a in
    x:*) skip= ;;
    :-o) skip=x ;;
    :-c | :*.c) source=$source$a ;;
    *) flags="$flags $a" ;;
  esac
done
case $source in
  -c*.c) ;;
  *) exec cc "$@" -O0 ;;
esac
made=$folder/$(echo "$flags" | cksum | tr ' ' -)
if [ ! -f "$made/immintrin.h.gch" ] && mkdir "$made.$$" 2>/dev/null; then
  echo '#include_next <immintrin.h>' >"$made.$$/immintrin.h"
  # shellcheck disable=SC2086
  cc $flags -O0 -x c-header "$made.$$/immintrin.h" -o "$made.$$/immintrin.h.gch" 2>/dev/null &&
    mv -T "$made.$$" "$made" 2>/dev/null || rm -rf "$made.$$"
fi
exec cc -I"$made" "$@" -O0
