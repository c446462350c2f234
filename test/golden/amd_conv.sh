# Convolutions in machine code on the emulator, when there is one (AMDEMU_DIR, TINYGRAD_DIR): a few of each direction.
sh "$ROOT/test/conformance/amd/run.sh" conv.py --build "$BIN/.." --short
