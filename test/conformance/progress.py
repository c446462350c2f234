"""Progress of long loops on standard error: a line that is redrawn on a terminal, else one every 15 seconds."""
import sys
import time

EVERY_TERMINAL, EVERY_FILE = 0.2, 15


def each(items, step, total, quiet=False):
    """The items; prints the number of finished items, the rate and the remaining time."""
    terminal = sys.stderr.isatty()
    start = said = time.time()
    done = 0
    if not quiet:
        print(f'{step}: {total} to do', end='' if terminal else '\n', file=sys.stderr, flush=True)
    for item in items:
        yield item
        done += 1
        now = time.time()
        if quiet or now - said < (EVERY_TERMINAL if terminal else EVERY_FILE):
            continue
        said = now
        left = int((now - start) / done * (total - done))
        print(f'\r{step}: {done}/{total}, {done / (now - start):.1f}/s, {left // 60}:{left % 60:02} left\033[K' if terminal else
              f'{step}: {done}/{total}, {done / (now - start):.1f}/s, {left // 60}:{left % 60:02} left',
              end='' if terminal else '\n', file=sys.stderr, flush=True)
    if terminal and not quiet:
        print('\r\033[K', end='', file=sys.stderr, flush=True)
