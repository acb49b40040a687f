"""The dashboard in headless Chromium: idle and busy, on a desk and on a phone, light and dark, with
the gateway going away and coming back. Screenshots stay in MILLRACE_SCREENSHOTS when that is set."""
from web import *
from browser import CHROMIUM, Browser

if not CHROMIUM:
    skip("chromium is not installed")
CURVE, CIRCUIT = "bn128", "wide_12"
witness = read(fixture(CURVE, CIRCUIT, ".wtns"))
TEXT = "document.body.innerText"
# window.innerWidth would grow with what sticks out.
WIDTH = "document.scrollingElement.scrollWidth"
# How many different colours a canvas shows.
COLOURS = "(c => { const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data, s = new Set(); for (let i = 0; i < d.length; i += 4) s.add(d[i] << 16 | d[i + 1] << 8 | d[i + 2]); return s.size; })"


def pictures(b, folder, name):
    for kind, width, height, phone in (("desk", 1400, 900, False), ("phone", 390, 844, True)):
        for dark in (False, True):
            b.look(width, height, dark, phone)
            b.shot(os.path.join(folder, f"{name}-{kind}-{'dark' if dark else 'light'}.png"))
            check(b.run(WIDTH) <= width, f"{name}, {kind}: nothing sticks out at the side: {b.run(WIDTH)}")
    b.look(320, 600, False, True)
    check(b.run(WIDTH) <= 320, f"{name}: nor on the narrowest phone: {b.run(WIDTH)}")
    b.look(1400, 900)


with Instance() as m:
    m.up()
    w = Web(m).start()
    folder = os.environ.get("MILLRACE_SCREENSHOTS") or m.path("shots")
    os.makedirs(folder, exist_ok=True)
    b = Browser(m.path("chromium"))
    try:
        b.look(1400, 900)
        b.open(w.url())
        check(b.wait(f"{TEXT}.includes('running')"), "the page says that the instance runs")
        for words in ("Nothing was under way in the last minute", "No job yet. Submit one", "No circuit yet", "no lease is held", "gpud.0 · 0 % busy"):
            check(b.wait(f"{TEXT}.includes({json.dumps(words)})", 5), f"idle is said in words: {words}")
        pictures(b, folder, "idle")

        m.ok("circuit", "add", fixture(CURVE, CIRCUIT, ".zkey"), "--alias", "wide")
        body, headers = form(*[witness] * 150)
        job = w.post("/v1/jobs?circuit=wide", body, headers=headers).json()["job"]
        w.post("/v1/jobs?circuit=wide&wait=1", witness[:-32] + bytes([witness[-32] ^ 1]) + witness[-31:])
        check(b.wait("!document.getElementById('waterfall').hidden && sample.partitions.length > 5"), "the waterfall comes while the job runs, by itself")
        check(b.wait("Number(document.getElementById('waiting').textContent) > 0", 5), "some wait")
        check(b.run(f"{COLOURS}(document.querySelector('.lane canvas')) >= 2"), "the lane shows busy and idle")
        check(b.run(f"{COLOURS}(document.getElementById('waterfall')) >= 4"), "the waterfall shows its steps")
        pictures(b, folder, "busy")
        check(w.get(f"/v1/jobs/{job}/await?timeout=60").json()["state"] == "done", "the job ends")
        check(b.wait("[...document.querySelectorAll('#joblist tr')].some(r => /150 of 150/.test(r.innerText) && /done/.test(r.innerText))"), "the list has the job with all its proofs")
        check(b.wait("[...document.querySelectorAll('#joblist tr')].some(r => /failed/.test(r.innerText) && /satisf/.test(r.innerText))"), "and the one that failed, with its reason")
        b.run("document.getElementById('waterfall').scrollIntoView()")
        x, y = b.run("(r => [r.left + r.width - 30, r.top + 20])(document.getElementById('waterfall').getBoundingClientRect())")
        b.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        check(b.wait("/^job \\d+ partition \\d+/.test(document.getElementById('flow-hint').textContent)", 5), "pointing at a partition reads it")
        b.run("scrollTo(0, 0)")
        light = b.run("getComputedStyle(document.body).backgroundColor")
        b.look(1400, 900, dark=True)
        check(b.run("getComputedStyle(document.body).backgroundColor") != light, "dark is another ground")
        b.look(1400, 900)
        check(b.troubles() == [], f"the page complains of nothing: {b.troubles()}")
        check(all(u.startswith((w.url(), "data:", "about:")) for u in b.requested()), f"nothing is asked for elsewhere: {b.requested()}")

        # --- a gpud that dies, then the gateway
        os.kill(m.daemons()["gpud.0"], signal.SIGKILL)
        check(b.wait("sample.gpus.some(g => g.causes_ns.process_down > 0) || sample.daemons.some(d => d.name === 'gpud.0' && d.run > 1)", 20), "a gpud's death is seen")
        port = w.port()
        w.stop()
        check(b.wait(f"{TEXT}.includes('no word from the gateway')", 15), "a gateway that is gone is said")
        b.shot(os.path.join(folder, "gone-desk-light.png"))
        w.process = subprocess.Popen([GATEWAY, "--dir", m.dir, "--listen", f"127.0.0.1:{port}"], stderr=w.log)
        check(b.wait(f"{TEXT}.includes('running')", 30), "and the page finds it again")

        # --- tokens: the page asks for one
        code, token, _ = run(GATEWAY, "token", "eye", "--role", "observer", "--dir", m.dir)
        w.stop()
        w.process = subprocess.Popen([GATEWAY, "--dir", m.dir, "--listen", f"127.0.0.1:{port}"], stderr=w.log)
        m.wait_for("it is back", lambda: w.url())
        b.open(w.url())
        check(b.wait("!document.getElementById('ask').hidden"), "a token is asked for")
        b.shot(os.path.join(folder, "token-desk-light.png"))
        b.run(f"document.getElementById('token').value = {json.dumps(token.strip())}; document.querySelector('#ask button').click()")
        check(b.wait(f"{TEXT}.includes('running')"), "and opens the page")
        for name in ("supervisor", "finalizd"):
            os.kill(m.supervisor()["pid"] if name == "supervisor" else m.daemons()["finalizd"], signal.SIGKILL)
        check(b.wait(f"{TEXT}.includes('the desk does not answer')", 20), "a desk that is away is said")
        b.shot(os.path.join(folder, "away-desk-light.png"))
        check(b.run("document.querySelector('#daemonlist').innerText").find("gone") > 0, "and which daemon is gone")
    finally:
        b.close()
        w.stop()
finish()
