#!/usr/bin/env python3
"""Convolutions by wgmma on the CPU: pixels and filters that the copy engine loads as windows, against the definition of a convolution.

usage: window.py [--build DIR] [--short] [--jobs N]
Each kernel runs on pads (unequal ones too), strides, dilation, 1x1 filters, images smaller and larger than a tile; channels that the copy
engine cannot read have to be refused. Prints each error and a line of counts. Exit code 1 when something is wrong."""
import argparse
import concurrent.futures
import importlib.util
import os
import re
import shutil
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'amd'))     # where another module is called emulate, too
texts = importlib.util.spec_from_file_location('texts', os.path.join(HERE, 'emulate.py'))
emulate = importlib.util.module_from_spec(texts)
texts.loader.exec_module(emulate)
import conv
import convolve
import numpy as np
import progress

Conv = convolve.Conv
BASE = {'StaggerU': 0, 'PersistentKernel': 1, 'PersistentKernelAlongBatch': True, 'KernelLanguage': 'Source'}
PACKED = {**BASE, 'PackBatchDims': 1}


def solutions(k):
    """By elements of K of an instruction."""
    return {'cooperative': {**PACKED, 'MatrixInstruction': [64, 64, k, 1, 1, 1, 1, 2, 1]},
            'lag': {**PACKED, 'MatrixInstruction': [64, 64, k, 1, 1, 1, 1, 2, 1], 'ConsumerLag': 2},
            'ping-pong': {**PACKED, 'MatrixInstruction': [64, 96, k, 1, 1, 1, 1, 1, 1], 'ConsumerSchedule': 'PingPong', 'DepthU': 8 * k},
            'images': {**BASE, 'MatrixInstruction': [64, 64, k, 1, 1, 1, 1, 1, 1], 'StaggerU': 4},
            'swapped': {**PACKED, 'MatrixInstruction': [64, 64, k, 1, 1, 1, 2, 1, 1], 'SourceSwap': True},
            'half lines': {**PACKED, 'MatrixInstruction': [96, 64, k, 1, 1, 1, 1, 1, 1], 'ConsumerSchedule': 'PingPong'},
            'lines of 160': {**PACKED, 'MatrixInstruction': [160, 64, k, 1, 1, 1, 1, 1, 2], 'ClusterM': 2},
            'elements': {**PACKED, 'MatrixInstruction': [64, 64, k, 1, 1, 1, 1, 2, 1], 'EngineStore': False},
            'cluster': {**PACKED, 'MatrixInstruction': [64, 64, k, 1, 1, 1, 1, 2, 1], 'ClusterM': 2, 'ClusterN': 1},
            'cluster along N': {**PACKED, 'MatrixInstruction': [64, 64, k, 1, 1, 1, 1, 1, 1], 'ClusterN': 2, 'ConsumerSchedule': 'PingPong'},
            'cluster of both': {**PACKED, 'MatrixInstruction': [64, 128, k, 1, 1, 1, 1, 2, 1], 'ClusterN': 2, 'ClusterM': 2, 'EngineStore': False},
            'split': {**PACKED, 'MatrixInstruction': [64, 64, k, 1, 1, 1, 1, 2, 1], 'GlobalSplitU': 3, 'MinKForGSU': 16,
                      'GlobalSplitUAlgorithm': 'MultipleBufferSingleKernel'},
            'shares': {**BASE, 'PackBatchDims': 1, 'MatrixInstruction': [64, 64, k, 1, 1, 1, 1, 1, 1], 'StreamK': 2, 'PersistentKernel': 0},
            'parts of K': {**PACKED, 'MatrixInstruction': [64, 64, k, 1, 1, 1, 1, 2, 1], 'ClusterK': 2}}


def sizes(c, k):
    """(name, convolution)."""
    return [*[(n, x) for n, x in convolve.sizes(2, (c, k)) if 'odd' not in n and 'one' not in n],
            ('several chunks', Conv(2, 9 * c, k, (5, 6), 3, pad=1)),
            ('wide', Conv(3, c, 2 * k, (17, 19), (3, 5), pad=(1, 2), pad_end=(1, 0))),
            ('pixels of no tap', Conv(1, c, k, (9, 9), 1, stride=(2, 4))),
            ('many images', Conv(40, c, k, (3, 2), 2, pad=1, pad_end=0))]


ODD = [('odd channels', Conv(3, 5, 8, (6, 5), 3, pad=1)), ('odd rows', Conv(3, 8, 5, (6, 5), 3, pad=1)),
           ('far steps', Conv(1, 8, 8, (40, 40), 1, stride=9)), ('far pads', Conv(1, 8, 8, (5, 5), 3, pad=130))]
REFUSED = {'forward': ['odd channels', 'far steps', 'far pads'], 'data': ['odd channels', 'odd rows'], 'weights': [n for n, _ in ODD]}
KINDS = {'HHS': 16, 'BBS': 16, 'HSS': 16, 'X': 8, 'I8II': 32}
# In CHWN images are contiguous: a product for each output position.
IMAGES = [('images', Conv(72, 5, 40, (5, 6), 3, pad=1)), ('images, stride 2', Conv(24, 3, 16, (6, 7), (2, 3), stride=2, pad=(1, 0), pad_end=1)),
          ('images, dilation 2', Conv(8, 20, 8, (7, 6), 3, dilation=2, pad=2))]
# PackOperands: few channels as lines of pixels; groups of few channels as blocks.
LINES = [('7x7, stride 2', Conv(2, 3, 64, (20, 22), 7, stride=2, pad=3)), ('3x3', Conv(2, 3, 40, (9, 10), 3, pad=1)),
         ('one channel', Conv(3, 1, 16, (12, 9), 5, stride=(3, 2), pad=(2, 1), pad_end=(0, 3))),
         ('stride 4', Conv(1, 4, 24, (19, 23), 11, stride=4, pad=2)), ('1x1, stride 2', Conv(2, 5, 8, (7, 8), 1, stride=2)),
         ('filter along H', Conv(2, 6, 8, (11, 5), (4, 1), dilation=(2, 3), pad=(3, 0))), ('no pad', Conv(1, 3, 72, (30, 31), (6, 5), stride=(2, 1))),
         ('one output', Conv(2, 3, 8, (3, 3), 3)), ('dilation 2', Conv(1, 3, 8, (9, 9), 3, dilation=2, pad=2)),
         ('odd rows', Conv(3, 8, 5, (6, 5), 3, pad=1)), ('several chunks', Conv(1, 20, 8, (12, 11), 5, pad=2))]
# The same where the kernel makes the lines: rows are multiples of 16 bytes.
ROWS = [('7x7, stride 2', Conv(2, 3, 64, (20, 24), 7, stride=2, pad=3)), ('3x3', Conv(2, 3, 40, (9, 16), 3, pad=1)),
        ('one channel', Conv(3, 1, 16, (12, 16), 5, stride=(3, 2), pad=(2, 1), pad_end=(0, 3))),
        ('stride 4', Conv(1, 4, 24, (19, 24), 11, stride=4, pad=2)), ('small images', Conv(9, 2, 16, (5, 8), 3, pad=1)),
        ('filter along H', Conv(2, 6, 8, (11, 8), (4, 1), dilation=(2, 3), pad=(3, 0))),
        ('no pad', Conv(1, 3, 72, (30, 32), (6, 5), stride=(2, 1))), ('one output', Conv(2, 4, 8, (3, 4), (3, 4))),
        ('columns that nothing reads', Conv(2, 3, 8, (9, 16), 2, stride=3)), ('several chunks', Conv(1, 20, 8, (12, 12), 5, pad=2)),
        ('many blocks', Conv(4, 3, 8, (15, 24), 3, pad=1)), ('odd pixels', Conv(2, 3, 16, (6, 5), 3, pad=1)),
        ('dilation 2', Conv(1, 3, 8, (9, 16), 3, dilation=2, pad=2)),
        ('long rows', Conv(1, 64, 8, (12, 160), 5, pad=2))]
BLOCKS = [('32 groups', Conv(2, 128, 128, (7, 6), 3, pad=1, groups=32)), ('depth-wise', Conv(1, 96, 96, (9, 8), 3, stride=2, pad=1, groups=96)),
          ('more rows', Conv(2, 24, 48, (6, 7), (3, 2), pad=(1, 0), groups=6)), ('all groups', Conv(3, 16, 8, (5, 5), 3, pad=1, groups=2)),
          ('12 groups of 24', Conv(1, 288, 96, (6, 5), 3, dilation=2, pad=2, groups=12)), ('odd groups', Conv(1, 9, 9, (6, 5), 3, groups=3)),
          ('one group', Conv(1, 64, 64, (6, 5), 1, groups=1))]
GROUPS = [('2 groups', Conv(2, 128, 128, (7, 6), 3, pad=1, groups=2)), ('3 groups, stride 2', Conv(1, 192, 240, (9, 8), 3, stride=2, pad=1, groups=3)),
          ('one group', Conv(2, 72, 40, (6, 5), 1, groups=1)), ('channels between', Conv(2, 80, 80, (6, 5), 1, groups=2))]
SIDES = [('wide groups', Conv(2, 144, 160, (7, 9), 3, pad=1, groups=2)), ('rows alone', Conv(3, 8, 200, (6, 5), (1, 3), stride=(2, 1), groups=8)),
         ('8 groups of 24', Conv(2, 192, 64, (5, 6), (3, 1), pad=(1, 0), groups=8))]
FILTERS = [('3 rows', Conv(2, 3, 64, (12, 13), 7, stride=2, pad=3)), ('3 rows, stride 1', Conv(2, 3, 72, (9, 10), 3, pad=1)),
           ('odd channels', Conv(1, 5, 40, (7, 8), 3, pad=1)), ('one row', Conv(1, 1, 16, (9, 8), 5, pad=2))]
# WindowTaps: taps of a line whose pixels are loaded once, three of them and five.
TAPS = {3: [('3x3', Conv(2, 72, 40, (9, 10), 3, pad=1)), ('no pad', Conv(3, 72, 40, (8, 11), 3)), ('pads that differ', Conv(2, 24, 40, (7, 9), (2, 3), pad=(1, 2), pad_end=0)),
            ('pads at the end', Conv(1, 8, 16, (6, 7), (1, 6), pad=(0, 1), pad_end=(0, 3))), ('dilation', Conv(2, 72, 24, (9, 12), 3, dilation=(1, 3), pad=(1, 3))),
            ('full pads', Conv(1, 8, 8, (5, 6), 3, pad=2)), ('steps along H', Conv(2, 16, 24, (9, 8), 3, stride=(2, 1), pad=1)),
            ('small images', Conv(40, 8, 8, (3, 2), 3, pad=1)), ('long lines', Conv(2, 72, 136, (5, 90), 3, pad=1)), ('9 taps', Conv(1, 24, 8, (6, 12), (1, 9), pad=(0, 4))),
            ('2 taps', Conv(2, 8, 8, (7, 8), (3, 2), pad=1)), ('steps along W', Conv(2, 8, 8, (7, 8), 3, stride=(1, 2), pad=1)), ('far taps', Conv(1, 8, 8, (12, 25), 3, dilation=5, pad=5))],
        5: [('5x5', Conv(2, 48, 64, (11, 13), 5, pad=2)), ('one line of taps', Conv(1, 72, 24, (4, 30), (1, 5), pad=(0, 3), pad_end=(0, 1))),
            ('3 taps', Conv(2, 8, 8, (7, 8), 3, pad=1))]}
REFUSED.update({'several 3': [n for n, _ in TAPS[3][-3:]], 'several 5': ['3 taps'], 'lines of taps': ['dilation 2', 'odd rows'], 'blocks of taps': ['odd groups', 'one group', 'wide groups'], 'groups of taps': [],
                'lines': ['dilation 2'], 'rows': ['odd pixels', 'dilation 2', 'long rows'], 'rows of taps': ['odd pixels', 'dilation 2', 'long rows'], 'filters': [], 'blocks': ['odd groups', 'one group'], 'groups': ['channels between']})

SHORT = {('HHS', 'cooperative'), ('BBS', 'cluster of both'), ('HSS', 'ping-pong')}
conv.STORE.update({'HSS': (np.float16, np.float32, 1e-5), 'X': (np.float32, np.float32, 1e-5)})


def given(short):
    """(entry of emit's list, case of conv.run), and how many sizes at its end have to be refused."""
    for kind, k in KINDS.items():
        for name, s in solutions(k).items():
            if short and (kind, name) not in SHORT:
                continue
            channels = (80, 48) if kind == 'I8II' else (64, 136) if name == 'images' else (168, 24) if name == 'lines of 160' else (72, 40)
            for direction in convolve.DIRECTIONS:
                if direction == 'weights':      # whole rows of 128 bytes along N
                    s = {**s, 'PackBatchDims': 1, 'MatrixInstruction': [128 if i == 1 and m == 96 else m for i, m in
                                                                        enumerate(s['MatrixInstruction'])]}
                what = f'{direction} {kind} {name}'
                if direction != 'forward' and kind in ('X', 'I8II'):
                    continue        # the instruction reads K strided in 16-bit types alone
                if name == 'lines of 160' and (kind, direction) != ('HHS', 'data'):
                    continue
                e, c = conv.case('sm_90a', kind, s, direction, 'NHWC', 0, list_=sizes(*channels) + ODD)
                yield dict(e, name=re.sub('[- ]', '_', what), apart=False), dict(c, what=what)
    for kind, (name, s) in zip(('HHS', 'BBS', 'HSS'), list(solutions(16).items()) if not short else []):
        e, c = conv.case('sm_90a', kind, s, 'forward', 'NHWC', 0, filters='CYXK', list_=sizes(72, 40) + ODD)
        yield dict(e, name=f'CYXK_{kind}', apart=False), dict(c, what=f'CYXK {kind} {name}')
    for kind, name in zip(('HHS', 'BBS', 'HSS'), ('cooperative', 'cluster of both', 'shares') if not short else ()):
        e, c = conv.case('sm_90a', kind, solutions(16)[name], 'forward', 'CHWN', 0, list_=IMAGES)
        yield dict(e, name=f'CHWN_{kind}', apart=False), dict(c, what=f'CHWN {kind} {name}')


def copied(short):
    """The same of kernels that read copies, and of groups."""
    forms = {'lines': (LINES, {'PackOperands': 3}), 'blocks': (BLOCKS, {'PackOperands': 2}), 'groups': (GROUPS, {})}
    for form, (list_, more) in forms.items():
        for kind, name in (('HHS', 'ping-pong'), ('BBS', 'cluster of both'), ('HSS', 'swapped'), ('X', 'cooperative'), ('I8II', 'split'),
                           ('HHS', 'shares'), ('HHS', 'images'), ('BBS', 'cluster along N')):
            if kind in ('X', 'I8II') and form != 'lines' or short and name != 'ping-pong':
                continue
            s = {**solutions(KINDS[kind])[name], **more}
            if form != 'lines':
                s.pop('PackBatchDims', None)
                s['DepthU'] = 4 * KINDS[kind]
            for filters in ('KYXC', 'CYXK') if name in ('ping-pong', 'swapped') else ('KYXC',):
                for direction in ('forward', 'data') if form != 'lines' and name in ('shares', 'cluster along N') else ('forward',):
                    e, c = conv.case('sm_90a', kind, s, direction, 'NHWC', 0, filters=filters, groups=form != 'lines', list_=[
                        (n, x) for n, x in list_ if direction == 'forward' or max(x.stride) == 1])
                    what = f'{form} {direction} {filters} {kind} {name}'
                    yield dict(e, name=re.sub('[- ]', '_', what), apart=False), dict(c, what=what, form=form)


def of_rows(short):
    """Kernels whose threads make lines of pixels, forward and weights."""
    for kind, name, direction, filters in (
            ('HHS', 'ping-pong', 'forward', 'KYXC'), ('HHS', 'split', 'weights', 'KYXC'), ('BBS', 'swapped', 'forward', 'CYXK'),
            ('HSS', 'cooperative', 'forward', 'KYXC'), ('BBS', 'images', 'forward', 'KYXC'), ('HHS', 'elements', 'forward', 'KYXC'),
            ('BBS', 'shares', 'forward', 'KYXC'), ('HHS', 'split', 'forward', 'KYXC'), ('BBS', 'wide', 'weights', 'KYXC'),
            ('HSS', 'shares', 'weights', 'KYXC'), ('HHS', 'deep', 'weights', 'KYXC'), ('BBS', 'swapped', 'weights', 'KYXC')):
        if short and name not in ('ping-pong', 'split'):
            continue
        s = {'wide': {**PACKED, 'MatrixInstruction': [192, 64, 16, 1, 1, 1, 1, 1, 1], 'ConsumerSchedule': 'PingPong'},
             'deep': {**solutions(16)['split'], 'DepthU': 128}, **solutions(16)}[name]
        s = {**s, 'PackOperands': 7} if direction == 'forward' else {**s, 'PackOperands': 5, 'EngineStore': False}
        for foreign in (None, 'a') if direction == 'forward' and name in ('ping-pong', 'swapped') else (None,):
            e, c = conv.case('sm_90a', kind, s, direction, 'NHWC', 0, filters=filters, list_=ROWS, foreign=foreign)
            what = f'rows {direction} {filters} {kind} {name}' + (' foreign' if foreign else '')
            yield dict(e, name=re.sub('[- ]', '_', what), apart=False), dict(c, what=what, form='rows' if direction == 'forward' else 'rows of taps')


def several(short):
    """Kernels with several taps in a stage."""
    forms = {**solutions(16), 'wide': {**PACKED, 'MatrixInstruction': [64, 248, 16, 1, 1, 1, 1, 1, 1], 'StaggerU': 4},
             'deep': {**PACKED, 'MatrixInstruction': [64, 64, 16, 1, 1, 1, 1, 1, 1], 'DepthU': 128, 'ConsumerSchedule': 'PingPong'},
             'pixels of both': {**PACKED, 'MatrixInstruction': [64, 120, 16, 1, 1, 1, 1, 2, 1], 'ClusterM': 2, 'ClusterN': 2}}
    for kind, name, n, filters in (
            ('HHS', 'cooperative', 3, 'KYXC'), ('BBS', 'ping-pong', 3, 'KYXC'), ('HHS', 'lag', 3, 'CYXK'), ('BBS', 'swapped', 3, 'KYXC'), ('HHS', 'wide', 3, 'KYXC'),
            ('HSS', 'deep', 3, 'KYXC'), ('HHS', 'cluster along N', 5, 'KYXC'), ('BBS', 'pixels of both', 3, 'KYXC'), ('HHS', 'half lines', 5, 'CYXK'),
            ('X', 'cooperative', 3, 'KYXC'), ('I8II', 'cooperative', 5, 'KYXC')):
        if short and name not in ('ping-pong', 'swapped'):
            continue
        s = {**(solutions(KINDS[kind])[name] if name in solutions(16) else forms[name]), 'WindowTaps': n, 'EngineStore': False}
        for direction in ('forward', 'data') if filters == 'KYXC' and kind[0] in 'HB' else ('forward',):
            e, c = conv.case('sm_90a', kind, s, direction, 'NHWC', 0, filters=filters, fused={'UseBeta': False}, list_=[
                (what, x if kind != 'I8II' else Conv(x.n, 2 * x.c, 2 * x.k, x.size[1:], x.taps[1:], x.stride[1:], x.dilation[1:], x.pad[1:], x.pad_end[1:]))
                for what, x in TAPS[n] if direction == 'forward' or max(x.stride) == 1])
            what = f'several {direction} {filters} {kind} {name}'
            yield dict(e, name=re.sub('[- ]', '_', what), apart=False), dict(c, what=what, form=f'several {n}')
    for kind, name, n, more in (
            ('HHS', 'split', 3, {'MatrixInstruction': [64, 64, 16, 1, 1, 3, 1, 1, 1]}), ('BBS', 'ping-pong', 3, {'MatrixInstruction': [64, 72, 16, 1, 1, 3, 1, 1, 1], 'DepthU': 64}),
            ('HHS', 'split', 3, {'MatrixInstruction': [64, 40, 16, 1, 1, 1, 1, 3, 1]}), ('HSS', 'shares', 3, {'MatrixInstruction': [64, 64, 16, 1, 1, 2, 1, 3, 1]}),
            ('HHS', 'split', 3, {'MatrixInstruction': [192, 64, 16, 1, 1, 1, 2, 1, 1]}), ('BBS', 'ping-pong', 3, {'MatrixInstruction': [192, 64, 16, 1, 1, 1, 1, 1, 1], 'DepthU': 64}),
            ('BBS', 'split', 3, {'MatrixInstruction': [64, 32, 16, 1, 1, 3, 1, 2, 1], 'DepthU': 128}), ('HHS', 'cooperative', 5, {'MatrixInstruction': [64, 32, 16, 1, 1, 5, 1, 1, 1]})):
        if short and name != 'ping-pong':
            continue
        s = {**solutions(16)[name], 'WindowTaps': n, 'EngineStore': False, **more}
        e, c = conv.case('sm_90a', kind, s, 'weights', 'NHWC', 0, fused={'UseBeta': False}, list_=TAPS[n])
        what = f"several weights {kind} {name} {more['MatrixInstruction']}"
        yield dict(e, name=re.sub('[^A-Za-z0-9]+', '_', what), apart=False), dict(c, what=what, form=f'several {n}')


def with_ops(short):
    """Bias, activations and scale factors."""
    for i, (kind, name, direction, form) in enumerate((
            ('HHS', 'cooperative', 'forward', ''), ('HHS', 'ping-pong', 'forward', 'lines'), ('BBS', 'elements', 'data', ''),
            ('BBS', 'ping-pong', 'forward', 'blocks'), ('HSS', 'images', 'forward', ''), ('HHS', 'split', 'data', ''),
            ('BBS', 'shares', 'forward', ''), ('HHS', 'half lines', 'forward', ''), ('HSS', 'parts of K', 'forward', ''),
            ('HHS', 'cluster along N', 'forward', 'groups'))):
        if short and i != 3:
            continue
        s = {**solutions(16)[name], **{'lines': {'PackOperands': 3}, 'blocks': {'PackOperands': 2}}.get(form, {})}
        list_ = {'lines': LINES[:3], 'blocks': BLOCKS[:4], 'groups': GROUPS[:2]}.get(form) or [
            (n, x) for n, x in sizes(*((64, 136) if name == 'images' else (72, 40))) if n in ('pad', 'several chunks', 'wide', '1x1')]
        if form in ('blocks', 'groups'):
            s.pop('PackBatchDims', None)
            s['DepthU'] = 64
        e, c = conv.case('sm_90a', kind, s, direction, 'NHWC', 0, groups=form in ('blocks', 'groups'), list_=list_,
                         fused={**conv.fused(i, 'NHWC'), **({'UseScaleAlphaVec': 0} if form == 'blocks' else {})})
        what = f'fused {direction} {form} {kind} {name}'
        yield dict(e, name=re.sub('[- ]', '_', what), apart=False), dict(c, what=what, form=form or direction)


def few_rows(short):
    """Backward data of few channels: a copied filter, D element by element."""
    for kind, instruction in (('HHS', [8, 64, 16, 1, 1, 1, 2, 1, 2]), ('BBS', [64, 64, 16, 1, 1, 1, 1, 1, 1])) if not short else ():
        s = {**PACKED, 'MatrixInstruction': instruction, 'PackOperands': 2, 'EngineStore': False}
        e, c = conv.case('sm_90a', kind, s, 'data', 'NHWC', 0, list_=FILTERS)
        what = f'filters data {kind} {instruction[0]}'
        yield dict(e, name=what.replace(' ', '_'), apart=False), dict(c, what=what, form='filters')


def of_taps(short):
    """Weights whose rows and columns are those of several taps or groups, or of a group."""
    forms = {'lines of taps': (LINES, {'PackOperands': 1}), 'blocks of taps': (BLOCKS + SIDES, {'PackOperands': 1}), 'groups of taps': (GROUPS + SIDES, {})}
    for i, (kind, name, form) in enumerate((
            ('HHS', 'split', 'lines of taps'), ('BBS', 'split', 'blocks of taps'), ('HHS', 'ping-pong', 'groups of taps'),
            ('BBS', 'wide', 'lines of taps'), ('HSS', 'shares', 'blocks of taps'), ('BBS', 'shares', 'lines of taps'),
            ('HHS', 'swapped', 'blocks of taps'), ('BBS', 'cluster of both', 'groups of taps'), ('HSS', 'cluster along N', 'lines of taps'))):
        if short and i > 1:
            continue
        list_, more = forms[form]
        s = {'wide': {**PACKED, 'MatrixInstruction': [192, 64, 16, 1, 1, 1, 1, 1, 1], 'ConsumerSchedule': 'PingPong'}, **solutions(16)}[name]
        s = {**s, 'EngineStore': False, 'PackBatchDims': int(form == 'lines of taps'), **more,
             'MatrixInstruction': [128 if at == 1 and m == 96 else m for at, m in enumerate(s['MatrixInstruction'])]}
        e, c = conv.case('sm_90a', kind, s, 'weights', 'NHWC', 0, groups=form != 'lines of taps', list_=list_)
        what = f'{form} {kind} {name}'
        yield dict(e, name=re.sub('[- ]', '_', what), apart=False), dict(c, what=what, form=form)


def foreign(short):
    """One group's elements are infinite and NaN: in blocks of groups and of outputs, in groups of their own, in lines."""
    blocks, elements = {'PackOperands': 2, 'DepthU': 64}, {'PackBatchDims': 1, 'PackOperands': 2, 'EngineStore': False}
    for i, (kind, name, direction, form, more) in enumerate((
            ('HHS', 'ping-pong', 'forward', 'blocks', blocks), ('BBS', 'swapped', 'data', 'blocks', blocks), ('HSS', 'split', 'forward', 'blocks', blocks),
            ('BBS', 'shares', 'data', 'blocks', blocks), ('HHS', 'parts of K', 'forward', 'blocks', blocks), ('HSS', 'cooperative', 'data', 'filters', elements),
            ('BBS', 'cluster of both', 'forward', 'blocks', {**blocks, 'EngineStore': False}), ('HHS', 'cluster', 'data', 'filters', elements),
            ('X', 'ping-pong', 'forward', 'blocks', {**blocks, 'DepthU': 32}), ('HHS', 'cluster', 'forward', 'groups', {'DepthU': 64}), ('BBS', 'ping-pong', 'forward', 'lines', {'PackBatchDims': 1, 'PackOperands': 3}),
            ('HHS', 'split', 'weights', 'blocks of taps', {'PackOperands': 1, 'EngineStore': False}),
            ('BBS', 'cooperative', 'weights', 'groups of taps', {'EngineStore': False}))):
        if short and i > 1:
            continue
        list_ = {'blocks': BLOCKS, 'filters': FILTERS, 'groups': GROUPS, 'lines': LINES, 'blocks of taps': BLOCKS + SIDES, 'groups of taps': GROUPS + SIDES}[form]
        s = {k: v for k, v in solutions(KINDS[kind])[name].items() if k != 'PackBatchDims'}
        grouped = form not in ('filters', 'lines')
        for operand in 'ab' if grouped else 'a':
            e, c = conv.case('sm_90a', kind, {**s, **more}, direction, 'NHWC', 0, groups=grouped, foreign=operand, list_=[
                (n, x) for n, x in list_ if direction != 'data' or form == 'filters' or max(x.stride) == 1])
            what = f'foreign {operand} {form} {direction} {kind} {name}'
            yield dict(e, name=re.sub('[- ]', '_', what), apart=False), dict(c, what=what, form=form)


def refused(e, c, name, x):
    """Whether the launch has to refuse the convolution."""
    s, form = e['solution'], c.get('form')
    by_engine = s.get('EngineStore', True) and 'ClusterK' not in s
    # rows of 8 bytes; groups of filters that do not follow one another along the rows of D
    return (name in REFUSED[form or c['direction']] or 'I8II' in c['what'] and name == 'odd rows' or
            form == 'groups' and c['direction'] == 'data' and x.groups > 1 or
            by_engine and (name == 'odd rows' or 'PackBatchDims' not in s and c['direction'] == 'data' and max(x.stride) > 1))


def symbols(answer):
    """Of its main kernels and their helpers."""
    return sorted({call['symbol'] for x in answer['launches'] for call in x['calls']})


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument('--build', default='build')
    p.add_argument('--short', action='store_true')
    p.add_argument('--jobs', type=int, default=2)
    p.add_argument('--kernel', help='kernels whose name has this in it')
    p.add_argument('--part', type=emulate.part, default=slice(None), help='I/N: every Nth of them, from I on')
    args = p.parse_args()
    compiler = shutil.which(os.environ.get('CXX', 'g++'))
    if not compiler:
        print('skipped: convolutions by wgmma on the CPU: no g++')
        return 0
    made = emulate.amd.Kernels(f'{args.build}/conformance/emit', None, f'{args.build}/conformance/nvptx.cache')
    every = (given, copied, few_rows, of_rows, several, of_taps, with_ops, foreign)
    todo = [t for make in every for t in make(args.short) if not args.kernel or args.kernel in t[1]['what']][args.part]
    answers, machine = conv.answers_of(todo, made.make), emulate.machines()[1]
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        flags = emulate.precompiled(compiler, folder)
        texts = [a for a in answers if 'file' in a]
        done = pool.map(lambda a: emulate.compile_text(compiler, os.path.abspath(a['file']), symbols(a), flags), texts)
        done = progress.each(done, 'compile', len(texts), args.short)
        built = {a['name']: {(a['arch'], k): path for k in symbols(a)} for a, path in zip(texts, done)}
        counts = conv.check_launches(todo, answers, lambda a: built[a['name']], machine, refused, args.short)
    made.close()
    return conv.report(len(todo), *counts)


if __name__ == '__main__':
    sys.exit(main())
