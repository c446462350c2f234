"""The page of `tuner report` in a browser: report.py PAGE. Prints what holds; an assertion ends it."""
import os
import sys

import cdp

page = 'file://' + os.path.abspath(sys.argv[1])
IDS = "[...document.querySelectorAll('main > section')].map(s => s.id)"
COLUMN = """(key => { const g = document.querySelector('#winners .grid'); const at = [...g.querySelectorAll('.th')].findIndex(t => t.dataset.key === key);
    return [...g.querySelectorAll('.body .row')].sort((a, b) => a.dataset.i - b.dataset.i).map(r => r.children[at].textContent); })"""
MATCHED = "document.getElementById('matched').textContent"


def column(b, key):
    return b.eval(f"{COLUMN}('{key}')")


def filter_by(b, words):
    b.click('#filter')
    b.eval("document.getElementById('filter').select()")
    b.type(words) if words else b.key('Delete', 46)
    b.wait(f"document.getElementById('filter').value === {words!r}")
    b.eval('new Promise(r => setTimeout(r, 250))')


def numbers(texts):
    return [float(t.replace(',', '')) for t in texts if t != '–']


with cdp.Browser(1280, 900) as b:
    b.open(page)
    print('sections:', *b.eval(IDS))
    b.key('Tab', 9)
    print('the first key Tab:', b.eval('document.activeElement.textContent'))
    print(b.eval(MATCHED), '|', b.eval("document.getElementById('state').textContent"))
    every = ['overview', 'winners', 'roofline', 'heat', 'parameters', 'races', 'compare', 'failures']
    for section in every:
        b.eval(f"document.getElementById('{section}').scrollIntoView()")
        b.wait(f"document.querySelector('#{section} .content').children.length > 0")
    b.wait("document.querySelector('#roofline canvas').width > 300")
    print('drawn:', b.eval("""(() => { const c = document.querySelector('#roofline canvas'), d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
        let n = 0; for (let i = 3; i < d.length; i += 4) n += d[i] > 0; return n > 500; })()"""))

    b.click("#winners .th[data-key='gflops'] button")
    down = numbers(column(b, 'gflops'))
    b.click("#winners .th[data-key='gflops'] button")
    up = numbers(column(b, 'gflops'))
    assert down == sorted(down, reverse=True) and up == down[::-1] and len(down) >= 6, (down, up)
    print('sorted by a click, and the other way by a second:', b.eval("document.querySelector(\"#winners .th[data-key='gflops']\").getAttribute('aria-sort')"))

    filter_by(b, 'm>=64 m<256 !bljk_sb_07')
    print('filter:', b.eval(MATCHED), sorted(set(column(b, 'm'))))
    b.eval('location.reload()')
    b.wait("document.readyState === 'complete' && document.documentElement.dataset.ready === 'yes'")
    print('kept by a reload:', b.eval("document.getElementById('filter').value"), '|', b.eval("document.querySelector(\"#winners .th[data-key='gflops']\").getAttribute('aria-sort')"))
    filter_by(b, 'nothing-has-this')
    print('none:', b.eval(MATCHED), '|', b.eval("document.querySelector('#winners .empty').textContent"))
    filter_by(b, '')
    b.eval("(() => { const s = document.getElementById('group'); s.value = '1'; s.dispatchEvent(new Event('change')); })()")
    print('one group:', b.eval(MATCHED))
    b.eval("(() => { const s = document.getElementById('group'); s.value = ''; s.dispatchEvent(new Event('change')); })()")

    b.eval("document.getElementById('heat').scrollIntoView()")
    b.wait("document.querySelector('#heat .heat button') !== null")
    b.click('#heat .heat button')
    print('a cell of the heat map filters:', b.eval("/^n>=\\d+ n<=\\d+ m>=\\d+ m<=\\d+$/.test(document.getElementById('filter').value)"), b.eval(MATCHED) != '')
    filter_by(b, '')

    b.eval("document.querySelector('#winners .grid').focus()")
    b.key('ArrowDown', 40)
    b.key('ArrowDown', 40)
    b.key('Enter', 13)
    b.wait("document.getElementById('detail').open")
    print('keyboard: Enter opens', b.eval("document.querySelector('#winners .row.active').dataset.i"),
          b.eval("document.querySelectorAll('#detail .place').length > 0"), b.eval("document.querySelectorAll('#detail .grid .body .row').length > 0"))
    b.key('Escape', 27)
    b.wait("!document.getElementById('detail').open")
    print('Escape closes; the focus is back:', b.eval("document.activeElement === document.querySelector('#winners .grid')"))
    filter_by(b, 'window.hacked')
    print('names from outside are text:', b.eval('window.hacked === undefined'), b.eval("document.querySelectorAll('img, b[onclick]').length"),
          b.eval("[...document.querySelectorAll('#winners .cell')].some(c => c.textContent.includes('<b onclick'))"))
    b.eval("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.hacked=3\"><svg onload=\"window.hacked=4\">')")
    b.eval('new Promise(r => setTimeout(r, 200))')
    print('the policy forbids others to run:', b.eval('window.hacked === undefined'), len([m for m in b.messages if 'Content Security Policy' in m]) > 0)
    b.messages = [m for m in b.messages if 'Content Security Policy' not in m]
    filter_by(b, '')

    for width, dark in (400, False), (400, True), (1280, True):
        b.size = (width, 900)
        b.resize(width, 900)
        b.scheme(dark)
        b.open(page)
        for section in every:
            b.eval(f"document.getElementById('{section}').scrollIntoView()")
            b.eval('new Promise(r => setTimeout(r, 60))')
        wide = b.eval('document.documentElement.scrollWidth - document.documentElement.clientWidth')
        ink, ground = b.eval("[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor].map(c => c.match(/\\d+/g).slice(0, 3).reduce((s, v) => s + Number(v), 0))")
        small = b.eval("Math.min(...[...document.querySelectorAll('main *')].filter(e => e.childNodes.length && [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()) && e.offsetParent).map(e => parseFloat(getComputedStyle(e).fontSize)))")
        print(f"{width} {'dark' if dark else 'light'}: {wide} pixels too wide, {'light on dark' if ink > ground else 'dark on light'}, letters of at least {'10' if small >= 10 else small} pixels")
    print('messages:', b.messages)
    print('requests:', sorted({r.split(':')[0] for r in b.requests}))
