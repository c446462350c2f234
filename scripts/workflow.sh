# shellcheck shell=sh
# For provision_tuning.sh, provision_verification.sh, run_validation.sh, analyze_results.sh and tune_all.sh to source: where the
# programs are, messages, and the options of Tensile's scripts of these names that have lost their meaning.
me=$(basename "$0") root=$(cd "$(dirname "$0")/.." && pwd)
bin=$root/build/bin; [ -d "$bin" ] || bin=${root%/share/tuner}/bin # installed
bin=${TUNER_BIN:-$bin} scripts=$root/scripts
[ -x "$bin/tuner" ] || { echo "$me: there is no '$bin/tuner': build it (make), or name its folder in TUNER_BIN" >&2; exit 2; }

say() { echo "$me: $*" >&2; }
usage() { say "$*, see $me --help"; exit 2; }
# The comment at the top of the script is its help
help_text() { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit 0; }
# needs_value OPTION N: N words are left, the option's included
needs_value() { [ "$2" -ge 2 ] || usage "$1: no value is given"; }
is_file() { [ -f "$2" ] || { say "$1: there is no file '$2'"; exit 2; }; }
is_dir() { [ -d "$2" ] || { say "$1: there is no directory '$2'"; exit 2; }; }
absolute() { case $1 in /*) echo "$1";; *) echo "$(pwd)/$1";; esac; }

# old_option OPTION: says why it is not needed; status 1: it is not one of these. Its value, where it had one, is in old_takes.
old_option() {
  old_takes=1
  case $1 in
    -f|--tensile-fork|-u|--username|--rocblas-fork|-b|--branch|--rocblas-branch|--tag|--commit) why="nothing is cloned: tuner is used as it is";;
    -p|--public|--no-tensile|--hcc|-d|--no-dependencies) why="nothing is cloned or installed, and compilers are found (tuner --cxx-compiler names one)" old_takes=0;;
    --rocm-path) why="compilers are found where they are installed; tuner --cxx-compiler names one";;
    --client) why="there is one client";;
    -m|--mfma) why="the search ranges of the config decide which kernels use matrix instructions (--base)" old_takes=0;;
    -c|--count) why="calls are timed in blocks that are long enough, whatever their number" old_takes=0;;
    -a|-t|--tile-aware) why="sizes that nobody tuned are chosen by the performance model" old_takes=0;;
    -v|--verification) why="every result is checked" old_takes=0;;
    --number) why="there is one script";;
    --sclk|--size|--gpu) why="efficiency is by the rates of the part that ran (tuner --list-targets); clocks are read, never set";;
    *) return 1;;
  esac
  say "$1 has no effect: $why"
}
no_replacement() { say "$1: there are no replacement kernels: kernels that are written by hand are CustomKernels of a config"; exit 2; }

# The architecture of one of Tensile's schedule names, or of an architecture's own name
arch_of() {
  case $1 in
    arcturus|mi100) echo gfx908;; vega20|mi50|mi60|r7) echo gfx906;; vega10|mi25|v340) echo gfx900;; r9nano) echo gfx803;;
    aldebaran|mi200) echo gfx90a;; aquavanjaram|mi300) echo gfx942;; navi31) echo gfx1100;; h200|h100) echo sm_90;; a100) echo sm_80;;
    hip) say "hip: a library for any device is tuned on one: name its architecture"; exit 2;;
    *) echo "$1";;
  esac
}
# A new file or an old one, never a part: write_to FILE COMMAND...
write_to() {
  to=$1; shift
  "$@" >"$to.tmp" || { rc=$?; rm -f "$to.tmp"; return $rc; }
  mv "$to.tmp" "$to"
}
# The worse of two exit codes: failed, bad input, no device, partial, ok
worse() {
  for code in 1 2 4 3; do
    [ "$1" != $code ] && [ "$2" != $code ] || { echo $code; return; }
  done
  case $1$2 in 00) echo 0;; *) echo 1;; esac
}
