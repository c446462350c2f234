# Convolutions in the texts of NVIDIA kernels and in host kernels, on the CPU: a few of each direction.
sh "$ROOT/test/conformance/amd/run.sh" ../nvptx/convolutions.py --build "$BIN/.." --short
