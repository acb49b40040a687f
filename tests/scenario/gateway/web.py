"""web: an instance with its gateway, and HTTP as plainly as it goes."""
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "pipeline"))
from harness import *

GATEWAY = os.path.join(BUILD, "tools", "gateway", "millrace-gateway")


class Answer:
    def __init__(self, response):
        self.status = response.status
        self.headers = response.headers
        self.body = response.read()

    def json(self):
        try:
            return json.loads(self.body)
        except ValueError:
            return {}

    def error(self):
        return self.json().get("error", {})


class Web:
    """The gateway of an instance; a new connection for each request unless one is kept."""

    def __init__(self, m):
        self.m = m
        self.process = None

    def start(self, *words, wait=True):
        """A gateway of our own beside the instance's daemons, on a free port."""
        self.log = open(self.m.path("gateway.log"), "a")
        self.process = subprocess.Popen([GATEWAY, "--dir", self.m.dir, "--listen", "127.0.0.1:0", *words], stderr=self.log)
        if wait:
            self.m.wait_for("the gateway listens", lambda: self.url())
        return self

    def stop(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        return self.process.wait(timeout=30)

    def url(self):
        try:
            with open(os.path.join(self.m.dir, "run", "gateway.json")) as f:
                said = json.load(f)
            # One that was killed leaves its word behind.
            return said["url"] if not self.process or said["pid"] == self.process.pid else None
        except (OSError, ValueError):
            return None

    def port(self):
        return int(self.url().rsplit(":", 1)[1].strip("/"))

    def connect(self, timeout=70):
        return http.client.HTTPConnection("127.0.0.1", self.port(), timeout=timeout)

    def socket(self):
        return socket.create_connection(("127.0.0.1", self.port()), timeout=40)

    def ask(self, method, path, body=None, headers=None, token=None):
        c = self.connect()
        headers = dict(headers or {})
        if token:
            headers["Authorization"] = "Bearer " + token
        try:
            c.request(method, path, body=body, headers=headers)
            return Answer(c.getresponse())
        finally:
            c.close()

    def get(self, path, **more):
        return self.ask("GET", path, **more)

    def post(self, path, body=b"", **more):
        return self.ask("POST", path, body=body, **more)

    def metrics(self):
        """{name{labels}: value}"""
        found = {}
        for line in self.get("/metrics").body.decode().splitlines():
            if line and line[0] != "#":
                name, value = line.rsplit(" ", 1)
                found[name] = float(value)
        return found

    def alive(self):
        return self.process.poll() is None


def read(path):
    with open(path, "rb") as f:
        return f.read()


def form(*files):
    """multipart/form-data with each of these as a part called input: (body, headers)"""
    body = b""
    for data in files:
        body += b'--edge\r\nContent-Disposition: form-data; name="input"; filename="x"\r\n\r\n' + data + b"\r\n"
    return body + b"--edge--\r\n", {"Content-Type": "multipart/form-data; boundary=edge"}
