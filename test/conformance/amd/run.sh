#!/bin/sh
# run.sh ARGUMENTS...: run.py with a Python that has numpy
here=$(dirname "$0")
for python in "${PYTHON:-python3}" /usr/bin/python3; do
  "$python" -c 'import numpy' 2>/dev/null && exec "$python" "$here/run.py" "$@"
done
echo "skipped: AMD kernels on the emulator: no python3 with numpy"
