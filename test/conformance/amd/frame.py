"""What every conformance program on the emulator begins and ends with: its options, the emulator, a compiler, the
cache of kernels, the reason for skipping, and the exit code."""
import argparse

import emulate
import run

CLANG_LEAST = 19


def main(doc, what, check, files=None):
    """Calls check(emu, kernels, build) -> (lines that say what is wrong, summary line), prints both and returns the exit
    code: 1 when something is wrong. Prints 'skipped: WHAT on the emulator: why' and returns 0 without an emulator or a
    compiler, or when check raises OSError (memory that cannot be had). doc: the program's docstring; files: an option for files, which
    check gets as a fourth argument."""
    p = argparse.ArgumentParser(description=doc.splitlines()[0])
    p.add_argument('--build', default='build')
    p.add_argument('--short', action='store_true')
    if files:
        p.add_argument(files, dest='files', nargs='+', default=[])
    args = p.parse_args()
    build = args.build
    emu, why = emulate.load_emulator()
    compiler, version = run.newest_clang()
    if not emu or version < CLANG_LEAST:
        print(f'skipped: {what} on the emulator: {why or f"no clang {CLANG_LEAST} or newer"}')
        return 0
    kernels = emulate.Kernels(f'{build}/conformance/emit', compiler, f'{build}/conformance/amd.cache')
    try:
        wrong, summary = check(emu, kernels, build, *([args.files] if files else []))
    except OSError as e:
        print(f'skipped: {what} on the emulator: {e}')
        return 0
    finally:
        kernels.close()
    for line in wrong:
        print(line)
    print(summary)
    return 1 if wrong else 0
