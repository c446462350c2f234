# GPU compilers that are missing, of no use, dying or lying: each said in one line, recorded, the run ends.
fake() { # the body runs for compilations; $out is the object
  cat >clang-fake <<SH
#!/bin/sh
case "\$*" in *--version*) echo "clang version 19.1.7"; exit ;; *print-prog-name*) echo /bin/true; exit ;; esac
case "\$*" in *-fsyntax-only*) exit ;; esac
while [ "\$1" != -o ]; do shift; done; out=\$2
$1
SH
  chmod +x clang-fake; rm -rf out
}
run() { "$BIN/tuner" --compile-only "$@" "$DATA/run/gpu.yaml" out 2>&1 | sed "s,$PWD/,,g; s,$DATA/,," | grep '^tuner:'; }
reports() { run --arch "${1:-gfx906}" --cxx-compiler "$PWD/clang-fake"; "$BIN/tuner" log out TT4_4 | grep -v '^  \|^$\|^Cijk' | sort -u; }
echo "--- no such compiler"
run --arch gfx906 --cxx-compiler clang-1000
run --arch sm_90 --cxx-compiler nvcc-none
run --arch gfx9999
run --device cuda --arch gfx906
echo "--- one that never serves the architecture"
fake 'exit 0'; sed -i 's/19.1.7/15.0.6/' clang-fake
run --arch gfx1100 --cxx-compiler "$PWD/clang-fake"
fake 'exit 0'; sed -i 's/.*fsyntax-only.*/case "$*" in *-fsyntax-only*) echo "error: invalid target ID"; exit 1 ;; esac/' clang-fake
run --arch gfx1201 --cxx-compiler "$PWD/clang-fake"
echo "--- dies"
fake 'kill -SEGV $$'; reports | sed 's/--- source.*//' | grep -e '^tuner' -e ^result
echo "--- says what is wrong"
fake 'echo "k.hip:7:1: error: no registers left" >&2; exit 1'; reports | grep -e '^tuner' -e error:
echo "--- writes nothing"
fake 'exit 0'; reports | grep -e '^tuner' -e ^result
echo "--- writes garbage"
fake 'echo garbage >$out'; reports
echo "--- writes for another machine"
fake "{ printf '\\177ELF\\2\\1\\1'; head -c 11 /dev/zero; printf '\\76\\0'; head -c 44 /dev/zero; } >\$out"; reports
"$BIN/tuner" status out | grep -e kernels: -e refused | sort | uniq -c
echo "--- without a kernel"
fake "{ printf '\\177ELF\\2\\1\\1'; head -c 11 /dev/zero; printf '\\340\\0'; head -c 44 /dev/zero; } >\$out"; reports
