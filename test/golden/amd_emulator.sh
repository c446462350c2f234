# A few kernels of each AMD processor on the emulator, when there is one (AMDEMU_DIR, TINYGRAD_DIR); all of them:
# make conformance-amd.
sh "$ROOT/test/conformance/amd/run.sh" --build "$BIN/.." --short --seed 1
