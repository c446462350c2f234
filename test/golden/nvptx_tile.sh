# Programs over tiles that are written by hand: NVIDIA kernels on the CPU.
sh "$ROOT/test/conformance/amd/run.sh" tile.py --build "$BIN/.." --only nvptx
