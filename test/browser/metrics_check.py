"""Checks a file against the OpenMetrics text format (the rules of its specification that such a file can break), and with
prometheus_client's parser where that is installed."""
import re
import sys

text = open(sys.argv[1]).read()
assert text.endswith('# EOF\n') and '\r' not in text and '\n\n' not in text
NAME, VALUE = r'[a-zA-Z_:][a-zA-Z0-9_:]*', r'(?:[-+]?[0-9]*\.?[0-9]+(?:e[-+]?[0-9]+)?|NaN|[-+]Inf)'
LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*"'
sample = re.compile(rf'({NAME})(?:\{{({LABEL}(?:,{LABEL})*)?\}})? ({VALUE})')
suffix = {'counter': ('_total',), 'info': ('_info',), 'gauge': ('',), 'stateset': ('',)}
families, family, seen = {}, None, set()
for line in text.split('\n')[:-2]:
    meta = re.fullmatch(rf'# (TYPE|UNIT|HELP) ({NAME}) (.+)', line)
    if meta:
        kind, name, value = meta.groups()
        if name != family:
            assert name not in families, f'{name} is not in one block'
            families[name], family = {}, name
        assert kind not in families[name] and 'sample' not in families[name], line
        families[name][kind] = value
        assert kind != 'UNIT' or name.endswith('_' + value), line
        continue
    match = sample.fullmatch(line)
    assert match, f'no sample: {line}'
    name, labels, value = match.groups()
    kind = families[family]['TYPE']
    assert name in [family + s for s in suffix[kind]], line
    assert (name, labels) not in seen, f'twice: {line}'
    seen.add((name, labels))
    families[family]['sample'] = True
    assert kind != 'counter' or float(value) >= 0, line
    assert kind != 'info' or value == '1', line
    if kind == 'stateset':
        assert re.search(rf'{family}="', labels) and value in ('0', '1'), line
try:
    from prometheus_client.openmetrics.parser import text_string_to_metric_families
    assert {f.name for f in text_string_to_metric_families(text)} == set(families)
except ImportError:
    pass
print('metrics:', ', '.join(families))
