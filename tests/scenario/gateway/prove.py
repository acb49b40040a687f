"""Proving over HTTP both ways, with the daemons dying meanwhile; what /metrics and /status say."""
import threading

from web import *

CURVE, CIRCUIT = "bn128", "wide_12"
witness, inputs = read(fixture(CURVE, CIRCUIT, ".wtns")), read(fixture(CURVE, CIRCUIT, "input.json"))
publics = json.load(open(fixture(CURVE, CIRCUIT, "public.json")))
vk = fixture(CURVE, CIRCUIT, "vk.json")


def verifies(m, proof, public, what):
    for name, value in (("p.json", proof), ("u.json", public)):
        with open(m.path(name), "w") as f:
            json.dump(value, f)
    verified(m.path("p.json"), m.path("u.json"), vk)
    check(public == publics, f"{what}: the same publics as snarkjs")


with Instance() as m:
    m.ok("up", "--gateway", "127.0.0.1:0")
    w = Web(m)
    check("gateway" in m.daemons(), "the supervisor runs the gateway")
    check(w.get("/health").status == 200, "it serves")
    digest = m.json("circuit", "add", fixture(CURVE, CIRCUIT, ".zkey"), "--alias", "wide", *(["--program", fixture(CURVE, CIRCUIT, ".wasm")] if shutil.which("wasm2c") else []))["circuit"]
    m.wait_for("a first look at the instance", lambda: w.get("/status").json().get("instance"))
    began = time.monotonic()
    before = w.metrics()

    # --- one request, one proof; the circuit by alias and by digest
    a = w.post("/v1/jobs?circuit=wide&wait=60", witness)
    check(a.status == 200 and a.json()["state"] == "done", f"a witness becomes a proof: {a.status} {a.body[:200]}")
    verifies(m, a.json()["proof"], a.json()["public"], "from a witness")
    a = w.post(f"/v1/jobs?circuit={digest}&wait=60", witness)
    check(a.status == 200, "the circuit is known by its digest")
    proofs = 2

    # --- submit, await, fetch
    a = w.post("/v1/jobs?circuit=wide&request=order-1", witness)
    job = a.json()["job"]
    check(a.status == 201 and a.headers["Location"] == f"/v1/jobs/{job}", f"submitted: {a.status}")
    a = w.get(f"/v1/jobs/{job}/await?timeout=60")
    check(a.status == 200 and a.json()["state"] == "done", f"awaited: {a.body}")
    proofs += 1
    verifies(m, w.get(f"/v1/jobs/{job}/proof").json(), w.get(f"/v1/jobs/{job}/public").json(), "fetched")
    check(w.get(f"/v1/jobs/{job}").json()["request"] == "order-1", "shown")
    check(job in [j["job"] for j in w.get("/v1/jobs?state=done").json()["jobs"]], "listed")
    a = w.post("/v1/jobs?circuit=wide&request=order-1", witness)
    check(a.status == 200 and a.json() == {"job": job, "existed": True}, f"the same request id is the same job: {a.body}")
    other = witness[:-32] + bytes([witness[-32] ^ 1]) + witness[-31:]
    a = w.post("/v1/jobs?circuit=wide&request=order-1", other)
    check(a.status == 409 and a.error()["field"] == "request", f"with other content it is refused: {a.body}")
    a = w.post("/v1/jobs?circuit=wide&wait=60", other)
    check(a.status == 422 and a.error().get("code") == "unsatisfied", f"a witness that does not satisfy: {a.status} {a.body[:200]}")

    # --- several partitions in one job
    body, headers = form(witness, witness, witness)
    a = w.post("/v1/jobs?circuit=wide&wait=60", body, headers=headers)
    check(a.status == 200 and len(a.json()["proof"]) == 3, f"a form of three is a job of three: {a.status} {a.body[:200]}")
    proofs += 3

    # --- cancel
    body, headers = form(*[witness] * 40)
    job = w.post("/v1/jobs?circuit=wide", body, headers=headers).json()["job"]
    a = w.get(f"/v1/jobs/{job}/proof")
    check(a.status == 409 and a.error()["code"] == "not-ended", f"no proof before the end: {a.status}")
    a = w.ask("DELETE", f"/v1/jobs/{job}")
    check(a.status == 200, f"cancelled: {a.body}")
    check(w.get(f"/v1/jobs/{job}/await?timeout=60").json()["state"] == "cancelled", "and it ends so")
    check(w.ask("DELETE", f"/v1/jobs/{job}").status == 409, "a job that has ended cannot be cancelled")

    # --- rapidsnark's endpoints
    if shutil.which("wasm2c"):
        a = w.post("/v1/jobs?circuit=wide&wait=60", inputs)
        check(a.status == 200, f"an input.json becomes a proof: {a.status} {a.body[:200]}")
        verifies(m, a.json()["proof"], a.json()["public"], "from an input.json")
        check(w.get("/status").json()["status"] == "ready", "rapidsnark: ready")
        a = w.post("/input/wide", inputs, headers={"Content-Type": "application/x-www-form-urlencoded"})
        check(a.status == 200, f"rapidsnark: an input begins a proof: {a.body}")
        check(w.get("/status").json()["status"] in ("busy", "success"), "rapidsnark: busy")
        m.wait_for("rapidsnark: success", lambda: w.get("/status").json()["status"] == "success")
        s = w.get("/status").json()
        verifies(m, json.loads(s["proof"]), json.loads(s["pubData"]), "rapidsnark")
        proofs += 2
        check(all(w.post(p).status == 200 for p in ("/start", "/stop", "/config", "/cancel")), "rapidsnark: what does nothing")
        check(w.post("/input/nowhere", inputs).status == 404, "rapidsnark: an unknown circuit is refused")
        check(w.get("/status").json()["status"] == "success", "rapidsnark: and changes nothing")

    # --- daemons die while somebody waits
    body, headers = form(*[witness] * 12)
    job = w.post("/v1/jobs?circuit=wide", body, headers=headers).json()["job"]
    got = []
    waiting = threading.Thread(target=lambda: got.append(w.get(f"/v1/jobs/{job}/await?timeout=60")))
    waiting.start()
    proved = 'millrace_partitions_proved_total{daemon="gpud.0"}'
    at_kill = w.metrics()[proved]
    for name in ("gpud.0", "finalizd"):
        os.kill(m.daemons()[name], signal.SIGKILL)
    waiting.join()
    check(got and got[0].json().get("state") == "done", f"the wait outlives finalizd and gpud: {got and got[0].body}")
    proofs += 12

    # --- what the metrics say of all this
    time.sleep(8)  # an account is taken up to five seconds ago
    after, wall = w.metrics(), time.monotonic() - began
    check(after[proved] >= at_kill and after[proved] >= proofs - 1, f"a counter does not fall when its daemon restarts: {at_kill} {after[proved]}")
    check(all(after[k] >= v for k, v in before.items() if k.split("{")[0].endswith(("_total", "_count", "_bucket"))), "no counter falls")
    jobs = 'millrace_phase_duration_seconds_count{phase="job"}'
    check(after[jobs] - before.get(jobs, 0) >= 7, f"{after[jobs]} jobs are in the histogram")
    settled = sum(v - before.get(k, 0) for k, v in after.items() if k.startswith("millrace_gpu_time_seconds_total"))
    check(wall - 12 < settled <= wall + 2, f"the states of the GPU add up to the wall clock: {settled:.1f} of {wall:.1f} s")
    check(after['millrace_daemon_up{daemon="gpud.0"}'] == 1 and after["millrace_desk_up"] == 1, "who is up")
    check(len(after) < 3000, f"{len(after)} series")
    took = []
    for path in ("/metrics", "/status", f"/v1/jobs/{job}"):
        c, times = w.connect(), []
        for _ in range(50):
            t = time.perf_counter()
            c.request("GET", path)
            c.getresponse().read()
            times.append(time.perf_counter() - t)
        c.close()
        took.append(f"{path} {1e3 * sorted(times)[25]:.2f} ms")
    print("median of 50: " + ", ".join(took))

    m.wait_for("the spool is empty", lambda: m.spooled() == [])
    m.down()
    check(m.pids() == [], "no process is left")
finish()
