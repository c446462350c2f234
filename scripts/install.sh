#!/bin/sh
# install.sh BUILD PREFIX PRIVATE_LIBS [--uninstall]: what 'make install' puts below $DESTDIR$PREFIX, or takes away again. The
# files stand here once: programs, libtuner with its header and pkg-config file, manual pages and completions (made by the
# programs themselves), configs, the scripts that work on runs of tuner, licence and README. Run from the repository root.
set -e
build=$1 prefix=$2 private=$3 mode=${4:-install}
[ $# -ge 3 ] && case $mode in install|--uninstall) ;; *) false;; esac ||
  { echo "usage: install.sh BUILD PREFIX PRIVATE_LIBS [--uninstall]" >&2; exit 2; }
case $prefix in /*) ;; *) echo "install.sh: PREFIX '$prefix', expected an absolute path" >&2; exit 2;; esac
to=${DESTDIR:-}$prefix
programs="tuner tuner-client tuner-bench tuner-logic tuner-createlib tuner-nvrtc"
scripts="bench_words.sh device_conformance.sh h200_results.sh h200_table.sh library_speed.sh pack_amd.sh spread.sh unseen_sizes.sh"

# put MODE FILE DESTINATION; a link stays one
put() {
  case $mode in --uninstall) rm -f "$to/$3"; return;; esac
  mkdir -p "$to/$(dirname "$3")"
  if [ -L "$2" ]; then cp -Pf "$2" "$to/$3"; else install -m "$1" "$2" "$to/$3"; fi
}
# text DESTINATION COMMAND...: what the command prints
text() {
  destination=$1; shift
  case $mode in --uninstall) rm -f "$to/$destination"; return;; esac
  mkdir -p "$to/$(dirname "$destination")"
  "$@" >"$to/$destination"
  chmod 644 "$to/$destination"
}
# Relocatable: all paths are relative to the file itself.
pkg_config() {
  printf '%s\n' 'prefix=${pcfiledir}/../..' 'libdir=${prefix}/lib' 'includedir=${prefix}/include' '' \
    'Name: tuner' 'Description: GEMM with tuned kernels' \
    "Version: $(sed -n 's/.*TUNER_VERSION "\(.*\)"/\1/p' tuner/base/version.h)" \
    'Cflags: -I${includedir}' 'Libs: -L${libdir} -ltuner' "Libs.private: $private"
}

for p in $programs; do
  put 755 "$build/bin/$p" "bin/$p"
  text "share/man/man1/$p.1" "$build/bin/$p" --help-man
  text "share/bash-completion/completions/$p" "$build/bin/$p" --help-completion bash
  text "share/zsh/site-functions/_$p" "$build/bin/$p" --help-completion zsh
done
for f in "$build"/lib/libtuner.*; do put 644 "$f" "lib/$(basename "$f")"; done
put 644 client/runtime/tuner.h include/tuner.h
put 644 scripts/tuner.py lib/python3/dist-packages/tuner.py
text lib/pkgconfig/tuner.pc pkg_config
for f in configs/*.yaml; do put 644 "$f" "share/tuner/$f"; done
for f in $scripts; do put 755 "scripts/$f" "share/tuner/scripts/$f"; done
put 644 scripts/strata.awk share/tuner/scripts/strata.awk
put 644 LICENSE share/doc/tuner/LICENSE
put 644 README.md share/doc/tuner/README.md
text share/doc/tuner/parameters.md "$build/bin/tuner" --help-params=md
case $mode in --uninstall)
  for d in share/tuner/configs share/tuner/scripts share/tuner share/doc/tuner; do rmdir "$to/$d" 2>/dev/null || true; done;;
esac
