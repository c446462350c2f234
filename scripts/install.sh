#!/bin/sh
# install.sh BUILD PREFIX PRIVATE_LIBS [--uninstall]: what 'make install' puts below $DESTDIR$PREFIX, or takes away again. The
# files stand here once: programs, libtuner with its header, pkg-config and CMake files, manual pages and completions (made by
# the programs themselves), configs, the scripts that work on runs of tuner, licence and documentation. Run from the repository
# root. LIBDIR: where libraries go below PREFIX, 'lib' unless set (lib/x86_64-linux-gnu in Debian packages).
set -e
build=$1 prefix=$2 private=$3 mode=${4:-install}
[ $# -ge 3 ] && case $mode in install|--uninstall) ;; *) false;; esac ||
  { echo "usage: install.sh BUILD PREFIX PRIVATE_LIBS [--uninstall]" >&2; exit 2; }
case $prefix in /*) ;; *) echo "install.sh: PREFIX '$prefix', expected an absolute path" >&2; exit 2;; esac
to=${DESTDIR:-}$prefix
lib=${LIBDIR:-lib}
case $lib in /*|*..*|'') echo "install.sh: LIBDIR '$lib', expected a path below PREFIX" >&2; exit 2;; esac
up=$(echo "$lib" | sed 's|[^/][^/]*|..|g') # from a folder in LIBDIR/.. back to PREFIX
version=$(sed -n 's/.*TUNER_VERSION "\(.*\)"/\1/p' tuner/base/version.h)
programs="tuner tuner-client tuner-bench tuner-logic tuner-createlib tuner-nvrtc"
scripts="analyze_results.sh conv_peer.sh device_conformance.sh device_order.sh device_tile.sh h200_results.sh h200_table.sh library_speed.sh many_devices.sh pack_amd.sh
  provision_tuning.sh provision_verification.sh run_validation.sh slurm.sbatch spread.sh stream_k_speed.sh tune_all.sh
  unseen_sizes.sh"

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
  printf '%s\n' "prefix=\${pcfiledir}/../$up" "libdir=\${prefix}/$lib" 'includedir=${prefix}/include' '' \
    'Name: tuner' 'Description: GEMM with tuned kernels' "Version: $version" \
    'Cflags: -I${includedir}' 'Libs: -L${libdir} -ltuner' "Libs.private: $private"
}
# CMake's find_package(tuner): targets tuner::tuner (shared) and tuner::static.
cmake_config() {
  cat <<EOF
get_filename_component(_tuner_prefix "\${CMAKE_CURRENT_LIST_DIR}/../../$up" ABSOLUTE)
include(CMakeFindDependencyMacro)
find_dependency(Threads)
if(NOT TARGET tuner::tuner)
  add_library(tuner::tuner SHARED IMPORTED)
  set_target_properties(tuner::tuner PROPERTIES
    IMPORTED_LOCATION "\${_tuner_prefix}/$lib/libtuner.so.$version"
    IMPORTED_SONAME "libtuner.so.${version%%.*}"
    INTERFACE_INCLUDE_DIRECTORIES "\${_tuner_prefix}/include")
  add_library(tuner::static STATIC IMPORTED)
  set_target_properties(tuner::static PROPERTIES
    IMPORTED_LOCATION "\${_tuner_prefix}/$lib/libtuner.a"
    INTERFACE_INCLUDE_DIRECTORIES "\${_tuner_prefix}/include"
    INTERFACE_LINK_LIBRARIES "$(echo "$private" | sed 's/ *-pthread/ Threads::Threads/; s/-l//g; s/^ *//; s/  */;/g')")
endif()
unset(_tuner_prefix)
EOF
}
# A version of the same major number (the soname) that is not older will do.
cmake_version() {
  cat <<EOF
set(PACKAGE_VERSION "$version")
set(PACKAGE_VERSION_COMPATIBLE FALSE)
set(PACKAGE_VERSION_EXACT FALSE)
if(PACKAGE_FIND_VERSION VERSION_EQUAL PACKAGE_VERSION)
  set(PACKAGE_VERSION_EXACT TRUE)
endif()
if(PACKAGE_FIND_VERSION_MAJOR EQUAL ${version%%.*} AND NOT PACKAGE_FIND_VERSION VERSION_GREATER PACKAGE_VERSION)
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
EOF
}

# The comment at the top of a script of the workflow is its manual page.
script_man() {
  help=$(sed -n '2,/^[^#]/s/^# \{0,1\}//p' "scripts/$1" | sed 's/\\/\\e/g; s/-/\\-/g; s/^[.'"'"']/\\\&&/')
  first=$(echo "$help" | head -1)
  printf '.TH %s 1\n.SH NAME\n%s \\- %s\n' "$(echo "$1" | tr a-z A-Z)" "$1" "${first#*: }"
  printf '.SH SYNOPSIS\n%s\n.SH OPTIONS\n.nf\n%s\n.fi\n' "${first%%: *}" "$(echo "$help" | sed 1d)"
}

for p in $programs; do
  put 755 "$build/bin/$p" "bin/$p"
  text "share/man/man1/$p.1" "$build/bin/$p" --help-man
  text "share/bash-completion/completions/$p" "$build/bin/$p" --help-completion bash
  text "share/zsh/site-functions/_$p" "$build/bin/$p" --help-completion zsh
done
for f in "$build"/lib/libtuner.*; do put 644 "$f" "$lib/$(basename "$f")"; done
put 644 client/runtime/tuner.h include/tuner.h
put 644 scripts/tuner.py lib/python3/dist-packages/tuner.py
text "$lib/pkgconfig/tuner.pc" pkg_config
text "$lib/cmake/tuner/tuner-config.cmake" cmake_config
text "$lib/cmake/tuner/tuner-config-version.cmake" cmake_version
for f in configs/*.yaml configs/tile/*.tile; do put 644 "$f" "share/tuner/$f"; done
put 644 test/data/search/h200_hgemm_list.yaml share/tuner/configs/lists/h200_hgemm_list.yaml # stream_k_speed.sh reads it
for f in analyze_results.sh provision_tuning.sh provision_verification.sh run_validation.sh tune_all.sh; do
  text "share/man/man1/$f.1" script_man $f
done
for f in $scripts; do put 755 "scripts/$f" "share/tuner/scripts/$f"; done
for f in bench_words.sh order_figures.py sizes_filter.awk strata.awk workflow.sh; do put 644 "scripts/$f" "share/tuner/scripts/$f"; done # other scripts read them
put 644 LICENSE share/doc/tuner/LICENSE
# The pages keep their folders, so that the links between them hold.
for f in README.md tuner/README.md tuner/space/README.md tuner/kernel/README.md client/README.md logic/README.md \
  createlib/README.md test/README.md; do put 644 "$f" "share/doc/tuner/$f"; done
put 644 tuner/report/page/report.png share/doc/tuner/tuner/report/page/report.png
text share/doc/tuner/parameters.md "$build/bin/tuner" --help-params=md
case $mode in --uninstall)
  for d in share/tuner/configs/tile share/tuner/configs/lists share/tuner/configs share/tuner/scripts share/tuner share/doc/tuner/tuner/space share/doc/tuner/tuner/kernel \
    share/doc/tuner/tuner/report/page share/doc/tuner/tuner/report share/doc/tuner/tuner share/doc/tuner/client share/doc/tuner/logic share/doc/tuner/createlib share/doc/tuner/test \
    share/doc/tuner "$lib/cmake/tuner"; do rmdir "$to/$d" 2>/dev/null || true; done;;
esac
