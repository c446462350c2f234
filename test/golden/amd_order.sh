# The work-group order in machine code on the emulator, when there is one (AMDEMU_DIR, TINYGRAD_DIR).
sh "$ROOT/test/conformance/amd/run.sh" order.py --build "$BIN/.."
