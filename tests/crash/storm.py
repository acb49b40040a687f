"""Kill storm: under load, synthd, gpud, finalizd and clients die at random moments, and at every named
transition; nothing that was accepted is lost.

    storm.py BUILD [--kills N] [--seed S] [--named]

Every accepted job must end exactly once with a proof that verifies; planted poison (a witness that does
not satisfy its circuit) must end with that reason; afterwards the arena is all free and nothing leaks.
The short form is part of tools/check; `--kills 1000` is the long one.
"""
import argparse
import os
import random
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "scenario", "pipeline"))
from harness import *  # noqa: E402

parser = argparse.ArgumentParser()
parser.add_argument("build")
parser.add_argument("--kills", type=int, default=25)
parser.add_argument("--seed", type=int, default=int(time.time()))
parser.add_argument("--named", action="store_true", help="die at each named transition in turn instead")
options = parser.parse_args()
random.seed(options.seed)
print(f"seed {options.seed}", flush=True)

KINDS = [("bn128", "mul"), ("bls12381", "mul"), ("bn128", "edge_manypub"), ("bn128", "wide_12"), ("bls12381", "edge_nopub")]


class Client(threading.Thread):
    """Submits one job after the other under a request id, sometimes dies on the way and asks again."""

    def __init__(self, m, number, stop):
        super().__init__()
        self.m, self.number, self.stop = m, number, stop
        self.random = random.Random(options.seed * 1000 + number)
        self.done = self.poison = 0
        self.jobs = set()

    def one(self, i):
        m, r = self.m, self.random
        curve, circuit = r.choice(KINDS)
        key, witness = fixture(curve, circuit, ".zkey"), fixture(curve, circuit, ".wtns")
        poison = circuit == "mul" and curve == "bn128" and r.random() < 0.1
        if poison:
            witness = m.path("poison.wtns")
        request = f"storm-{self.number}-{i}"
        proof, public = m.path(f"{request}.proof"), m.path(f"{request}.public")
        submit = [MILLRACE, "submit", "--id", request, "--priority", str(r.randrange(4)), key] + [witness] * r.choice((1, 1, 1, 3))
        partitions = len(submit) - 7
        for attempt in range(200):
            p = subprocess.Popen(submit, env=m.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            if attempt == 0 and r.random() < 0.1:
                time.sleep(r.random() * 0.05)
                p.kill()  # the client dies; it asks again with the same request id
            out, err = p.communicate(timeout=300)
            if p.returncode == 0:
                break
            if p.returncode not in (10, 11, -9):  # away, refused for now, killed
                check(False, f"{request}: submit: exit code {p.returncode}: {err.strip()}")
                return
            time.sleep(0.1)
        else:
            check(False, f"{request}: never accepted")
            return
        job = out.strip()
        check(job not in self.jobs, f"job {job} is one job")
        self.jobs.add(job)
        for attempt in range(200):
            code, out, err = m("await", job, proof, public, timeout=600)
            if code not in (10, 15):
                break
            time.sleep(0.1)
        if poison:
            check(code == 7 and not os.path.exists(proof), f"{request}: poison ends with its reason: {code} {err.strip()}")
            self.poison += 1
            return
        if not check(code == 0, f"{request} (job {job}): exit code {code}: {err.strip()}"):
            return
        proofs, publics = json.load(open(proof)), json.load(open(public))
        if partitions > 1:
            check(len(proofs) == partitions, f"{request}: {partitions} proofs")
            json.dump(proofs[-1], open(proof, "w"))
            json.dump(publics[-1], open(public, "w"))
        verified(proof, public, fixture(curve, circuit, "vk.json"))
        self.done += 1

    def run(self):
        i = 0
        while not self.stop.is_set():
            try:
                self.one(i)
            except Exception as e:  # a test's own fault is a failure too
                check(False, f"client {self.number}: {e!r}")
                return
            i += 1


def strike(m):
    """Kills or stops one daemon; says what it did."""
    daemons = m.daemons()
    if not daemons:
        time.sleep(0.2)
        return None
    name = random.choice(sorted(daemons))
    pid = daemons[name]
    try:
        if random.random() < 0.15:
            os.kill(pid, signal.SIGSTOP)  # longer than a heartbeat, then it goes on
            time.sleep(random.uniform(1.0, 3.0))
            os.kill(pid, signal.SIGCONT)
            return f"stopped {name}"
        os.kill(pid, signal.SIGKILL)
        return f"killed {name}"
    except ProcessLookupError:
        return None


def plant_poison(m):
    data = bytearray(open(fixture("bn128", "mul", ".wtns"), "rb").read())
    data[-32] ^= 1
    with open(m.path("poison.wtns"), "wb") as f:
        f.write(data)


def afterwards(m, clients):
    jobs = sum(c.done + c.poison for c in clients)
    print(f"{jobs} jobs, {sum(c.poison for c in clients)} of them poison", flush=True)
    check(jobs >= len(clients), "every client got through")
    ids = [j for c in clients for j in c.jobs]
    check(len(ids) == len(set(ids)), "no two requests share a job")
    m.wait_for("an empty spool", lambda: m.spooled() == [], 20)
    status = m.json("status")
    held = sum(n["rows_held"] for n in status.get("memory", {}).get("nodes", []))
    check(held == 0, f"the arena is all free: {status.get('memory')}")
    m.down()
    check(m.pids() == [], f"no process is left: {m.pids()}")
    check(m.arenas() == [], "no arena is left")
    check(os.listdir(os.path.join(m.dir, "run")) == [], "no socket is left")


def storm():
    with Instance(config="[memory]\narena = 128M\n[gpud]\nbackend = cpu\n[synthd]\nper_node = 2\n[desk]\ndeaths_alone = 1000\norphan_input = 2s\n") as m:
        plant_poison(m)
        m.up()
        for curve, circuit in KINDS:
            m.ok("circuit", "add", fixture(curve, circuit, ".zkey"), "--alias", f"{curve}-{circuit}")
        stop = threading.Event()
        clients = [Client(m, n, stop) for n in range(4)]
        for c in clients:
            c.start()
        kills = 0
        while kills < options.kills and all(c.is_alive() for c in clients):
            time.sleep(random.expovariate(1 / 0.3))
            if strike(m):
                kills += 1
        stop.set()
        for c in clients:
            c.join()
        print(f"{kills} kills", flush=True)
        check(kills == options.kills, "the storm ran to its end")
        afterwards(m, clients)


def named():
    """One instance for each named transition: the daemon that reaches it dies there, once."""
    code, out, err = run(MILLRACE, "actors", "--kill-points")
    if code != 0:
        skip("this build has no kill points (-Dkill_points=true)")
    for point in out.split():
        with Instance(env={"MILLRACE_KILL_AT": f"{point}:2"}) as m:
            plant_poison(m)
            m.up()
            stop = threading.Event()
            clients = [Client(m, 0, stop)]
            for i in range(6):
                clients[0].one(i)
            died = sum(d["restarts"] for d in m.supervisor().get("daemons", []))
            print(f"{point}: {died} deaths", flush=True)
            afterwards(m, clients)


named() if options.named else storm()
finish()
