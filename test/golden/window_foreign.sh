# Convolutions by wgmma whose groups share a block, on the CPU: infinite and NaN elements of one group reach no other one.
sh "$ROOT/test/conformance/amd/run.sh" ../nvptx/window.py --build "$BIN/.." --short --jobs 1 --kernel foreign
