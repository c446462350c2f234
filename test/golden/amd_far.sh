# Operands of more than 2^31 elements on the emulator, when there is one (AMDEMU_DIR, TINYGRAD_DIR).
sh "$ROOT/test/conformance/amd/run.sh" far.py --build "$BIN/.."
