"""browser: headless Chromium over its DevTools protocol: a WebSocket with JSON in it (RFC 6455), as
much of it as these tests need."""
import base64
import json
import os
import shutil
import socket
import struct
import subprocess
import time
import urllib.request

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Browser:
    def __init__(self, work):
        self.process = subprocess.Popen(
            [CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-port=0", "--remote-allow-origins=*", f"--user-data-dir={work}", "--no-first-run", "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        until = time.monotonic() + 60
        port = None
        while not port and time.monotonic() < until:
            try:
                with open(os.path.join(work, "DevToolsActivePort")) as f:
                    port = int(f.readline())
            except (OSError, ValueError):
                time.sleep(0.1)
        if not port:
            raise RuntimeError("chromium does not start")
        pages = json.load(urllib.request.urlopen(f"http://127.0.0.1:{port}/json"))
        url = next(p["webSocketDebuggerUrl"] for p in pages if p["type"] == "page")
        self.events, self.next = [], 1
        self.s = socket.create_connection(("127.0.0.1", port), timeout=60)
        key = base64.b64encode(os.urandom(16)).decode()
        self.s.sendall(f"GET {url[url.index('/devtools'):]} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode())
        self.rest = b""
        while b"\r\n\r\n" not in self.rest:
            self.rest += self.s.recv(4096)
        self.rest = self.rest.split(b"\r\n\r\n", 1)[1]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(domain + ".enable")

    def _take(self, n):
        while len(self.rest) < n:
            piece = self.s.recv(1 << 16)
            if not piece:
                raise RuntimeError("chromium went away")
            self.rest += piece
        data, self.rest = self.rest[:n], self.rest[n:]
        return data

    def _receive(self):
        whole = b""
        while True:
            first, size = self._take(2)
            size &= 127
            if size >= 126:
                size = struct.unpack(">H" if size == 126 else ">Q", self._take(2 if size == 126 else 8))[0]
            data = self._take(size)
            if first & 15 in (9, 10):
                continue
            whole += data
            if first & 128:
                return json.loads(whole)

    def call(self, method, **params):
        data = json.dumps({"id": self.next, "method": method, "params": params}).encode()
        head = bytes([129]) + (bytes([128 | len(data)]) if len(data) < 126 else bytes([254]) + struct.pack(">H", len(data)))
        self.s.sendall(head + b"\0\0\0\0" + data)  # a mask of zeros is a mask
        self.next += 1
        while True:
            m = self._receive()
            if m.get("id") == self.next - 1:
                if "error" in m:
                    raise RuntimeError(f"{method}: {m['error']}")
                return m["result"]
            self.events.append(m)

    def run(self, expression):
        r = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in r:
            raise RuntimeError(f"{expression}: {r['exceptionDetails']['text']}")
        return r["result"].get("value")

    def wait(self, expression, seconds=20):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            try:
                if self.run(expression):
                    return True
            except RuntimeError:
                pass  # the page is not there yet
            time.sleep(0.2)
        return False

    def look(self, width, height, dark=False, phone=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=2 if phone else 1, mobile=phone)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        time.sleep(0.3)

    def open(self, url):
        self.call("Page.navigate", url=url)

    def shot(self, path):
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        data = self.call("Page.captureScreenshot", captureBeyondViewport=True, clip={"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1})["data"]
        with open(path, "wb") as f:
            f.write(base64.b64decode(data))

    def troubles(self):
        """What the page complained about: exceptions, errors on the console, requests elsewhere."""
        found = []
        for e in self.events:
            p = e.get("params", {})
            if e["method"] == "Runtime.exceptionThrown":
                found.append(p["exceptionDetails"].get("exception", {}).get("description", "exception"))
            if e["method"] == "Log.entryAdded" and p["entry"]["level"] == "error":
                found.append(p["entry"]["text"])
        return found

    def requested(self):
        return [e["params"]["request"]["url"] for e in self.events if e["method"] == "Network.requestWillBeSent"]

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
