# Code object version 2 of an old command line, for which a compiler makes the nearest.
"$BIN/tuner-createlib" -v 0 --architecture gfx906 --code-object-version V2 --cxx-compiler hcc "$DATA"/tensile/logic/hip* lib HIP >log 2>&1
e=$?
if grep -q 'no compiler for' log && [ $e != 0 ]; then echo "skipped: $(grep -m1 'no compiler for' log)"; exit; fi
echo "exit $e"; od -An -tu1 -j8 -N1 lib/library/*.hsaco | tr -d ' ' | sed 's/^[12]$/V3 or V4/'
