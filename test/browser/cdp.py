"""A small client of the Chrome DevTools Protocol: starts a headless chromium with an empty profile, opens a page, evaluates
JavaScript in it, sends input, takes screenshots, and collects console messages and exceptions. Standard library only."""
import base64
import json
import os
import shutil
import socket
import struct
import subprocess
import tempfile
import time
import urllib.request


def find_browser():
    """The path of a chromium, or None."""
    for name in (os.environ.get('CHROMIUM', ''), 'chromium', 'chromium-browser', 'google-chrome'):
        path = name and shutil.which(name)
        if path:
            return path
    return None


class WebSocket:
    def __init__(self, url, timeout=60):
        host, path = url.split('//')[1].split('/', 1)
        name, port = host.split(':')
        self.sock = socket.create_connection((name, int(port)), timeout)
        key = base64.b64encode(os.urandom(16)).decode()
        self.sock.sendall(f'GET /{path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n'
                          f'Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n'.encode())
        self.buffer = b''
        while b'\r\n\r\n' not in self.buffer:
            self.buffer += self.sock.recv(4096)
        head, self.buffer = self.buffer.split(b'\r\n\r\n', 1)
        if b' 101 ' not in head.split(b'\r\n')[0]:
            raise OSError(f'no WebSocket: {head[:100]}')

    def take(self, n):
        while len(self.buffer) < n:
            more = self.sock.recv(1 << 20)
            if not more:
                raise OSError('the browser closed the connection')
            self.buffer += more
        out, self.buffer = self.buffer[:n], self.buffer[n:]
        return out

    def send(self, text):
        data, mask = text.encode(), os.urandom(4)
        n = len(data)
        head = bytes([0x81]) + (bytes([0x80 | n]) if n < 126 else bytes([0xfe]) + struct.pack('>H', n) if n < 65536 else
                                bytes([0xff]) + struct.pack('>Q', n))
        self.sock.sendall(head + mask + bytes(b ^ mask[i & 3] for i, b in enumerate(data)))

    def receive(self):
        out = b''
        while True:
            a, b = self.take(2)
            n = b & 127
            n = struct.unpack('>H', self.take(2))[0] if n == 126 else struct.unpack('>Q', self.take(8))[0] if n == 127 else n
            data = self.take(n)
            if a & 15 in (0, 1, 2):
                out += data
                if a & 128:
                    return out.decode()


class Browser:
    """with Browser(width, height) as b: b.open(url); b.eval('1 + 1')"""

    def __init__(self, width=1280, height=900, path=None, dark=False):
        self.size, self.path, self.dark = (width, height), path or find_browser(), dark

    def __enter__(self):
        self.profile = tempfile.mkdtemp(prefix='tuner-browser-')
        try:
            return self.start()
        except BaseException:
            self.__exit__()
            raise

    def start(self):
        self.process = subprocess.Popen(
            [self.path, '--headless', '--no-sandbox', '--disable-gpu', '--disable-background-networking',
             '--disable-component-update', '--disable-sync', '--no-first-run', '--disable-dev-shm-usage',
             '--remote-debugging-port=0', f'--user-data-dir={self.profile}', 'about:blank'],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        port_file, until = os.path.join(self.profile, 'DevToolsActivePort'), time.time() + 60
        while not (os.path.exists(port_file) and open(port_file).read().count('\n')):
            if time.time() > until or self.process.poll() is not None:
                raise OSError('the browser did not start')
            time.sleep(0.05)
        port = open(port_file).read().split('\n')[0]
        with urllib.request.urlopen(f'http://127.0.0.1:{port}/json', timeout=60) as f:
            target = next(t for t in json.load(f) if t['type'] == 'page')
        self.socket, self.number, self.messages, self.requests = WebSocket(target['webSocketDebuggerUrl']), 0, [], []
        self.loaded = 0
        for domain in 'Page', 'Runtime', 'Log', 'Network':
            self.call(domain + '.enable')
        self.resize(*self.size)
        self.scheme(self.dark)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    def note(self, message):
        method, p = message.get('method'), message.get('params', {})
        if method == 'Runtime.exceptionThrown':
            d = p['exceptionDetails']
            self.messages.append('exception: ' + d.get('exception', {}).get('description', d['text']))
        elif method == 'Runtime.consoleAPICalled' and p['type'] in ('error', 'warning', 'assert'):
            self.messages.append(f"console {p['type']}: " + ' '.join(str(a.get('value', a.get('description'))) for a in p['args']))
        elif method == 'Log.entryAdded' and p['entry']['level'] in ('error', 'warning'):
            self.messages.append(f"log: {p['entry']['text']} {p['entry'].get('url', '')}")
        elif method == 'Network.requestWillBeSent':
            self.requests.append(p['request']['url'])
        elif method == 'Page.loadEventFired':
            self.loaded += 1

    def call(self, method, **params):
        self.number += 1
        self.socket.send(json.dumps({'id': self.number, 'method': method, 'params': params}))
        while True:
            message = json.loads(self.socket.receive())
            if message.get('id') == self.number:
                if 'error' in message:
                    raise OSError(f"{method}: {message['error']}")
                return message['result']
            self.note(message)

    def resize(self, width, height):
        self.call('Emulation.setDeviceMetricsOverride', width=width, height=height, deviceScaleFactor=1, mobile=False)

    def scheme(self, dark):
        self.call('Emulation.setEmulatedMedia',
                  features=[{'name': 'prefers-color-scheme', 'value': 'dark' if dark else 'light'}])

    def eval(self, code):
        out = self.call('Runtime.evaluate', expression=code, returnByValue=True, awaitPromise=True)
        if 'exceptionDetails' in out:
            raise OSError(f"{code[:200]}: {out['exceptionDetails'].get('exception', {}).get('description')}")
        return out['result'].get('value')

    def wait(self, code, seconds=20):
        """Until the expression is true; returns the seconds that it took. While a page is loaded it may have no value."""
        start = time.time()
        while True:
            try:
                if self.eval(code):
                    return time.time() - start
            except OSError as e:
                why = e
            else:
                why = 'it is false'
            if time.time() - start > seconds:
                raise OSError(f'not true after {seconds} s: {code}: {why}')
            time.sleep(0.03)

    def open(self, url):
        """Opens a page and returns the seconds until its script has run."""
        start = time.time()
        self.call('Page.navigate', url=url)
        self.wait("document.readyState === 'complete' && document.documentElement.dataset.ready === 'yes'", 60)
        return time.time() - start

    def click(self, selector):
        """A real click in the middle of the element, which is scrolled into view before."""
        x, y = self.eval(f"""(() => {{ const e = document.querySelector({json.dumps(selector)});
            e.scrollIntoView({{block: 'center', inline: 'nearest'}}); const r = e.getBoundingClientRect();
            return [r.left + r.width / 2, r.top + r.height / 2]; }})()""")
        for kind in 'mousePressed', 'mouseReleased':
            self.call('Input.dispatchMouseEvent', type=kind, x=x, y=y, button='left', clickCount=1)

    def key(self, key, code=0, text=None):
        for kind in 'keyDown', 'keyUp':
            more = {'text': text} if text and kind == 'keyDown' else {}
            self.call('Input.dispatchKeyEvent', type=kind, key=key, windowsVirtualKeyCode=code, **more)

    def type(self, text):
        self.call('Input.insertText', text=text)

    def screenshot(self, path, whole=True):
        if whole:
            self.eval('scrollTo(0, 0)')
            height = self.eval('document.documentElement.scrollHeight')
            self.resize(self.size[0], min(height, 12000))
            self.eval('new Promise(r => setTimeout(r, 400))')
        data = self.call('Page.captureScreenshot', format='png')['data']
        if whole:
            self.resize(*self.size)
        with open(path, 'wb') as f:
            f.write(base64.b64decode(data))
