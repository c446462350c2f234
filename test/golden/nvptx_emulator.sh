# A few NVIDIA kernels of most types on the CPU, functions in place of their instructions; all of them: make conformance-nvptx.
sh "$ROOT/test/conformance/amd/run.sh" ../nvptx/emulate.py --build "$BIN/.." --short
