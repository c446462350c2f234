#!/usr/bin/env python3
"""Does the conformance of kernels by wgmma notice a broken protocol? Each row of CHANGES takes something away from the text of a
kernel (a wait, a fence, an arrival, bytes that a barrier expects) or makes it wrong; the launch must end with a message, hang
with one, or give wrong results.

usage: protocol.py [--build DIR] [--kernel NAME,...] [-v]
Prints a line per kernel and every change that was not found; exit code 1 when there is one."""
import argparse
import importlib.util
import os
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'amd'))     # where another module is called emulate, too
texts = importlib.util.spec_from_file_location('texts', os.path.join(HERE, 'emulate.py'))
emulate = importlib.util.module_from_spec(texts)
texts.loader.exec_module(emulate)
import cases

PERSISTENT = {'StaggerU': 0, 'PersistentKernel': 1, 'PersistentKernelAlongBatch': True, 'KernelLanguage': 'Source'}
# type, transposes, solution, problem sizes
KERNELS = {
    'cooperative': ('HHS', 'NT', {'MatrixInstruction': [64, 128, 16, 1, 1, 1, 1, 2, 1], 'RingStages': 2}, [[384, 256, 1, 448]]),
    'cluster': ('BBS', 'TN', {'MatrixInstruction': [64, 64, 16, 1, 1, 1, 1, 1, 1], 'ClusterM': 2, 'ClusterN': 2, 'RingStages': 3},
                [[256, 384, 1, 320]]),
    'ping-pong': ('HSS', 'TN', {'MatrixInstruction': [64, 64, 16, 1, 1, 1, 1, 1, 1], 'ConsumerSchedule': 'PingPong', 'RingStages': 3},
                  [[320, 384, 1, 320]]),
    'lag': ('HSS', 'TN', {'MatrixInstruction': [128, 64, 16, 1, 1, 1, 1, 1, 2], 'ConsumerLag': 2, 'RingStages': 3}, [[320, 384, 1, 320]]),
    'split': ('HSS', 'NT', {'MatrixInstruction': [64, 64, 16, 1, 1, 1, 1, 2, 1], 'RingStages': 3, 'ClusterK': 2, 'DependentLaunch': True},
              [[256, 192, 1, 448]]),
    'clusters': ('HSS', 'NT', {'MatrixInstruction': [64, 64, 16, 1, 1, 1, 1, 2, 1], 'RingStages': 3, 'ClusterK': 2, 'GlobalSplitU': 2,
                               'MinKForGSU': 16, 'GlobalSplitUAlgorithm': 'MultipleBuffer'}, [[256, 192, 1, 448]]),
    # shares of all tiles; five tiles on four work-groups, of which the last is cut into four parts, and two in two parts each
    'stream-k': ('HHS', 'TN', {'MatrixInstruction': [64, 64, 16, 1, 1, 1, 1, 2, 1], 'RingStages': 3, 'StreamK': 1, 'PersistentKernel': 0,
                               'DependentLaunch': True}, [[256, 192, 1, 448], [128, 64, 1, 2048]]),
    'parts': ('HSS', 'TN', {'MatrixInstruction': [64, 64, 16, 1, 1, 1, 1, 2, 1], 'RingStages': 3, 'GlobalSplitU': 3, 'MinKForGSU': 16,
                            'GlobalSplitUAlgorithm': 'MultipleBufferSingleKernel', 'DependentLaunch': True}, [[256, 192, 1, 448]]),
    'counted parts': ('HSS', 'TN', {'MatrixInstruction': [64, 64, 16, 1, 1, 1, 1, 2, 1], 'RingStages': 3, 'GlobalSplitU': 3, 'MinKForGSU': 16,
                                    'GlobalSplitUAlgorithm': 'MultipleBufferSingleKernel', 'SelfResetCounters': True,
                                    'DependentLaunch': True}, [[256, 192, 1, 448]]),
    'stream-k parts': ('HHS', 'TN', {'MatrixInstruction': [256, 64, 16, 1, 1, 1, 1, 1, 2], 'RingStages': 2, 'StreamK': 3,
                                     'PersistentKernel': 0}, [[256, 640, 1, 2176], [256, 256, 1, 2176]]),
    'rows': ('X', 'NN', {'MatrixInstruction': [64, 64, 8, 1, 1, 1, 1, 2, 1], 'RowsFromRegisters': True, 'RingStages': 2},
             [[320, 192, 1, 224]]),
    'products': ('F8SS', 'TN', {'MatrixInstruction': [64, 64, 32, 1, 1, 1, 1, 1, 1], 'PromotionSets': 2, 'RingStages': 2},
                 [[192, 128, 1, 896]]),
    'elements': ('I8II', 'TN', {'MatrixInstruction': [64, 64, 32, 1, 1, 1, 1, 1, 1], 'EngineStore': False, 'RingStages': 2},
                 [[320, 192, 1, 512]]),
}
JOIN = ('stream-k', 'stream-k parts')
ALL, ENGINE = tuple(k for k in KERNELS if k not in ('products', 'parts', 'counted parts', 'clusters', 'stream-k parts')), ('cooperative', 'cluster', 'ping-pong', 'rows')
# what, kernels, what stands in the text, what becomes of it
CHANGES = [
    ('multiplies before the stage is full', ALL, 'bar_wait(shared.full(ring.stage), ring.phase);', ';'),
    ('copies before the stage is empty', ALL, 'bar_wait(empty, phase ^ 1);', ';'),
    ('waits for the wrong parity', ALL, 'bar_wait(shared.full(ring.stage), ring.phase);', 'bar_wait(shared.full(ring.stage), ring.phase ^ 1);'),
    ('expects too few bytes', ALL, 'bar_expect(full, ', 'bar_expect(full, -128 + '),
    ('expects too many bytes', ALL, 'bar_expect(full, ', 'bar_expect(full, 128 + '),
    ('expects nothing', ALL, 'bar_expect(full, ', '(void)('),
    ('tells the barrier of another stage', ALL, 'const u32 full = shared.full(stage);',
     'const u32 full = shared.full(0);'),
    ('gives no stage back', ALL, 'release(shared, last, rank, thread);', ';'),
    ('gives a stage back while it is read', ALL, 'wgmma_wait<1>();', ';'),
    ('gives back a stage too early', ALL, 'release(shared, last, rank, thread);', 'release(shared, ring.stage, rank, thread);'),
    ('reads sums that are not there', ALL, 'wgmma_wait<0>();', ';'),
    ('no fence before wgmma', ALL, 'wgmma_fence();', ';'),
    ('no commit behind wgmma', ALL, 'wgmma_commit();', ';'),
    ('the phase never turns', ALL, '            phase ^= 1;\n', ''),
    ('an arrival too many is expected', ALL, 'bar_init(shared.empty(i), ', 'bar_init(shared.empty(i), 1 + '),
    ('barriers are used before they are set', ALL, 'proxy_fence();\n    }\n    cluster_sync();', 'proxy_fence();\n    }'),
    ('a step of K twice', ('cluster', 'ping-pong', 'elements'), 'X_DESC, x) + s * 2', 'X_DESC, x) + s % 3 * 2'),
    # without the engine the same function gives the place to write and to read: any will do
    ('rows lie elsewhere', ('cooperative', 'cluster'), '2 ^ thread % 8) * 16', '2 ^ thread % 4) * 16'),
    ('rows lie elsewhere', ('ping-pong', 'rows'), '^ thread % 4 * 2 + j % 2) * 16', '^ thread % 2 * 2 + j % 2) * 16'),
    ('begins off the boundary of the swizzle', ALL, '(shared_address(dynamic) + 1023) & ~1023', 'shared_address(dynamic) + 128'),
    ('no fence before the store', ENGINE, 'proxy_fence();\n        group_sync(1 + wg);', 'group_sync(1 + wg);'),
    ('stores before all have written', ENGINE, 'proxy_fence();\n        group_sync(1 + wg);', 'proxy_fence();'),
    ('writes a slice that is still stored', ('cooperative', 'ping-pong'), 'store_wait_read<1>();', ';'),
    ('ends before the last store', ENGINE, 'store_wait();', ';'),
    ('writes C over a slice that is still stored', ENGINE, 'store_wait_read<0>();', ';'),
    ('does not wait for C', ENGINE, 'bar_wait(shared.c(wg, ', '(void)(shared.c(wg, '),
    ('C comes twice through one phase', ENGINE, 'phases ^= 1 << ', 'phases ^= 0 << '),
    ('too many registers', ('cooperative', 'ping-pong'), 'more_registers<', 'more_registers<32 + '),
    ('copies to itself alone', ('cluster',), 'const int mask_a = 5 << (rank % 2);', 'const int mask_a = 1 << rank;'),
    ('copies the same part twice', ('cluster',), 'p.batch, (int)(rank / 2), (int)(rank % 2),', 'p.batch, 0, (int)(rank % 2),'),
    ('tells itself alone', ('cluster',), 'thread < 4 && (thread % 2 == own % 2 || thread / 2 == own / 2)', 'thread == own'),
    ('tells every work-group', ('cluster',), 'thread < 4 && (thread % 2 == own % 2 || thread / 2 == own / 2)', 'thread < 4'),
    ('ends while others copy to it', ('cluster',), '__syncwarp();\n    }\n    cluster_sync();', '__syncwarp();\n    }'),
    ('words of X change while wgmma reads them', ('rows',), 'fragments(odd, ', 'fragments(even, '),
    ('words of X are of another line', ('rows',), '^ k * 16)', '^ k % 4 * 16)'),
    ('words of X are of another batch', ('rows',), 'load_fragments(odd, shared.x(ring.stage) + x_offset, s + 2,',
     'load_fragments(odd, shared.x(ring.stage) + x_offset, 0,'),
    ('adds products that are not there', ('products',), 'wgmma_wait<1>();', ';'),
    ('adds products that are under way', ('products',), 'add_products(acc, one);', 'add_products(acc, other);'),
    ('gives a stage back before its products are there', ('products',), 'wgmma_wait<1>();\n        release(shared, last, rank, thread);',
     'release(shared, last, rank, thread);\n        wgmma_wait<1>();'),
    ('makes products before the stage is full', ('products',), 'bar_wait(shared.full(ring.stage), ring.phase);', ';'),
    ('two multiply at once', ('ping-pong',), 'turn_wait(wg);', ';'),
    ('gives no turn', ('ping-pong',), 'turn_arrive(1 - wg);', ';'),
    ('gives no turn', ('lag',), 'turn_arrive(0);', ';'),
    ('gives no turn', ('lag',), 'turn_arrive(1);', ';'),
    ("keeps the other's stages", ('ping-pong',), 'ring.skip(other.count);', ';'),
    ('sums are written while another warp group multiplies', ('split',), 'consumers_sync();\n    write_sums', 'write_sums'),
    ('sums are read before they are written', ('split',), 'write_sums(acc, shared.base, wg, thread);\n    cluster_sync();',
     'write_sums(acc, shared.base, wg, thread);'),
    ('the ring is filled while sums are read', ('split',), 'cluster_sync();\n        cluster_sync();', 'cluster_sync();'),
    ('copies over sums without a fence', ('split',), 'proxy_fence();\n    cluster_sync();', 'cluster_sync();'),
    ('ends while others read its sums', ('split',), 'proxy_fence();\n    cluster_sync();', 'proxy_fence();'),
    ('adds its own sums alone', ('split',), ', q, v[q]', ', rank, v[q]'),
    ('leaves columns out', ('split',), 'i / 32 * 2 + p.part', 'i / 32 * 2'),
    ('sums are read before they are written', ('clusters',), 'write_sums(acc, shared.base, wg, thread);\n    cluster_sync();',
     'write_sums(acc, shared.base, wg, thread);'),
    ('copies over sums without a fence', ('clusters',), 'proxy_fence();\n    cluster_sync();', 'cluster_sync();'),
    ('ends while others read its sums', ('clusters',), 'proxy_fence();\n    cluster_sync();', 'proxy_fence();'),
    ('all clusters of a tile in one place', ('clusters',), 'p.batch, p.part / 2);', 'p.batch, 0);'),
    ('adds its own sums alone', ('clusters',), ', q, v[k][q]', ', rank, v[k][q]'),
    ('leaves columns out', ('clusters',), 'i / 32 * 2 + p.part % 2', 'i / 32 * 2'),
    ('copies before the launches in front have ended', ('split',), '    wait_for_launches();', ';'),
    ('counts in before its sums are there', ('parts',) + JOIN, ']));\n    fence_all();', ']));'),
    ('reads sums with no fence in front', ('parts',), 'fence_all();\n    if (all) {', 'if (all) {'),
    ('reads sums with no fence in front', JOIN, 'if (last) {\n        fence_all();', 'if (last) {'),
    ('the first part counts as the last', ('parts',), '== parts.n - 1;', '== 0;'),
    ('the first part counts as the last', ('stream-k parts',), '== parts.n - 1);', '== 0);'),
    ('no part waits', ('parts',), 'last || wait_count(parts.flags, parts.n);', 'true;'),
    ('shares that are left stay so', ('parts',), 'if (last) {', 'if (false) {'),
    ('a share is left without a mark', ('parts',), 'change_flag(mark_of(parts, p.part), 0, 2);', ';'),
    ('one thread alone stores', ('parts',), 'all = any_of_group(bar, all);', 'any_of_group(bar, all);'),
    ('one thread alone adds', JOIN, 'last = any_of_group(bar, last);\n    if (!last) {', 'if (!last) {'),
    ('all warp groups count together', ('parts',) + JOIN, 'args.flags + slot * 8 + w', 'args.flags + slot * 8'),
    ('leaves a part out', ('parts',), '(first + i < parts.n)', '(first + i + 1 < parts.n)'),
    ('leaves a part out', ('stream-k parts',), ' q = 0;', ' q = 1;'),
    ('adds one part again and again', JOIN, 'take_sums(acc, sums_of(parts, q));', 'take_sums(acc, sums_of(parts, 0));'),
    ('all parts of one tile in one slot', ('parts',) + JOIN, '= sums_of(parts, part);', '= sums_of(parts, 0);'),
    ('flags are not zero', ('parts',) + JOIN, '[at] = 0;', '[at] = 1;'),
    ('counts in before its sums are there', ('counted parts',), ']));\n    fence_all();', ']));'),
    ('counts with what was in the workspace', ('counted parts',), 'word_begin(parts.word, before);', ';'),
    ('the first part counts as the last', ('counted parts',), 'left = shares_left(before, parts.n);', 'left = shares_left(before, 1);'),
    ('no part waits', ('counted parts',), 'waits = word_wait(parts.word, parts.n);', 'waits = true;'),
    ('shares that are left stay so', ('counted parts',), 'if (any_of_group(bar, left != 0)) {', 'if (false) {'),
    ('a share is left without a mark', ('counted parts',), 'word_leave(parts.word, 1 << p.part);', 'word_leave(parts.word, 0);'),
    ('leaves the share of another part', ('counted parts',), 'word_leave(parts.word, 1 << p.part);', 'word_leave(parts.word, 1);'),
    ('a part is never gone', ('counted parts',), 'gone = word_leave(parts.word, 0);', ';'),
    ('the counter is not reset', ('counted parts',), 'word_reset(parts.word);', ';'),
    ('one thread alone stores', ('counted parts',), 'all = any_of_group(bar, all);', 'any_of_group(bar, all);'),
    ('all warp groups count together', ('counted parts',), 'slot * 8) + w', 'slot * 8) + 0'),
    ('leaves a part out', ('counted parts',), 'if (q < parts.n) {\n                            g_TC x;', 'if (q < parts.n - 1) {\n                            g_TC x;'),
    ('all parts of one tile in one slot', ('counted parts',), '= sums_of(parts, part);', '= sums_of(parts, 0);'),
    ('buffers are changed while others read them', ('elements',), 'write_slice(word, at, thread);\n        group_sync(1 + wg);',
     'write_slice(word, at, thread);'),
]


def changed(text, before, after):
    if before not in text:
        raise SystemExit(f'there is no such text: {before}')
    return text.replace(before, after)


def judge(case, answer, text, compiler):
    """None, or what is wrong with the text."""
    with open(answer['file'] + '.changed', 'w') as f:
        f.write(text)
    symbols = sorted({call['symbol'] for x in answer['launches'] for call in x['calls']})
    path = emulate.compile_text(compiler, answer['file'] + '.changed', symbols)
    if path.startswith('compile: '):
        return path
    machine = emulate.Machine(emulate.Engine())
    for i, x in enumerate(answer['launches']):
        objects = {(answer['arch'], s): path for s in symbols}
        bad = machine.run(case, answer, objects, {**x, 'size': x['size'][:4]}, i)
        if bad:
            return bad
    return None


def run_kernel(args, name, made, compiler):
    """The number of changes that were not found."""
    kind, trans, solution, sizes = KERNELS[name]
    c = dict(cases.case('sm_90a', kind, trans, {**PERSISTENT, **solution}), name='k_' + name.replace('-', '_').replace(' ', '_'), sizes=sizes * 2,
             scalars=[[2, 3]] * len(sizes) + [[1, 0]] * len(sizes), cus=4, apart=False)
    answer = made.make([c])[0]
    if 'file' not in answer:
        raise SystemExit(f"{name}: no text: {answer.get('rule') or answer}")
    text = open(answer['file']).read()
    bad = judge(c, answer, text, compiler)
    if bad:
        raise SystemExit(f'{name}: wrong as it is: {bad}')
    n, left = 0, 0
    for i, (what, kernels, before, after) in enumerate(CHANGES):
        if name not in kernels:
            continue
        # a loaded library stays loaded under its name
        bad = judge(c, dict(answer, file=f"{answer['file']}.{i}"), changed(text, before, after), compiler)
        n, left = n + 1, left + (not bad)
        if not bad or args.verbose:
            print(f'{name}: {what}: {bad or "NOT FOUND"}', flush=True)
        if bad and bad.startswith('compile: '):
            raise SystemExit(f'{name}: {what}: {bad}')
    print(f'{name}: {n - left} of {n} changes found', flush=True)
    return left


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument('--build', default='build')
    p.add_argument('--kernel', default=','.join(KERNELS))
    p.add_argument('-v', '--verbose', action='store_true')
    args = p.parse_args()
    compiler = shutil.which(os.environ.get('CXX', 'g++'))
    if not compiler:
        print('skipped: kernels by wgmma with a broken protocol: no g++')
        return 0
    made = emulate.amd.Kernels(f'{args.build}/conformance/emit', None, f'{args.build}/conformance/nvptx.cache')
    try:
        return 1 if sum(run_kernel(args, name, made, compiler) for name in args.kernel.split(',')) else 0
    finally:
        made.close()


if __name__ == '__main__':
    sys.exit(main())
