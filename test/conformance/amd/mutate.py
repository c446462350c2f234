"""Single changes of a generated text: a relation, an operator, a number, a name, a condition or a statement.

mutants(text, symbol) lists them all, each with the place and what it is about; a text that a test calls right although one of
these is in it shows a hole in the test. Not here: compiling and running them (mutation.py)."""
import collections
import re

Mutant = collections.namedtuple('Mutant', 'about function line before after text')

# What a change is about, by the line that it is in; the first that matches.
ABOUT = [('barrier', r'g_barrier|s_waitcnt|__syncthreads|g_arrived|g_copy_wait|bar\.sync'),
         ('alpha', r'\balpha\b'),
         ('beta', r'\bbeta\b|\bold\b|\bwas\b|g_to_c\('),
         ('split', r'gsu|part\b|parts\b|sums?\b|reduce|g_atomic|g_add\(|\bw\b|workspace|tiles_in'),
         ('stride', r'\bld[abcdw]\b|\bbatch_[abcdw]\b|\bstep_[ab]|\bchunk_[ab]|_ld\b'),
         ('tail', r'\bleft\b|\bwhole\b|\bk0\b|\bt\.k\b|\bsize_k\b|\bchunks?\b|\bcount\b|\bsteps\b|\blate\b|\bdelay\b|\bwrap\b'),
         ('edge', r'near|edge|\blast\b|\bwide\b|\bend\b|\bt\.[mn]\b|\bsize_[mn]\b|\brow\b|\bcol\b|\bin\b|\bfree\b|\ball\b'),
         ('index', '')]
SWAPS = [('alpha', 'beta'), ('lda', 'ldb'), ('ldc', 'ldd'), ('batch_a', 'batch_b'), ('batch_c', 'batch_d'), ('row', 'col'),
         ('m0', 'n0'), ('m', 'n'), ('wg0', 'wg1'), ('tiles_m', 'tiles_n'), ('g_acc_row', 'g_acc_col'), ('step_a', 'step_b'),
         ('chunk_a', 'chunk_b'), ('first', 'count'), ('rd', 'wr'), ('size_m', 'size_n')]
RULES = [(re.compile(a), b) for a, b in (
    (r' < ', ' <= '), (r' <= ', ' < '), (r' > ', ' >= '), (r' >= ', ' > '), (r' == ', ' != '), (r' != ', ' == '),
    (r' \+ ', ' - '), (r' - ', ' + '), (r' \* ', ' + '), (r' / ', ' * '), (r' % ', ' / '), (r' \^ ', ' + '),
    (r' && ', ' || '), (r' \|\| ', ' && '), (r'!g_is_zero', 'g_is_zero'), (r'(?<!!)\bg_is_zero\(', '!g_is_zero('),
    (r'\bif \((.*?)\) (?=\S)', r'if (!(\1)) '),
    (r' \? ([\w.]+|\([^()]*\)) : ([\w.]+|\([^()]*\))', r' ? \2 : \1'),
    (r'\b(?:[so]\.)?(?:alpha|beta)\b(?=[,)])', r'-\g<0>'),
    (r'g_(mul|add)\(', lambda m: 'g_add(' if m.group(1) == 'mul' else 'g_mul('),
    (r'g_madd\(', 'g_add('), (r'\bs_barrier\b', 's_nop 0'), (r's_waitcnt [^\\]*', 's_nop 0'), (r' \+= ', ' = '),
    (r' [-+*/%] (?:[\w.]+(?:\(\))?|\([^()]*\))(?=[;,) ])', ''),
    (r'g_near_', 'g_edge_'), (r'(?<!define )\bg_barrier\(\);', ';'))]
NUMBER = re.compile(r'(?<![\w.])(\d+)(u|ll|ull)?(?![\w.x])')
STATEMENT = re.compile(r'^(?:\w[\w.]*(?:\[[^]]*\])* (?:[-+*/|]|)= .*|\w+--|g_\w+(?:<\w+>)?\(.*\));$')


def changes(line):
    """All other forms of a line."""
    out = []
    for rule, to in RULES:
        for m in rule.finditer(line):
            out.append(line[:m.start()] + m.expand(to) if isinstance(to, str) else line[:m.start()] + to(m))
            out[-1] += line[m.end():]
    for m in NUMBER.finditer(line):
        out.append(line[:m.start()] + str(int(m.group(1)) + 1) + (m.group(2) or '') + line[m.end():])
    for pair in SWAPS:
        for x, y in (pair, pair[::-1]):
            out += [line[:m.start()] + y + line[m.end():] for m in re.finditer(rf'\b{x}\b', line)]
    if STATEMENT.match(line.strip()):
        out.append(re.sub(r'\S.*', ';', line))
    return [x for x in dict.fromkeys(out) if x != line]


def code_lines(text):
    """Numbers of the lines to change: what computes. Not the declarations of vectors and instructions in front."""
    lines = text.split('\n')
    types = next((i for i, x in enumerate(lines) if re.search(r'\bg_TC g_to_c\(', x)), 0)
    for i, line in enumerate(lines):
        code = line.strip()
        if i < types and 'void g_barrier()' not in code:
            continue
        if code and not code.startswith(('/*', '*', '#', 'typedef', 'struct', 'template', 'g_UNROLL for (int i = 0; i < 1;')):
            yield i


def about(line):
    return next(name for name, pattern in ABOUT if re.search(pattern, line))


def mutants(text):
    """Every single change of a text."""
    lines, out, function, code = text.split('\n'), [], '', set(code_lines(text))
    for i in range(len(lines)):
        head = re.search(r'^\s*(?:(?:template <.*?> )?(?:g_DEV|g_FN) .*?|void )\b(\w+)\(', lines[i])
        function = head.group(1) if head else function
        if i not in code:
            continue
        before = re.sub(r'\s*/\*.*\*/', '', lines[i])
        for after in changes(before):
            changed = '\n'.join(lines[:i] + [after] + lines[i + 1:])
            out.append(Mutant(about(before), function, i + 1, before.strip(), after.strip(), changed))
    return out


def sample(all_of_them, rng, n):
    """n of them, as many about each thing as there are."""
    by = collections.defaultdict(list)
    for i in rng.permutation(len(all_of_them)):
        by[all_of_them[i].about].append(all_of_them[i])
    out = []
    while len(out) < n and any(by.values()):
        out += [by[name].pop() for name, _ in ABOUT if by[name]]
    return out[:n]
