# Conversions of 8-bit floats on the emulator, when there is one (AMDEMU_DIR, TINYGRAD_DIR).
sh "$ROOT/test/conformance/amd/run.sh" f8.py --build "$BIN/.."
