C="$BIN/tuner-createlib"
mkdir logic empty
cp "$DATA"/tensile/logic/hip_Cijk_Ailk_Bljk_I8II_BH.yaml logic/
run() { "$C" "$@"; echo "exit $?"; }
run
run logic out OPENCL
run missing out HIP
run empty out HIP
run --lazy-library-loading logic out HIP
run --library-formt yaml logic out HIP
run --library-format json logic out HIP
run --num-merged-files 0 logic out HIP
run --architecture gfx9999 logic out HIP
run --embed-library
run --no-legacy-components --package-library --new-client-only --no-library-print-debug --metadata-only logic out HIP
printf -- '- {MinimumRequiredVersion: 5.0.0}\n' >logic/hip_bad.yaml
run --metadata-only logic out HIP
rm logic/hip_bad.yaml
{ sed '/^- null$/,$d' logic/hip_Cijk*; printf -- '- null\n- null\n- DeviceEfficiency\n- null\n- Ratio\n'; } >logic/hip_ratio.yaml
run --metadata-only logic out HIP; rm logic/hip_ratio.yaml
run -v 0 --strict --cxx-compiler /nonexistent/clang++ --architecture gfx906 logic out HIP
run --help
