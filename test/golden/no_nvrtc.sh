# Tests that need NVRTC are skipped where it is not: a build folder whose tuner-nvrtc finds none.
mkdir -p none/bin
cp "$BIN/tuner" none/bin
printf '#!/bin/sh\necho "tuner-nvrtc: no libnvrtc.so" >&2\nexit 1\n' >none/bin/tuner-nvrtc
chmod +x none/bin/tuner-nvrtc
B=$PWD/none
cd "$ROOT" && LANES=1 sh test/golden/run.sh "$B" createlib_nv nvptx_ring nvrtc_errors
