# Libraries for AMD GPUs on the emulator, when there is one: tuned with helper kernels, for arrays of pointers, of a rocBLAS
# logic file; all of them: make conformance-amd.
sh "$ROOT/test/conformance/amd/run.sh" library_run.py --build "$BIN/.." --short
