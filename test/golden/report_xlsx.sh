# tuner report --xlsx: the workbook is opened as what it is, a zip of XML, and has the columns and the numbers of the CSV.
command -v python3 >/dev/null || { echo 'skipped: no python3 here'; exit 0; }
"$BIN/tuner" report "$DATA/report/results.csv" --before "$DATA/report/results.csv" --xlsx r.xlsx 2>err ||
  { grep -q 'built without libxlsxwriter' err && echo "skipped: $(cat err)" || cat err; exit 0; }
cat >read.py <<'END'
import re, sys, zipfile
import xml.etree.ElementTree as xml
z = zipfile.ZipFile(sys.argv[1])
assert z.testzip() is None
ns = {'m': 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'}
strings = [''.join(t.text or '' for t in s.iter('{%s}t' % ns['m'])) for s in xml.fromstring(z.read('xl/sharedStrings.xml'))]
print('sheets:', *[s.get('name') for s in xml.fromstring(z.read('xl/workbook.xml')).find('m:sheets', ns)])
rows = []
for row in xml.fromstring(z.read('xl/worksheets/sheet1.xml')).iter('{%s}row' % ns['m']):
    cells = {}
    for c in row:
        v = c.find('m:v', ns)
        if v is not None: cells[re.match('[A-Z]+', c.get('r'))[0]] = strings[int(v.text)] if c.get('t') == 's' else float(v.text)
    rows.append(cells)
print('columns:', ', '.join(rows[0].values()))
by = {name: letter for letter, name in rows[0].items()}
for r in rows[1:]: print(*[r.get(by[c]) for c in ('M', 'N', 'batch', 'K', 'GFlops', 'GFlops before', 'ratio')])
END
python3 read.py r.xlsx
ls | grep -c part
"$BIN/tuner" report "$DATA/report/results.csv" --xlsx none/r.xlsx; echo "exit $?"
