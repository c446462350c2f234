# Fp16AltImpl on the emulator, when there is one (AMDEMU_DIR, TINYGRAD_DIR): half multiplied as bf16, denormals included.
sh "$ROOT/test/conformance/amd/run.sh" fp16_alt.py --build "$BIN/.."
