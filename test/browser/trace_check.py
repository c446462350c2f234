"""Checks a file against the Trace Event Format (JSON object form): what ui.perfetto.dev and chrome://tracing read. Complete
events of one track must not overlap unless one lies in the other."""
import json
import sys

trace = json.load(open(sys.argv[1]))
events = trace['traceEvents']
assert isinstance(events, list) and trace['displayTimeUnit'] in ('ms', 'ns')
tracks, names, categories = {}, {}, {}
for e in events:
    assert e['ph'] in ('X', 'M') and isinstance(e['pid'], int) and isinstance(e['tid'], int) and isinstance(e['name'], str), e
    if e['ph'] == 'M':
        assert e['name'] in ('process_name', 'thread_name') and isinstance(e['args']['name'], str), e
        names[e['pid'], e['tid']] = e['args']['name']
        continue
    assert e['ts'] >= 0 and e['dur'] >= 0 and isinstance(e['args'], dict) and isinstance(e['cat'], str), e
    tracks.setdefault((e['pid'], e['tid']), []).append(e)
    categories[e['cat']] = categories.get(e['cat'], 0) + 1
for track, list_ in tracks.items():
    assert track in names, f'track {track} has no name'
    stack, slack = [], 2500  # microseconds: ends are stored to the millisecond
    for e in sorted(list_, key=lambda e: (e['ts'], -e['dur'])):
        while stack and stack[-1] <= e['ts'] + slack:
            stack.pop()
        assert not stack or e['ts'] + e['dur'] <= stack[-1] + slack, f"{names[track]}: {e} overlaps the end at {stack[-1]}"
        stack.append(e['ts'] + e['dur'])
print('trace: in order; tracks:', ', '.join(sorted({n.rstrip('0123456789 ') for n in names.values()})))
print('events of', ', '.join(f'{c}' for c in sorted(categories)))
