"""/metrics as promtool wants it, idle and after proofs; what a scrape costs."""
from web import *

if not shutil.which("promtool"):
    skip("promtool is not installed (Debian: prometheus)")
CURVE, CIRCUIT = "bn128", "mul"


def checked(w, when):
    text = w.get("/metrics").body.decode()
    code, out, err = run("promtool", "check", "metrics", stdin=text)
    check(code == 0 and not (out + err).strip(), f"promtool, {when}: {out} {err}")
    return text


with Instance() as m:
    m.up()
    w = Web(m).start()
    m.wait_for("a first look at the instance", lambda: w.get("/status").json().get("instance"))
    checked(w, "idle")
    m.ok("circuit", "add", fixture(CURVE, CIRCUIT, ".zkey"), "--alias", "c")
    for _ in range(5):
        check(w.post("/v1/jobs?circuit=c&wait=30", read(fixture(CURVE, CIRCUIT, ".wtns"))).status == 200, "a proof")
    w.get("/nowhere")
    time.sleep(1.5)
    text = checked(w, "after proofs")
    print(f"{len(text)} bytes, {sum(line[0] != '#' for line in text.splitlines())} series")
    c, took = w.connect(), []
    for _ in range(200):
        began = time.perf_counter()
        c.request("GET", "/metrics")
        c.getresponse().read()
        took.append(time.perf_counter() - began)
    c.close()
    print(f"a scrape: median {1e3 * sorted(took)[100]:.2f} ms, slowest of 200 {1e3 * max(took):.2f} ms")
    m.down()
    # `down` takes the gateway with it: it belongs to the instance.
    check(w.process.wait(timeout=20) == 0, "the gateway ended with the instance")
finish()
