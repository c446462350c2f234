#!/usr/bin/env python3
"""unwritten.py [--arch gfx906,gfx90a,gfx942,gfx1100] [--tuner FILE] CONFIG|FOLDER...: what configs ask of kernels that is not written.

Forks every config (of a folder: all .yaml files below it) for every architecture and prints a Markdown table: the solutions that
Tensile's rules accept and the kernel writer rejects, by reason and parameter, with the number of configs that have some. Files that
are no configs of today's format are counted. Exit code 2: there is no such file, or no config at all."""
import argparse
import collections
import json
import os
import re
import subprocess
import sys

LIMIT = 300     # seconds of one config
BY_PARAMETER = 'amd-value', 'amd-divisor'    # rules that are counted for each parameter
PARAMETER = re.compile(r'\b([A-Z]\w+) -?\d')


def files_of(paths):
    for path in paths:
        if os.path.isfile(path):
            yield path
        elif os.path.isdir(path):
            for folder, _, names in sorted(os.walk(path)):
                yield from (os.path.join(folder, n) for n in sorted(names) if n.endswith('.yaml'))
        else:
            print(f"unwritten.py: '{path}': no such file or folder", file=sys.stderr)
            sys.exit(2)


def groups_of(tuner, arch, path):
    """The size groups of a config as the tuner prints them, or None."""
    command = [tuner, '--list-solutions', '--reasons', '--json', '--arch', arch, path]
    try:
        r = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)
        return json.loads(r.stdout)['groups'] if r.returncode == 0 else None
    except (subprocess.TimeoutExpired, ValueError, KeyError):
        return None


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument('--arch', default='gfx906,gfx90a,gfx942,gfx1100')
    p.add_argument('--tuner', default=os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'build', 'bin', 'tuner'))
    p.add_argument('paths', nargs='+')
    args = p.parse_args()
    archs, paths = args.arch.split(','), list(files_of(args.paths))
    if not os.path.isfile(args.tuner):
        print(f"unwritten.py: there is no '{args.tuner}'", file=sys.stderr)
        return 2
    n = collections.defaultdict(collections.Counter)        # [reason][arch]: solutions
    configs, totals, text, no_config = collections.defaultdict(set), collections.Counter(), {}, set()
    for arch in archs:
        for path in paths:
            groups = groups_of(args.tuner, arch, path)
            if groups is None:
                no_config.add(path)
                continue
            for g in groups:
                totals[arch, 'valid'] += g['valid']
                totals[arch, 'not written'] += sum(u['count'] for u in g['unwritten'])
                for u in g['unwritten']:
                    # one row for what differs in numbers alone
                    which = PARAMETER.search(u['text']).group(1) if u['rule'] in BY_PARAMETER else ''
                    key = u['rule'], u['text'] if u['rule'] == 'kernel-writer' else which
                    text.setdefault(key, f"{u['rule']}, as in: {u['text']}")
                    n[key][arch] += u['count']
                    configs[key].add(path)
    if len(no_config) == len(paths):
        print('unwritten.py: none of these files is a config', file=sys.stderr)
        return 2
    print(f'{len(paths) - len(no_config)} configs, {len(no_config)} files that are none\n')
    print('| reason | configs | ' + ' | '.join(archs) + ' |\n| --- | --- |' + ' --- |' * len(archs))
    for what in ('valid', 'not written'):
        print(f'| {what} | | ' + ' | '.join(str(totals[a, what]) for a in archs) + ' |')
    for key in sorted(n, key=lambda k: -sum(n[k].values())):
        print(f'| {text[key]} | {len(configs[key])} | ' + ' | '.join(str(n[key][a] or '') for a in archs) + ' |')
    return 0


if __name__ == '__main__':
    sys.exit(main())
