# Programs over tiles that are written by hand: AMD kernels on the emulator, when there is one (AMDEMU_DIR, TINYGRAD_DIR).
sh "$ROOT/test/conformance/amd/run.sh" tile.py --build "$BIN/.." --only amd
