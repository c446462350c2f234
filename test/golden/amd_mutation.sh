# Kernels of AMD processors with a fault in their text are found wrong on the emulator; many more: make conformance-mutation.
sh "$ROOT/test/conformance/amd/run.sh" mutation.py --build "$BIN/.." --short
