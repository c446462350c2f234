# Kernels and libraries for GPUs without a device: what is written where, what is known of a kernel, one compiler call each.
run() { "$BIN/tuner" --compile-only "$@" "$DATA/run/gpu.yaml" out >log 2>&1; code=$?; grep '^tuner:' log; return $code; }
if ! run --arch gfx906 >/dev/null; then echo "skipped: $(grep '^tuner:' log)"; exit; fi
files() { (cd out && find . -type f | grep -v -e /cache/ -e tuning. | sort); }
G=out/1_BenchmarkProblems/Cijk_Ailk_Bljk_SB_00/00_Final
files
grep -e code-object -e ^device $G/source/ClientParameters.ini
grep CodeObject $G/cache.yaml
echo "--- facts: LDS, scratch, spills, arguments, threads; FMAs of the main loop"
cut -d, -f1,5,6,7,9,10 $G/kernels.csv
tail -n +2 $G/kernels.csv | awk -F, '{ if ($2 > 8 && $2 < 129 && $4 > 8 && $11 >= 2 && $12 > 1000 && $16 >= 128) print "plausible"; else print }'
echo "--- again: nothing is compiled, the same code object comes out"
sum=$(cksum <$G/source/library/TensileLibrary_gfx906.co); mv out/0_Build/cache old; mkdir -p out/0_Build; mv old out/0_Build/cache
objects=$(find out/0_Build/cache -name '*.o' | wc -l)
run --arch gfx906; echo "$((objects)) objects, then $(find out/0_Build/cache -name '*.o' | wc -l)"
[ "$sum" = "$(cksum <$G/source/library/TensileLibrary_gfx906.co)" ] && echo same
echo "--- kernels that spill"
compiler=$("$BIN/tuner" --compile-only --arch gfx906 --global-parameters PrintLevel=1 -- "$DATA/run/gpu.yaml" out 2>&1 |
  sed -n 's/compiler for gfx906: \([^ ]*\) .*/\1/p')
cat >spiller <<SH
#!/bin/sh
for a; do case \$a in *.hip) [ -f "\$a" ] && sed -i 's/__attribute__((global/&, amdgpu_num_vgpr(24)/' "\$a" ;; esac; done
exec $compiler "\$@"
SH
chmod +x spiller
rm -rf out; run --arch gfx906 --cxx-compiler "$PWD/spiller"
"$BIN/tuner" log out TT4_4 | grep spills | sed 's/[0-9][0-9]*/N/g' | sort -u
rm -rf out; run --arch gfx906 --cxx-compiler "$PWD/spiller" --allow-spills; echo "exit $?, $(tail -n +2 $G/kernels.csv | awk -F, '$7 > 0' | wc -l) spill"
echo "--- a size-group without kernels"
awk '/ProblemSizes/ { print; getline; print; getline; print
  print "    - BenchmarkCommonParameters: [{KernelLanguage: [Source]}]"
  print "      ForkParameters: [{WorkGroup: [[16, 16, 1]]}, {ThreadTile: [[4, 4]]}, {DepthU: [16]}]"
  print "      BenchmarkFinalParameters: [{ProblemSizes: [{Exact: [64, 48, 1, 40]}]}]"; next } { print }' "$DATA/run/gpu.yaml" >two.yaml
cat >picky <<SH
#!/bin/sh
for a; do case \$a in *.hip) [ -f "\$a" ] && grep -q MT64x64 "\$a" && { echo "error: not this tile" >&2; exit 1; } ;; esac; done
exec $compiler "\$@"
SH
chmod +x picky; rm -rf out
"$BIN/tuner" --compile-only --arch gfx906 --cxx-compiler "$PWD/picky" two.yaml out 2>&1; echo "exit $?"
ls out/1_BenchmarkProblems/*/00_Final/source/library
"$BIN/tuner" status out | grep -e "^  kernels:" -e "^    .*failed"
