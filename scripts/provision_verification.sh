#!/bin/sh
# provision_verification.sh -w DIR -r TUNING [OPTION]...: the libraries to compare, before and with the results of a tuning.
#   -w, --working-path DIR   where everything is made
#   -r TUNING                directory of provision_tuning.sh, tuned; or the OUTDIR of a run of tuner
#       --logic DIR          logic in use, into which the new logic is merged; a rocBLAS tree is taken by -p
#   -p, --rocblas-path DIR   of that tree: library/src/blas3/Tensile/Logic/archive where massage follows, else asm_full/SCHEDULE
#       --reference LIB      library in use, ready made; else it is made of the logic in use
#   -l, --library NAME       vega20, arcturus, ..., or an architecture: what the tuning must be for
#   -n, --no-merge           the library of the new logic alone
#       --no-massage         no second copies of kernels for ldc other than ldd. They are made for gfx900 and gfx906, unless
#                            half precision is summed in single precision (as Tensile's script decides)
#       --weights LOG        calls of the application, for the report of the merge
#   -j, --jobs N             compilers at once
# Makes below DIR: library/exact (the new logic), library/merge, library/massage, library/reference (library in use),
# library/tensile_library (new library), logs/.
. "$(dirname "$0")/workflow.sh"
work= tuning= logic= in_use= rocblas= reference= arch= merge=1 massage=1 weights= jobs=
[ $# -gt 0 ] || usage "no options are given"
while [ $# -gt 0 ]; do
  case $1 in
    -h|--help) help_text;;
    -n|--no-merge) merge=0; shift; continue;;
    --no-massage) massage=0; shift; continue;;
    --redo) say "$1 has no effect: what is there is made again, unless it would be the same"; shift; continue;;
    -w|--working-path|-r|--logic|-p|--rocblas-path|--reference|-l|--library|--weights|-j|--jobs) needs_value "$1" $#;;
    -c|-t|-i|-s|--log-dir) say "$1 has no effect: nothing is cloned, and logs are in DIR/logs"; shift; [ $# -eq 0 ] || shift; continue;;
    *) old_option "$1" || usage "unknown option '$1'"; [ $old_takes = 0 ] || shift; [ $# -eq 0 ] || shift; continue;;
  esac
  case $1 in
    -w|--working-path) work=$2;;
    -r) tuning=$2;;
    --logic) logic=$2;;
    -p|--rocblas-path) rocblas=$2;;
    --reference) reference=$2;;
    -l|--library) arch=$(arch_of "$2") || exit 2;;
    --weights) weights=$2;;
    *) jobs=$2;;
  esac
  shift 2
done
[ -n "$work" ] && [ -n "$tuning" ] || usage "-w DIR and -r TUNING are needed"
[ ! -d "$tuning/tune" ] || tuning=$tuning/tune
is_dir -r "$tuning"
new=$tuning/3_LibraryLogic
set -- "$new"/*.yaml
[ -f "$1" ] || { say "-r: there is no logic in '$new': the tuning has not ended"; exit 2; }
[ -z "$weights" ] || is_file --weights "$weights"
[ -z "$jobs" ] || case $jobs in *[!0-9]*) usage "-j: '$jobs' is no number";; esac

# The architecture in the head of a logic file, in the list or the map form
logic_arch() { sed -n '1,20s/^\(- \|ArchitectureName: \)\({Architecture: \)\{0,1\}\(gfx[0-9a-f]*\|sm_[0-9a-z]*\|x86-64-v[0-9]\).*/\3/p' "$1" | head -1; }
tuned_for=$(logic_arch "$1")
case $tuned_for in gfx*) language=HIP;; sm_*) language=CUDA;; x86-*) language=HOST;; *) say "-r: '$1' names no architecture"; exit 2;; esac
for f in "$@"; do
  [ "$(logic_arch "$f")" = "$tuned_for" ] || { say "-r: '$f' is for $(logic_arch "$f"), '$1' for $tuned_for: expected one architecture"; exit 2; }
done
case $arch:$tuned_for in :*|host:x86-*) ;; *) [ "$arch" = "$tuned_for" ] || { say "-l $arch: the tuning in '$tuning' is for $tuned_for"; exit 2; };; esac
# gfx900 and gfx906, and no HHS
wants_massage() {
  [ $massage = 1 ] || return 1
  case $tuned_for in gfx900|gfx906) ;; *) return 1;; esac
  for f in "$@"; do case $f in *_HHS_*) say "no massage: $(basename "$f") sums half precision in single precision"; return 1;; esac; done
}
if wants_massage "$@"; then massage=1; else massage=0; fi
if [ -n "$rocblas" ]; then
  is_dir -p "$rocblas"
  [ -z "$logic" ] || usage "-p and --logic: only one of them is taken"
  schedule=$(sed -n '2s/^- //p; s/^ScheduleName: //p' "$1" | head -1 | tr -d '"')
  logic=$rocblas/library/src/blas3/Tensile/Logic/asm_full
  [ ! -d "$logic/$schedule" ] || logic=$logic/$schedule
  in_use=$logic # massaged where that is needed
  [ $massage = 0 ] || logic=$rocblas/library/src/blas3/Tensile/Logic/archive
  is_dir -p "$in_use"
fi
[ -z "$logic" ] || is_dir --logic "$logic"
: "${in_use:=$logic}"
[ -z "$reference" ] || [ -e "$reference" ] || { say "--reference: there is no '$reference'"; exit 2; }

lib=$work/library
mkdir -p "$lib" "$work/logs" || exit 1
# replace FROM TO: a whole new directory, or the old one
replace() {
  rm -rf "$2.tmp" && mkdir "$2.tmp" && cp "$1"/*.yaml "$2.tmp"/ && rm -rf "$2" && mv "$2.tmp" "$2"
}
# create LOGIC NAME: a library, of a rocBLAS tree for the tuned architecture alone; kernels that an earlier call compiled are not compiled again
create() {
  say "library/$2 of $1"
  "$bin/tuner-createlib" ${rocblas:+--architecture "$tuned_for"} ${jobs:+-j "$jobs"} --cache "$work/cache" "$1" "$lib/$2" $language \
    >"$work/logs/$2.txt" 2>&1 || { rc=$?; tail -3 "$work/logs/$2.txt" >&2; [ $rc = 3 ] || exit $rc; all=3; }
}
all=0 source=$lib/exact
# kernels of the run need not be compiled again
[ -d "$work/cache" ] || [ ! -d "$tuning/0_Build/cache" ] || { cp -R "$tuning/0_Build/cache" "$work/cache.tmp" && mv "$work/cache.tmp" "$work/cache"; }
replace "$new" "$lib/exact" || exit 1
if [ $merge = 1 ] && [ -n "$logic" ]; then
  rm -rf "$lib/merge"
  rc=0
  "$bin/tuner-logic" merge "$logic" "$lib/exact" "$lib/merge" -v 0 ${weights:+--weights "$weights"} >"$work/logs/merge.txt" || rc=$?
  tail -1 "$work/logs/merge.txt"
  case $rc in 0) ;; 3) all=3;; *) exit $rc;; esac
  source=$lib/merge
elif [ $merge = 1 ]; then
  say "there is no logic in use (--logic, -p): the new logic stands alone"
fi
if [ $massage = 1 ]; then
  rm -rf "$lib/massage"
  rc=0
  "$bin/tuner-logic" massage "$source" "$lib/massage" >"$work/logs/massage.txt" || rc=$?
  case $rc in 0) ;; 3) all=3;; *) exit $rc;; esac
  source=$lib/massage
fi
create "$source" tensile_library
if [ -n "$reference" ]; then
  rm -rf "$lib/reference"
  ln -s "$(absolute "$reference")" "$lib/reference" || exit 1
elif [ -n "$in_use" ]; then
  [ ! -L "$lib/reference" ] || rm "$lib/reference"
  create "$in_use" reference
else
  rm -rf "$lib/reference"
fi
exit $all
