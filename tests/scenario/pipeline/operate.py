"""What an operator does: scale while running, a killed supervisor, down from any state, wrong words."""
import signal
from harness import *

wide, wide_w = fixture("bn128", "wide_12", ".zkey"), fixture("bn128", "wide_12", ".wtns")

# Without an instance: how to start one, or --local; exit code 10.
with Instance() as m:
    code, out, err = m("prove", wide, wide_w, m.path("p.json"), m.path("u.json"))
    check(code == 10 and "up" in err and "--local" in err, f"no instance: {code} {err.strip()}")
    code, out, err = m("status")
    check(code == 10, f"status without an instance: {code}")

    m.up()
    code, out, err = m("up")
    check(code == 0 and "already" in err, f"up twice: {code} {err.strip()}")
    names = set(m.daemons())
    check({"finalizd", "gpud.0", "synthd.0.0"} <= names, f"three kinds of process: {names}")
    for pid in m.daemons().values():
        with open(f"/proc/{pid}/cmdline", "rb") as f:
            check(m.dir.encode() in f.read().split(b"\0"), "a daemon's command line names its instance")

    # Scale up and down under load.
    jobs = [m.ok("submit", wide, wide_w) for _ in range(8)]
    m.ok("scale", "node0=3")
    check(sum(n.startswith("synthd.0.") for n in m.daemons()) == 3, f"three synthd: {m.daemons()}")
    m.ok("scale", "node0=1")
    check(sum(n.startswith("synthd.0.") for n in m.daemons()) == 1, f"one synthd: {m.daemons()}")
    for job in jobs:
        m.ok("await", job, m.path("p.json"), m.path("u.json"))
    code, out, err = m("scale", "node9=1")
    check(code == 2 and "node9" in err, f"a node that is not there: {code} {err.strip()}")

    # The supervisor dies: daemons go on, the next up adopts them, with the same processes.
    before = m.daemons()
    os.kill(m.supervisor()["pid"], signal.SIGKILL)
    m.ok("prove", wide, wide_w, m.path("p.json"), m.path("u.json"))
    m.up()
    check(m.daemons() == before, f"adopted: {before} {m.daemons()}")

    # Each daemon dies once: it comes back, and work goes on.
    for name in ("synthd.0.0", "gpud.0", "finalizd"):
        pid = m.daemons()[name]
        os.kill(pid, signal.SIGKILL)
        m.wait_for(f"{name} is back", lambda: m.daemons().get(name) not in (None, pid) and m.supervisor().get("ready"))
        m.ok("prove", wide, wide_w, m.path("p.json"), m.path("u.json"))

    # down finds daemons whose supervisor is dead.
    os.kill(m.supervisor()["pid"], signal.SIGKILL)
    arenas = os.path.realpath(os.path.join(m.dir, "run", "arena"))
    m.down()
    check(m.pids() == [], f"no process is left: {m.pids()}")
    check(not os.path.exists(arenas) and os.listdir(os.path.join(m.dir, "run")) == [], "no arena and no socket is left either")

    # Queued work stays in the ledger over a hard stop.
    m.up()
    m.ok("scale", "node0=0")
    job = m.ok("submit", "--id", "kept", wide, wide_w)
    m.down("--now")
    check(m.pids() == [], "down --now leaves no process")
    m.up()
    m.ok("scale", "node0=1")
    check(m.ok("submit", "--id", "kept", wide, wide_w) == job, "the request id still gives the same job")
    m.ok("await", job, m.path("p.json"), m.path("u.json"))
    verified(m.path("p.json"), m.path("u.json"), fixture("bn128", "wide_12", "vk.json"))
    m.down()
    run_dir = os.path.join(m.dir, "run")
    check(os.listdir(run_dir) == [], f"run is empty after down: {os.listdir(run_dir)}")
# The desk goes away while a client sends its inputs, and what it sent is swept as nobody's before the
# desk hears of the job: it is sent again.
with Instance() as m:
    mul, mul_w = fixture("bn128", "mul", ".zkey"), fixture("bn128", "mul", ".wtns")
    m.up()
    m.ok("circuit", "add", mul)
    supervisor, desk = m.supervisor()["pid"], m.daemons()["finalizd"]
    asked = subprocess.Popen([MILLRACE, "submit", mul] + [mul_w] * 200, env=m.env, stdout=subprocess.PIPE, text=True)
    while not m.spooled() and asked.poll() is None:
        pass
    os.kill(supervisor, signal.SIGSTOP)
    os.kill(desk, signal.SIGSTOP)
    sent = -1
    while sent < len(m.spooled()):
        sent = len(m.spooled())
        time.sleep(1)
    check(asked.poll() is None and sent == 200, f"the client waits with {sent} inputs in the spool")
    os.kill(desk, signal.SIGKILL)
    for name in os.listdir(os.path.join(m.dir, "spool")):
        os.unlink(os.path.join(m.dir, "spool", name))
    os.kill(supervisor, signal.SIGCONT)
    job = asked.communicate(timeout=120)[0].strip()
    check(asked.returncode == 0, f"accepted after the desk came back: {asked.returncode}")
    m.ok("await", job, m.path("p.json"), m.path("u.json"))
    check(len(json.load(open(m.path("p.json")))) == 200, "all 200 partitions are proved")

# A circuit that is removed leaves the store; added again, it proves as before.
with Instance() as m:
    m.up()
    def stored():
        return glob.glob(os.path.join(m.dir, "store", "*.circuit"))

    m.ok("circuit", "add", wide, "--alias", "wide")
    m.ok("prove", wide, wide_w, m.path("p.json"), m.path("u.json"))
    check(len(stored()) == 1, f"one circuit is stored: {stored()}")
    m.ok("circuit", "remove", "wide")
    check(stored() == [], f"its file is gone: {stored()}")
    check(m.json("circuit", "list")["circuits"] == [], "the list is empty")
    code, out, err = m("circuit", "remove", "wide")
    check(code == 11 and "wide" in err, f"removed twice: {code} {err.strip()}")
    m.ok("prove", wide, wide_w, m.path("p.json"), m.path("u.json"))
    verified(m.path("p.json"), m.path("u.json"), fixture("bn128", "wide_12", "vk.json"))

# Somebody kills everything and deletes the directory: the next instance to start takes the shared
# memory back. That of a living instance stays.
with Instance() as left, Instance() as m, Instance() as alive:
    left.up()
    alive.up()
    segment, lives = os.readlink(os.path.join(left.dir, "run", "arena")), os.readlink(os.path.join(alive.dir, "run", "arena"))
    for pid in [left.supervisor()["pid"], *left.daemons().values()]:
        os.kill(pid, signal.SIGKILL)
    left.wait_for("everything dead", lambda: not left.pids(), 20)
    os.rename(left.dir, left.dir + ".gone")
    check(os.path.isdir(segment), "its arenas are still there")
    m.up()
    check(not os.path.exists(segment), "the next start removed them")
    check(os.path.isdir(lives) and alive.json("status")["state"] == "running", "the living keep theirs")

# A gpud that the operator (or the kernel, for memory) kills is not the partition's doing, however
# often; one that ends by a fault of its own three times while working on it alone is.
def die_while_proving(m, job, number):
    """False when the job was faster."""
    def proving():
        return any(a["name"] == "gpud.0" and a["in_flight"] and m.daemons().get("gpud.0") == a["pid"] for a in m.json("status")["actors"])

    while m.json("show", job)["state"] not in ("done", "failed"):
        if proving():
            os.kill(m.daemons()["gpud.0"], number)
            return True
    return False


with Instance(config="[gpud]\nthreads = 1\n") as m:
    m.up()
    run(MILLRACE, "testkit", "generate", "--log2", "15", "--curve", "bls12-381", "--out", m.path("big"))
    big, big_w = m.path("big/circuit.zkey"), m.path("big/circuit.wtns")
    m.ok("circuit", "add", big)
    for number, most, expected in ((signal.SIGKILL, 4, 0), (signal.SIGSEGV, 20, 14)):
        job = m.ok("submit", big, big_w).strip()
        deaths = 0
        while deaths < most and die_while_proving(m, job, number):
            deaths += 1
        check(deaths >= 3, f"{deaths} deaths by {number.name}")
        code, out, err = m("await", job, m.path("p.json"), m.path("u.json"))
        check(code == expected, f"{deaths} deaths by {number.name}: exit code {code}: {err.strip()}")
    check("died while working on it alone" in err, f"the reason: {err.strip()}")

finish()
