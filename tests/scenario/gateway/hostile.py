"""Callers that may not, requests that are broken, clients that are slow or many: each gets its own
answer, none stalls another, and the pipeline does not notice."""
import concurrent.futures

from web import *

CURVE, CIRCUIT = "bn128", "mul"
witness = read(fixture(CURVE, CIRCUIT, ".wtns"))
CONFIG = "[memory]\narena = 64M\n[gpud]\nbackend = cpu\n[gateway]\nbody = 1MiB\nrate = 100000\n"


def refused(a, status, code, field, what):
    e = a.error()
    check(a.status == status and e.get("code") == code and e.get("field") == field and e.get("message"), f"{what}: {a.status} {a.body[:200]}")


def raw(w, data, wait=3.0):
    """Sends bytes as they are; returns what comes back until the end or the wait is over."""
    with w.socket() as s:
        got = b""
        try:
            s.sendall(data)
            s.settimeout(wait)
            while piece := s.recv(65536):
                got += piece
        except OSError:
            pass
        return got


def status(answer):
    return int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/") else 0


def broken_requests(w):
    refused(w.post("/v1/jobs", witness), 400, "missing", "circuit", "no circuit named")
    refused(w.post("/v1/jobs?circuit=none", witness), 404, "unknown-circuit", "circuit", "no such circuit")
    refused(w.post("/v1/jobs?circuit=" + "x" * 65, witness), 400, "too-long", "circuit", "a long name")
    refused(w.post("/v1/jobs?circuit=c&priority=256", witness), 400, "bad-number", "priority", "priority")
    refused(w.post("/v1/jobs?circuit=c&limit=-1", witness), 400, "bad-number", "limit", "limit")
    refused(w.post("/v1/jobs?circuit=c&wait=1e9", witness), 400, "bad-number", "wait", "wait")
    refused(w.post("/v1/jobs?circuit=c", b""), 400, "empty", "body", "an empty body")
    refused(w.post("/v1/jobs?circuit=c", b"{\"a\": "), 400, "input", "body", "JSON that ends early")
    refused(w.post("/v1/jobs?circuit=c", b"[1]"), 400, "input", "body", "JSON that is no object")
    refused(w.post("/v1/jobs?circuit=c", b"\xff" * 100), 400, "input", "body", "neither witness nor JSON")
    refused(w.post("/v1/jobs?circuit=c", witness[:60]), 400, "format", "body", "a witness cut short")
    refused(w.post("/v1/jobs?circuit=c", b"x", headers={"Content-Type": "multipart/form-data"}), 400, "form", "Content-Type", "a form without boundary")
    body, headers = form(witness, b"{}")
    refused(w.post("/v1/jobs?circuit=c", body, headers=headers), 400, "mixed", "input", "witness and input.json in one job")
    refused(w.post("/v1/jobs?circuit=c", body.replace(b'"input"', b'"other"'), headers=headers), 400, "unknown-part", "form", "a part of another name")
    refused(w.post("/v1/jobs?circuit=c", body[:-12], headers=headers), 400, "form", "body", "a form that does not end")
    body, headers = form(witness, b"", witness)
    refused(w.post("/v1/jobs?circuit=c", body, headers=headers), 400, "empty", "input", "a form with an empty part")
    body, headers = form(*[witness] * 500)
    for cut in range(1, 160, 13):  # a part that began with a piece of no bytes was taken for an empty one
        a = w.post("/v1/jobs", b"x" * cut + b"\r\n" + body, headers=headers)
        check(a.error().get("field") == "circuit", f"a large form, {cut} bytes along, is read whole: {a.status} {a.body[:200]}")
    refused(w.get("/v1/jobs?state=odd"), 400, "usage", "state", "a state that there is not")
    refused(w.get("/v1/jobs/0"), 400, "bad-number", "job", "job 0")
    refused(w.get("/v1/jobs/99999999999999999999"), 400, "bad-number", "job", "a job beyond 64 bits")
    refused(w.get("/v1/jobs/7777/proof"), 404, "no-such-job", "job", "a job that there is not")
    refused(w.get("/nowhere"), 404, "no-such-path", None, "no such path")
    a = w.ask("PUT", "/v1/jobs")
    refused(a, 405, "method", None, "another method")
    check(a.headers["Allow"] == "GET, POST", "and which there are")
    for path in ("/../../etc/passwd", "/v1/jobs/..%2f..%2fmillrace.conf/proof", "/%2e%2e/gateway.tokens", "/v1/jobs/%00/proof", "//etc/passwd", "/input/..%2f..", "/page.css/../page.js"):
        check(w.get(path).status in (400, 404), f"{path} is nowhere")
    check(w.post("/input/..", b"{}").status in (400, 404), "rapidsnark's circuit is no path")
    check(w.ask("HEAD", "/metrics").status == 200, "HEAD")
    refused(w.post("/cancel", b"x" * 100), 413, "unwanted-body", "Content-Length", "a body where there is none")


def raw_bytes(w):
    check(status(raw(w, b"GET /" + b"x" * 100000 + b" HTTP/1.1\r\n\r\n")) in (0, 400, 414, 431), "a long path")
    check(status(raw(w, b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"y" * 100000 + b"\r\n\r\n")) in (0, 400, 413, 431), "a long head")
    check(status(raw(w, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(range(256)), 1)) in (0, 400), "TLS to a plain port")
    check(status(raw(w, b"GARBAGE\r\n\r\n", 1)) in (0, 400), "no HTTP at all")
    check(status(raw(w, b"POST /v1/jobs?circuit=c HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n", 1)) in (0, 400, 413), "a negative length")
    check(status(raw(w, b"POST /v1/jobs?circuit=c HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999999\r\n\r\n", 1)) in (0, 400, 413), "a length beyond 64 bits")
    # Said to be too large: refused before a byte of it was sent.
    check(status(raw(w, b"POST /v1/jobs?circuit=c HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2000000\r\n\r\n", 2)) == 413, "too large by its head")
    chunk = b"8000\r\n" + b"z" * 0x8000 + b"\r\n"
    check(status(raw(w, b"POST /v1/jobs?circuit=c HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk * 40 + b"0\r\n\r\n", 3)) == 413, "too large as it comes")
    with w.socket() as s:
        s.sendall(b"POST /v1/jobs?circuit=c HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nwtns")
    w.m.wait_for("what a client left behind is wiped", lambda: w.m.spooled() == [])


def slow_clients(w):
    """Heads and bodies that come a byte a second, readers that do not read, and idle connections."""
    def trickle(head, forever):
        s = w.socket()
        s.sendall(head)
        began = time.monotonic()
        try:
            while time.monotonic() - began < 60:
                s.sendall(forever)
                time.sleep(0.5)
                s.setblocking(False)
                try:
                    if s.recv(4096) == b"":
                        break
                except BlockingIOError:
                    pass
                s.setblocking(True)
        except OSError:
            pass
        s.close()
        return time.monotonic() - began

    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        heads = [pool.submit(trickle, b"GET / HTTP/1.1\r\nX: ", b"y") for _ in range(4)]
        lines = [pool.submit(trickle, b"GET /", b"y") for _ in range(2)]
        bodies = [pool.submit(trickle, b"POST /v1/jobs?circuit=c HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n", b"y") for _ in range(4)]
        deaf = []
        for _ in range(4):
            s = w.socket()
            s.sendall(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
            deaf.append(s)
        time.sleep(2)
        # Meanwhile others are served, and fast.
        worst, t = 0, time.monotonic()
        while time.monotonic() - t < 3:
            began = time.perf_counter()
            check(w.get("/metrics").status == 200, "a scrape among slow clients")
            worst = max(worst, time.perf_counter() - began)
            time.sleep(0.05)
        check(worst < 0.5, f"no scrape took long: {worst:.3f} s")
        check(w.post("/v1/jobs?circuit=c&wait=30", witness).status == 200, "a proof among slow clients")
        for name, those, most in (("heads", heads, 13), ("request lines", lines, 13), ("bodies", bodies, 26)):
            took = max(f.result() for f in those)
            check(took < most, f"slow {name} are ended: after {took:.1f} s")
        for s in deaf:
            s.close()
    w.m.wait_for("their uploads are wiped", lambda: w.m.spooled() == [])


def many_connections(w):
    kept = w.connect()
    kept.request("GET", "/health")
    kept.getresponse().read()
    idle = []
    for _ in range(300):
        try:
            idle.append(w.socket())
        except OSError:
            break
    kept.request("GET", "/health")
    check(kept.getresponse().read() != b"", "a connection that was there is served among 300 idle ones")
    code, _, err = w.m("submit", "c", fixture(CURVE, CIRCUIT, ".wtns"))
    check(code == 0, f"the pipeline does not notice: {err}")
    for s in idle:
        s.close()
    w.m.wait_for("the next connection is served", lambda: try_health(w), 20)
    streams = []
    try:
        for _ in range(32):
            s = w.socket()
            s.sendall(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
            s.recv(15)
            streams.append(s)
        refused(w.get("/events"), 503, "too-many-pages", None, "a page too many")
    finally:
        for s in streams:
            s.close()


def try_health(w):
    try:
        return w.get("/health").status == 200
    except OSError:
        return False


def other_origins(w):
    port = w.port()
    refused(w.get("/status", headers={"Host": "evil.example"}), 403, "foreign-host", "Host", "a name that was bent to us")
    refused(w.post("/cancel", headers={"Origin": "http://evil.example"}), 403, "foreign-origin", "Origin", "a page of elsewhere")
    check(w.post("/cancel", headers={"Origin": f"http://127.0.0.1:{port}"}).status == 200, "a page of ours")
    check(w.get("/").headers["Content-Security-Policy"].startswith("default-src 'none'"), "the page loads nothing from elsewhere")


def tokens(m, w):
    made = {}
    for name, role in (("ann", "client"), ("bob", "client"), ("eye", "observer"), ("boss", "operator")):
        code, out, _ = run(GATEWAY, "token", name, "--role", role, "--dir", m.dir)
        check(code == 0 and len(out.strip()) == 64, f"a token for {name}")
        made[name] = out.strip()
    check(run(GATEWAY, "token", "ann", "--dir", m.dir)[0] == 11, "a name has one token")
    check(run(GATEWAY, "token", "a b", "--dir", m.dir)[0] == 2, "a name is a word")
    path = os.path.join(m.dir, "gateway.tokens")
    check(os.stat(path).st_mode & 0o777 == 0o600 and made["ann"] not in open(path).read(), "the file is private and holds no token")
    w.process.send_signal(signal.SIGHUP)
    m.wait_for("the tokens are read", lambda: w.get("/status").status == 401)
    refused(w.get("/metrics"), 401, "no-token", "Authorization", "no token")
    refused(w.get("/metrics", token="0" * 64), 401, "bad-token", "Authorization", "a token of nobody")
    check(w.get("/").status == 200 and w.get("/health").status == 200, "the page's files hold no data")
    check(w.get("/nowhere").status == 401, "nor does nobody learn which paths there are")
    check(w.get("/metrics", token=made["eye"]).status == 200, "an observer observes")
    refused(w.post("/v1/jobs?circuit=c", witness, token=made["eye"]), 403, "role", "Authorization", "and does not prove")
    job = w.post("/v1/jobs?circuit=c&wait=30", witness, token=made["ann"]).json()["job"]
    check(w.get(f"/v1/jobs/{job}/proof", token=made["ann"]).status == 200, "ann has her proof")
    check(w.get(f"/v1/jobs/{job}", token=made["boss"]).json()["client"] == "ann", "the operator sees whose it is")
    for path in ("", "/await", "/proof", "/public"):
        refused(w.get(f"/v1/jobs/{job}{path}", token=made["bob"]), 404, "no-such-job", "job", f"bob does not see {path}")
    refused(w.ask("DELETE", f"/v1/jobs/{job}", token=made["bob"]), 404, "no-such-job", "job", "nor cancels it")
    check(w.get("/v1/jobs?client=ann", token=made["bob"]).json() == {"jobs": []}, "nor lists it")
    check([j["job"] for j in w.get("/v1/jobs?client=ann", token=made["boss"]).json()["jobs"]] == [job], "the operator does")
    with open(path, "w") as f:
        f.write("ann king 00\n")
    w.process.send_signal(signal.SIGHUP)
    time.sleep(0.3)
    check(w.get("/metrics", token=made["eye"]).status == 200, "a broken file leaves the tokens as they were")
    os.unlink(path)


with Instance(CONFIG) as m:
    code, _, err = run(GATEWAY, "--dir", m.dir)
    check(code == 10, f"no instance, no gateway: {err}")
    m.up()
    m.ok("circuit", "add", fixture(CURVE, CIRCUIT, ".zkey"), "--alias", "c")
    code, _, err = run(GATEWAY, "--dir", m.dir, "--listen", "0.0.0.0:0", timeout=20)
    check(code == 11 and "gateway.tokens" in err, f"no tokens, no port for others: {err}")
    check(run(GATEWAY, "--dir", m.dir, "--listen", "nowhere:80")[0] == 2, "an address that is none")
    w = Web(m).start()
    code, _, err = run(GATEWAY, "--dir", m.dir, "--listen", "127.0.0.1:0", timeout=20)
    check(code == 11, f"one gateway an instance: {err}")
    check(w.post("/v1/jobs?circuit=c&wait=30", witness).status == 200, "it proves")
    broken_requests(w)
    raw_bytes(w)
    other_origins(w)
    many_connections(w)
    slow_clients(w)
    check(w.post("/v1/jobs?circuit=c&wait=30", witness).status == 200, "it proves still")
    daemons = m.daemons()
    with w.socket() as page:
        page.sendall(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        check(page.recv(15) == b"HTTP/1.1 200 OK", "a page is open")
        began = time.monotonic()
        check(w.stop() == 0 and time.monotonic() - began < 10, "a clean end, with a page open")
    t = Web(m).start()
    tokens(m, t)
    t.stop(signal.SIGKILL)
    with open(os.path.join(m.dir, "millrace.conf"), "a") as f:
        f.write("per_address = 16\n")
    text = open(os.path.join(m.dir, "millrace.conf")).read().replace("rate = 100000", "rate = 20")
    open(os.path.join(m.dir, "millrace.conf"), "w").write(text)
    limited = Web(m).start()
    answers = [limited.get("/health").status for _ in range(120)]
    check(answers[:30] == [200] * 30 and 429 in answers, f"a rate is kept: {answers.count(429)} of 120")
    check(limited.get("/health").headers.get("Retry-After") == "1", "and when to come again is said")
    limited.stop()
    check(m.daemons() == daemons, "no daemon was restarted by any of this")
    check(m.spooled() == [], f"the spool is empty: {m.spooled()}")
    m.down()
finish()
