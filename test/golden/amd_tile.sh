# Programs over tiles that are written by hand: AMD kernels on the emulator, when there is one (AMDEMU_DIR, TINYGRAD_DIR), and
# NVIDIA kernels on the CPU.
sh "$ROOT/test/conformance/amd/run.sh" tile.py --build "$BIN/.."
