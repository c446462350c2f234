"""Changes of a kernel's text that no result can show, with the reason. Buffers: kernels that load and store through raw buffers,
which drop what is behind their end.

Rows are (pattern of 'FUNCTION: LINE', pattern of what became of it, reason); an empty pattern fits everything. A pattern with
line breaks is one of 'FUNCTION: LINE' and the lines before it, the nearest first. IN_SLOW_EDGES: rows for texts in which vectors
at an edge of M are copied the slow way."""
import re

FAR = 'decides or serves leading dimensions that 32 bits of bytes do not reach: far.py'
ROWS = [
    # registers and order
    (r'sizeof ?\(?[Vw]\b', '', 'g_opaque hides a value from the compiler; what it hides stays the same'),
    (r'g_keep_order\(\)', '', 'order of instructions'),
    (r'amdgpu_flat_work_group_size\(\d+, \d+\)', r'size\(\d+, \d+\)', 'a bound of work-groups, not their size'),
    # far operands
    (r'slow \|= t\.ld[ab] > \d+', '', FAR), (r'bool near = |unsigned STRIDE_MOST = ', '', FAR),
    (r'g_copy_is_slow\(\(const g_CopyA', r', t\.(lda, t\.m\).* t\.lda, t\.n|ldb, t\.m\).* t\.ldb, t\.n)\)', FAR),
    (r'unsigned wide = near', r'near \? \d+ : 2', FAR),
    (r'const unsigned end = |for \(unsigned n0 = ', '', 'a second turn over columns finds none of its own unless they are far: far.py'),
    (r'whole = t\.slow \? 0 : ', r't\.slow \? 1 :', FAR),
    (r't\.slow = g_copy_slow\(t\);', r'^;$', FAR),
    # what is correct by two ways
    (r't\.m0 \+ \d+ <= t\.m && t\.n0 \+ \d+ <= t\.n', r' < t\.[mn]|\+ \d*[13579] <= t\.[mn]',
     'whole tiles may be stored as edges are'),
    (r'slow \|= t\.[mn] < \d', r't\.[mn] (<= |< \d)', 'the slow way is right for all sizes'),
    (r'slow \|= t\.[mn]0 \+ \d+ > t\.[mn] ', r't\.[mn]0 \+ \d+ >= ', 'the slow way is right for all sizes'),
    (r'slow \|= \(\(\(unsigned long long\)t\.[ab] ', r'ld[ab] (\* \d*[13579]|\+ \d+)\)|\(t\.ld[ab]\)', 'the slow way is right for all sizes'),
    (r'^g_copy_is_slow: ', r'STRIDE_MOST && ', 'buffers: a vector that is wider than its operand has the same dwords inside; ' + FAR),
    (r'^g_copy_is_slow: ', r'ld >= |rows <= |TLU \|\| ', 'the slow way is right for all sizes'),
    (r'int slow = ', r'slow = 1', 'the slow way is right for all sizes'),
    (r'(const unsigned|bool) whole = ', r'whole = .*(0 < count \|\||\b0 <= (t|\(|count &&)|0 < t\.k &&|chunks - 1| / \d*[13579];|\? t\.k : 0)',
     'the way of the last chunk is right for whole chunks'),
    (r'const unsigned chunks = ', r'(\* \d+ \+|0 <= |\+ 1|t\.k \+ )', 'a chunk more has nothing of K'),
    (r'const unsigned (delay|late) = |stagger_mask', r'(delay|late) = ', 'a sum may start at any chunk'),
    (r'g_MT0 % g_WIDE|const g_u64 bits = ', '', 'elements may be stored one by one'),
    (r'sizeof\(g_T\)\) & \(g_L[AB]::CW - 1\)', r'CW - 2', 'addresses of elements are even'),
    (r'\.aligned_[ab] = ', r'!= 0;|== 1;|SHIFTED &&', 'copies of single elements are right for all addresses'),
    (r'ring\.wrap = whole - 0', r'wrap = ', 'without StaggerU no sum goes back to the first chunk'),
    (r'g_copy_store\(copy, 0, lds \+ wr\);\n\s*(\}|g_copy_move\()', r'lds \+ rd\)', 'both are 0 before the loop'),
    (r'if \(i \+ 1 < whole\)', r'i( \+ 1 <=| <) whole', 'a chunk more is loaded or stored behind the last, where nothing reads it'),
    (r'for \(; i \+ 2 < whole; i\+\+\)', r'i( \+ 2 <=| \+ 1 <| <) whole', 'a chunk more is loaded behind the last, where nothing reads it'),
    (r'static char lds\[\d+\];', r'lds\[\d+\];', 'local memory that nothing uses'),
    # zeros and lanes that do not count
    (r'k < t\.k \? from', r': \(g_P\)1', "the other operand's zeros are enough"),
    (r'\bleft\b', r'left = t\.k (\+|\*|- chunk( \+|;))|left <= |left < \d*[13579] |\(left \+ \d+\) / \d+\) : \d+|: \d+\)',
     'steps behind the end of K multiply zeros'),
    (r'^g_stage_rest: g_NOUNROLL for \(int s = 0; s < steps', r's <= steps', 'steps behind the end of K multiply zeros'),
    (r't\.m - 1;|t\.n - 1;', r'- [02];|\+ 1;', 'lanes outside of D read any element inside'),
    (r'c\.([ab][_.])?bytes = |unsigned long long (behind|to_end|bytes) = ', r'\+|^;$|\* \d*[13579]\)|\(behind\)',
     'lanes keep inside by themselves, a larger buffer shows nothing'),
    (r'g_copy_is_slow\(\(const g_CopyA', r'lda, t\.([mn])\).*ldb, t\.\1\)',
     'buffers: a vector that is wider than its operand has the same dwords inside'),
    (r't\.n0 \+ r < t\.n', r't\.n0 (\+ r <=|<) t\.n \? t\.n0 \+ r : ~0u', 'buffers: the next columns are behind the end of D'),
    (r'^g_edge_col: ', '~1u', 'behind all columns, too'),
    (r'g_uniform\(used \? seen : 0\)', r'used \? seen : 1\)', 'the range check goes by dwords: a buffer of one byte has none'),
    (r'g_(near|edge)_\w+: ', r'vector <= t\.[mn] ', 'lanes of a vector at the end are outside of D'),
    (r'row != ~0u', r'across <= ', 'columns of a tile are fewer'),
    (r'g_(near|edge)_\w+: ', r'vector >= last', 'both are the last vector'),
    (r'for \(unsigned j = whole', r'j <= count', 'a chunk more has nothing of K'),
    (r'for \(int i = b; i < (b|end)', r'i <= (b|end)', 'what the next call stores is stored twice'),
    (r'\)part \* size_m', r'\* batch_c', 'C and D have the same strides in the workspace'),
    (r'if \(s \+ 1 < \d+\) \{', r's \+ 1 <=? \d+\)|s - 1 < \d+\)|s < \d+\)', 'a fragment is loaded that nothing uses'),
    (r'seen = bytes < 0x7fffffffu', r'bytes <= 0x7fffffffu', 'both numbers are the same at the limit'),
    (r'g_(near|edge)_row: return last \+ r % 2 >= vector', r'last \+ r >= vector', 'the row before is stored twice alike'),
    (r'wr = \d+ - wr;\n\s*g_copy_store\(.*\n\s*if \(i \+ 1 < whole\)', '', 'no chunk is stored behind the last'),
    (r'wr = \d+ - wr;\n\s*g_copy_store\(.*\n\s*(rd = |g_copy_move\()', r'^wr = \d+ - rd;$', 'rd and wr are the same there'),
    (r'rd = \d+ - rd;\n\s*g_stage\(.*\n\s*g_copy_move\(.*\n\s*wrap -= 1;\n\s*g_copy_load\(.*\n\s*wr = ', r'^rd = \d+ - wr;$',
     'rd and wr are the same there'),
    (r'int n = left >= 16', r'left (> 16|>= 17) \?|left (> 8|>= 9) \?', 'a vector may be loaded in parts of 4 and 8 bytes'),
    (r'^g_frag_load: g_UNROLL for \(int i = 0; ', r'int i = 0; i <=? \d+; i\+\+', 'a vector behind the fragment, which nothing uses'),
    (r'\(part \^ n0 / 2 % 4\)', r'\(part \^ m0 / 2 % 4\)', 'a lane has the same row of A as column of B within a tile'),
    (r'^g_copy_tail: g_NOUNROLL for \(unsigned i = 0; ', r'unsigned i = 0; i <=? \d+; i\+\+',
     'a vector behind the tile, where B is copied later or the other stage is'),
    (r'__builtin_amdgcn_mfma_\w*_(32x32x8|16x16x16)', r', 1, 0, 0\);|, 0, 1, 0\);', 'one block: there are none to broadcast to'),
    (r'g_raw_(load|store)', r', 0, 1\)|, \(int\)\(.*\), 1\)', 'a hint to caches'),
    (r'\.aligned_[ab] = ', r'ld[ab] \+ sizeof', 'a leading dimension that is a multiple of 16 less 4 is one of 4 elements; single elements are always right'),
    (r'bool whole = !g_ADDS', r'[mn]_left > ', 'whole tiles may be stored as edges are'),
    (r'sizeof\(g_TD\) == 2 && !g_ADDS\) g_store_pairs', r'== 2 \|\| !g_ADDS', 'pairs are right for all types'),
    (r'\|\| n < 0\) n = 0;', r'n < 1\)|n <= 0\)', 'n is 0 then'),
    (r'^shared_offset: .*L::PASS_ROWS % (4|16) == 0\)', r'PASS_ROWS % (4|16) == 1|PASS_ROWS % (5|17)|PASSES == 2', 'a short form of the same address'),
    (r'if \(near && ', r'if \(near && t\.m0 \+ (\d+|g_STORE_ROWS) <= t\.m && ', 'buffers: columns that are too many are behind the end of D'),
    (r'^g_near_\w+: const unsigned last = t\.[mn] - 2;', r'\+ 2;|t\.[mn];',
     'vectors of two: at the odd row of the last one is the last row either way, the even one is not stored'),
    (r'vector = t\.[mn]0 \+ r / 2 \* 2', 'vector = ', 'where vectors have two rows, the last row is the one that the edge moves to'),
    (r'g_is_zero\(g_from_s\(alpha\)\)', r'g_from_s\(-alpha\)', 'minus zero is zero'),
]
SLOW_EDGES = r'slow \|= t\.m0 \+ \d+ > t\.m && t\.m % '
IN_SLOW_EDGES = [
    (r'^g_(near|edge)_row: if \(!t\.slow && vector < t\.m ', r'vector < t\.n ', 'no vector of the fast way hangs over the edge'),
    (r'^g_(near|edge)_row: return last \+ r % ', '', 'no vector of the fast way hangs over the edge'),
]


def reason(m):
    """Why a change makes no difference, or None."""
    line = f'{m.function}: {m.before}'
    above = '\n'.join([line, *m.text.split('\n')[max(0, m.line - 10):m.line - 1][::-1]])
    return next((why for before, after, why in ROWS + (IN_SLOW_EDGES if re.search(SLOW_EDGES, m.text) else [])
                 if re.search(before, above if '\\n' in before else line) and re.search(after, m.after)), None)
