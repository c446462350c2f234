#!/usr/bin/env python3
"""Convolutions whose pixels and filters stay in shared memory (KeepWindow), on the CPU, against the definition of a convolution.

usage: keep.py [--build DIR] [--short] [--kernel NAME] [--jobs N]
Each kernel runs on pads, strides, dilation, filters of one element, images smaller and larger than a tile, groups of all sizes, and one
group's elements infinite and NaN; what has no room or no aligned pieces has to be refused. Prints each error and a line of counts. Exit
code 1 when something is wrong."""
import argparse
import shutil
import sys
import os

import convolutions as texts
import conv
import convolve

Conv = convolve.Conv
BASE = {'StaggerU': 0, 'KernelLanguage': 'Source', 'NvRing': 1, 'EdgeType': 'ShiftPtr', 'DepthU': 64, 'PrefetchGlobalRead': 1}


def tile(mi, room, piece):
    return {**BASE, 'MatrixInstruction': [16, 8, 16, 1, 1, *mi], 'KeepWindow': room, 'GlobalReadVectorWidth': piece}


TILES = {'small': tile([2, 4, 2, 1], 224, 8), 'tall': tile([1, 8, 4, 2], 160, 4), 'wide': {**tile([1, 4, 1, 4], 112, 2), 'DependentLaunch': True}, 'elements': tile([2, 4, 2, 2], 128, 1)}
PLAIN = [*[(n, x) for n, x in convolve.sizes(2, (24, 40)) if 'odd' not in n and 'one' not in n],
         ('5x5', Conv(2, 48, 64, (13, 11), 5, pad=2)), ('wide rows', Conv(1, 16, 8, (5, 150), 3, pad=1)),
         ('many images', Conv(40, 16, 16, (3, 2), 2, pad=1, pad_end=0)), ('several steps', Conv(2, 80, 24, (6, 7), (3, 1), pad=(1, 0))),
         ('uneven steps', Conv(1, 16, 16, (9, 11), 2, stride=3, dilation=2)),
         ('rows of one', Conv(3, 8, 16, (33, 1), (3, 1), stride=(2, 1), pad=(1, 0)))]
GROUPS = [('32 groups', Conv(2, 128, 128, (7, 6), 3, pad=1, groups=32)), ('depth-wise', Conv(1, 96, 96, (9, 8), 3, stride=2, pad=1, groups=96)),
          ('more rows', Conv(2, 24, 48, (6, 7), (3, 2), pad=(1, 0), groups=6)), ('8 groups', Conv(3, 64, 128, (5, 5), 3, pad=1, groups=8)),
          ('fewer rows', Conv(2, 64, 16, (5, 7), 3, pad=1, groups=8)), ('16 groups of 2', Conv(2, 32, 32, (9, 5), 3, dilation=2, pad=2, groups=16)),
          ('3 groups of 32', Conv(2, 96, 96, (6, 5), 3, pad=1, groups=3)), ('pairs', Conv(1, 96, 192, (7, 5), 3, pad=1, groups=96)),
          ('one group', Conv(1, 64, 64, (6, 5), 1, groups=1))]
REFUSED = [('odd channels', Conv(3, 5, 8, (6, 5), 3, pad=1)), ('much memory', Conv(1, 1536, 64, (9, 9), 3, pad=1))]
REFUSED_GROUPS = [('odd groups', Conv(1, 9, 9, (6, 5), 3, groups=3)), ('groups of 24', Conv(1, 72, 72, (6, 5), 3, groups=3))]


def refused(e, c, name, x):
    """Whether the launch has to refuse it; None: either."""
    mi, piece = e['solution']['MatrixInstruction'], e['solution']['GlobalReadVectorWidth']
    of_warp, forward = mi[5] * 16, c['direction'] == 'forward'
    rows, channels = (x.k, x.c) if forward else (x.c, x.k)
    of_group = rows // x.groups
    whole = x.groups == 1 or (of_warp % of_group == 0 if of_group < of_warp else of_group % of_warp == 0)
    if x.c // x.groups % piece or channels % 8 or not whole:
        return True
    return name == 'much memory' and forward


def given(short):
    """(entry of emit's list, case of conv.run)."""
    out = []

    def add(kind, name, direction, groups, list_, bad, **more):
        e, c = conv.case('sm_90a', kind, TILES[name] if groups else {**TILES[name], 'PackBatchDims': 1}, direction, 'NHWC', len(out), groups=groups,
                         packs=False, list_=list_ + bad, **more)
        what = f"{direction} {kind} {name}{' groups' if groups else ''}{' foreign ' + more['foreign'] if 'foreign' in more else ''}"
        out.append((dict(e, name=what.replace(' ', '_')), dict(c, what=what)))
    for i, name in enumerate(TILES):
        for direction in ('forward', 'data'):
            if short and i not in (0, 1):
                continue
            add(('HHS', 'BBS')[i % 2], name, direction, False, PLAIN, REFUSED)
            add(('BBS', 'HHS')[i % 2], name, direction, True, GROUPS, REFUSED_GROUPS)
    for i, name in enumerate(TILES):
        for direction in ('forward', 'data'):
            for operand in 'ab':
                if short and (i, direction) not in ((1, 'forward'), (3, 'data')):
                    continue
                add(('HHS', 'BBS')[i % 2], name, direction, True, GROUPS, [], foreign=operand)
    return out


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument('--build', default='build')
    p.add_argument('--short', action='store_true')
    p.add_argument('--kernel', default='')
    args = p.parse_args()
    compiler = shutil.which(os.environ.get('CXX', 'g++'))
    if not compiler:
        print('skipped: kept windows on the CPU: no g++')
        return 0
    kernels = texts.Kernels(args.build, compiler)
    todo = [t for t in given(args.short) if args.kernel in t[1]['what']]
    answers = conv.answers_of(todo, kernels.make)
    objects = kernels.compile(kernels.texts([a for a in answers if 'file' in a]))
    counts = conv.check_launches(todo, answers, lambda _: objects, texts.nv.Machine(texts.nv.Engine()), refused)
    kernels.close()
    return conv.report(len(todo), *counts)


if __name__ == '__main__':
    sys.exit(main())
