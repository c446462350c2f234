#!/bin/sh
# deb.sh [OUTDIR]: Debian packages of this tree, by dpkg-deb: tuner (programs, configs, scripts, manual pages, documentation),
# libtuner0 (the library that applications load), libtuner-dev (header, archive, pkg-config and CMake files) and
# python3-tuner. OUTDIR is build/deb unless given; B=dir is the build folder. DEB_MAINTAINER="Name <address>" says who made them.
set -e
[ $# -le 1 ] || { echo "usage: deb.sh [OUTDIR]" >&2; exit 2; }
cd "$(dirname "$0")/.."
build=${B:-build} out=${1:-${B:-build}/deb}
for tool in dpkg-deb dpkg-shlibdeps dpkg-architecture strip gzip; do
  command -v "$tool" >/dev/null || { echo "deb.sh: '$tool' is not installed: apt-get install dpkg-dev binutils gzip" >&2; exit 1; }
done
version=$(sed -n 's/.*TUNER_VERSION "\(.*\)"/\1/p' tuner/base/version.h)-1
major=${version%%.*}
arch=$(dpkg-architecture -qDEB_HOST_ARCH) multiarch=$(dpkg-architecture -qDEB_HOST_MULTIARCH)
maintainer=${DEB_MAINTAINER:-The tuner authors <authors@tuner.invalid>}
# The date of the newest commit, so that equal trees give equal packages.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH

mkdir -p "$out"
out=$(cd "$out" && pwd)
work=$(mktemp -d "$out/.work-XXXXXX")
trap 'rm -rf "$work"' EXIT
make -j"$(nproc)" B="$build" all >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
LIBDIR=lib/$multiarch DESTDIR=$work/all make B="$build" PREFIX=/usr install >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }

# move PACKAGE PATH...: takes what was installed into a package
move() {
  package=$1; shift
  for path in "$@"; do
    for f in "$work/all/usr"/$path; do
      [ -e "$f" ] || [ -L "$f" ] || { echo "deb.sh: package $package: '$path' was not installed" >&2; exit 1; }
      to=$work/$package/usr/$(dirname "${f#"$work"/all/usr/}")
      mkdir -p "$to"; mv "$f" "$to/"
    done
  done
}
move libtuner$major "lib/$multiarch/libtuner.so.*"
move libtuner-dev include "lib/$multiarch/libtuner.a" "lib/$multiarch/libtuner.so" "lib/$multiarch/pkgconfig" "lib/$multiarch/cmake"
move python3-tuner lib/python3
rm -f "$work/all/usr/share/doc/tuner/LICENSE" # its text stands in the packages' copyright file
move tuner bin share
left=$(find "$work/all" ! -type d)
[ -z "$left" ] || { echo "deb.sh: in no package: $left" >&2; exit 1; }

# Shared libraries that programs and the library need, in the words of Debian's packages.
mkdir "$work/debian"
printf 'Source: tuner\n\nPackage: tuner\nArchitecture: %s\n' "$arch" >"$work/debian/control"
needs() { (cd "$work" && dpkg-shlibdeps -O "$@" 2>/dev/null | sed -n 's/^shlibs:Depends=//p'); }

# package NAME SECTION ARCHITECTURE MULTI-ARCH DEPENDS SUMMARY; further lines of the description on standard input
package() {
  name=$1 root=$work/$1 doc=$work/$1/usr/share/doc/$1
  mkdir -p "$root/DEBIAN" "$doc"
  { printf 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: tuner\n\n'
    printf 'Files: *\nCopyright: %s\nLicense: Expat\n' "$(sed -n 's/^Copyright (c) //p' LICENSE)"
    sed -n '/^Permission/,$p' LICENSE | sed 's/^$/./; s/^/ /'; } >"$doc/copyright"
  { printf 'tuner (%s) unstable; urgency=medium\n\n  * Packages made by scripts/deb.sh.\n\n' "$version"
    printf ' -- %s  %s\n' "$maintainer" "$(date -u -R -d "@$SOURCE_DATE_EPOCH")"; } | gzip -9n >"$doc/changelog.Debian.gz"
  find "$root/usr" -type f -path '*/man/*' ! -name '*.gz' -exec gzip -9n {} +
  find "$root" -type d -exec chmod 755 {} +
  size=$(du -sk --apparent-size "$root/usr" | cut -f1)
  { printf 'Package: %s\nSource: tuner\nVersion: %s\nArchitecture: %s\n' "$1" "$version" "$3"
    printf 'Maintainer: %s\nInstalled-Size: %s\n' "$maintainer" "$size"
    [ -z "$5" ] || printf 'Depends: %s\n' "$5"
    if [ "$1" = tuner ]; then
      printf 'Suggests: clang, lld, nvidia-cuda-toolkit, %s\n' "libtuner-dev (= $version), python3-tuner (= $version)"; fi
    printf 'Section: %s\nPriority: optional\n' "$2"
    [ "$4" = no ] || printf 'Multi-Arch: %s\n' "$4"
    printf 'Description: %s\n' "$6"; sed 's/^/ /'; } >"$root/DEBIAN/control"
  (cd "$root" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
  dpkg-deb --root-owner-group -Zxz --build "$root" "$out" >/dev/null
}

find "$work"/tuner/usr/bin "$work/libtuner$major" -type f -exec strip --strip-unneeded --remove-section=.comment --remove-section=.note {} +
strip --strip-debug --enable-deterministic-archives "$work/libtuner-dev/usr/lib/$multiarch/libtuner.a"
mkdir -p "$work/libtuner$major/DEBIAN"
printf 'libtuner %s libtuner%s (>= %s)\n' "$major" "$major" "${version%-*}" >"$work/libtuner$major/DEBIAN/shlibs"
printf 'activate-noawait ldconfig\n' >"$work/libtuner$major/DEBIAN/triggers"
mkdir -p "$work/python3-tuner/DEBIAN"
printf '#!/bin/sh\nset -e\nrm -f /usr/lib/python3/dist-packages/__pycache__/tuner.*.pyc\n' >"$work/python3-tuner/DEBIAN/prerm"
chmod 755 "$work/python3-tuner/DEBIAN/prerm"
package libtuner$major libs "$arch" same "$(needs "$work"/libtuner$major/usr/lib/*/libtuner.so.*.*)" \
  'GEMM with tuned kernels, shared library' <<'END'
libtuner loads a library of tuned matrix kernels (TUNER_LIBPATH), selects a
kernel for every problem and runs it: on this CPU, on NVIDIA GPUs through
libcuda.so.1, on AMD GPUs through libamdhip64.so.
END
package libtuner-dev libdevel "$arch" same "libtuner$major (= $version), libc6-dev, libyaml-dev, libmd-dev" \
  'GEMM with tuned kernels, development files' <<'END'
Header, static library, pkg-config and CMake files for applications that call
libtuner.
END
package python3-tuner python all foreign "python3, libtuner$major (>= $version)" 'GEMM with tuned kernels, Python bindings' <<'END'
Calls libtuner through ctypes: on numpy arrays, and on objects with
__cuda_array_interface__, PyTorch's tensors among them.
END
# The kernels of the CPU are compiled while tuning: a C compiler is needed.
package tuner devel "$arch" no "$(needs "$work"/tuner/usr/bin/*), gcc | clang | c-compiler, libc6-dev" \
  'offline tuning of GPU and CPU matrix kernels' <<'END'
Makes thousands of variants of a matrix kernel from one YAML config, compiles
them, times them on the device, keeps the winner of every size, and packs a
library that applications load at run time. Configs, logic files and libraries
are those of AMD's Tensile.
.
Kernels for the CPU need a C compiler, those for AMD GPUs clang and lld, those
for NVIDIA GPUs NVRTC or nvcc.
END
ls "$out"/*.deb
