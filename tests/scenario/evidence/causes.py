"""Why was the GPU idle? Each of the eleven causes is planted in turn in a real pipeline, and `millrace
gaps` must name it as the largest, with an account that sums to the wall clock to the nanosecond.

    causes.py BUILD [CAUSE ...]

Most causes are planted as they come about: a stopped or killed process, a small arena, a slow witness
program, a lock that is held. Those that are only ever slow inside of a daemon use the slow points of a
build with -Dkill_points=true (common/base/slow_point.h); in another build they are skipped, and said to be.
"""
import fcntl
import os
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "pipeline"))
from harness import *  # noqa: E402

wide, wide_w = fixture("bn128", "wide_12", ".zkey"), fixture("bn128", "wide_12", ".wtns")
mul, mul_w = fixture("bn128", "mul", ".zkey"), fixture("bn128", "mul", ".wtns")
edge, edge_w = fixture("bn128", "edge_full", ".zkey"), fixture("bn128", "edge_full", ".wtns")
SLOW_PROGRAM = os.environ.get("SLOW_PROGRAM", os.path.join(BUILD, "tests", "scenario", "evidence", "slow_program"))
HAS_SLOW_POINTS = os.environ.get("KILL_POINTS", "true") == "true"
CAUSES = {"no_work", "room", "synthd", "witness", "matrices", "descriptor", "key_load", "copy_in", "previous_finish", "registration", "process_down"}
planted = set()


class Pipeline(Instance):
    def __init__(self, arena="256M", more="", slow=""):
        super().__init__(config=f"[memory]\narena = {arena}\n[gpud]\nbackend = cpu\nevaluate = synthd\n{more}", env={"MILLRACE_SLOW_AT": slow} if slow else None)

    def submit(self, *words):
        return self.ok("submit", *words)

    def await_job(self, job):
        self.ok("await", job, self.path("p.json"), self.path("u.json"))

    def stop_and_go(self, name, seconds):
        """A process that gets no CPU for a while."""
        os.kill(self.daemons()[name], signal.SIGSTOP)
        time.sleep(seconds)
        os.kill(self.daemons()[name], signal.SIGCONT)

    def slow_input(self, deed, ms, witness):
        path = self.path(f"{deed}.input")
        with open(path, "wb") as f:
            f.write(f"{deed} {ms}\n".encode() + open(witness, "rb").read())
        return path


def names(m, cause, began, least_s):
    """What gaps says of the time since `began`: the cause is the largest, and everything adds up."""
    lasted = time.monotonic() - began
    planted.add(cause)
    gpus = m.json("gaps", "--last", f"{lasted:.3f}")["gpus"]
    if not check(len(gpus) == 1, f"{cause}: one GPU has an account: {len(gpus)}"):
        return
    gpu = gpus[0]
    causes = gpu["causes_ns"]
    check(set(causes) == CAUSES, f"the eleven causes: {set(causes) ^ CAUSES}")
    check(gpu["busy_ns"] + sum(causes.values()) == gpu["wall_ns"], f"{cause}: the account sums to the wall clock: {gpu['busy_ns']} + {sum(causes.values())} = {gpu['wall_ns']}")
    check(gpu["wall_ns"] >= lasted * 1e9, f"{cause}: all of the window is accounted for: {gpu['wall_ns']}")
    largest = max(causes, key=causes.get)
    shown = " ".join(f"{k}={v / 1e6:.0f}ms" for k, v in sorted(causes.items(), key=lambda x: -x[1]) if v)
    check(largest == cause, f"{cause} was planted, the largest is {largest}: {shown}")
    check(causes[cause] >= least_s * 1e9, f"{cause} lasted {least_s} s, the account has {causes[cause] / 1e9:.3f}")
    longest = max(gpu["gaps"], key=lambda g: g["length_ns"], default={})
    check(longest.get("cause") == cause or cause in ("descriptor",), f"{cause}: the longest gap is named so too: {longest}")
    print(f"{cause:>16}: busy={gpu['busy_ns'] / 1e6:.0f}ms {shown}", flush=True)


def plain():
    """One instance, what comes about from outside."""
    with Pipeline() as m:
        m.up()
        m.ok("circuit", "add", wide, "--alias", "wide")
        m.ok("circuit", "add", edge, "--alias", "edge", "--program", SLOW_PROGRAM)
        m.await_job(m.submit("wide", wide_w))

        began = time.monotonic()
        time.sleep(1.5)
        names(m, "no_work", began, 1.4)

        began = time.monotonic()
        m.await_job(m.submit("edge", "--input", m.slow_input("copy", 2000, edge_w)))
        names(m, "witness", began, 1.9)

        began = time.monotonic()
        os.kill(m.daemons()["synthd.0.0"], signal.SIGSTOP)
        job = m.submit("wide", *[wide_w] * 4)
        m.stop_and_go("synthd.0.0", 2)
        m.await_job(job)
        names(m, "synthd", began, 1.7)

        # No synthd at all is the same cause, while it lasts and afterwards.
        m.ok("scale", "node0=0")
        began = time.monotonic()
        job = m.submit("wide", wide_w)
        time.sleep(1.5)
        names(m, "synthd", began, 1.0)
        m.ok("scale", "node0=1")
        m.await_job(job)
        names(m, "synthd", began, 1.4)

        # A gpud that waits for the lock under which arenas are registered.
        lock = os.open(os.path.join(m.dir, "run", "arena"), os.O_RDONLY | os.O_DIRECTORY)
        fcntl.flock(lock, fcntl.LOCK_EX)
        began = time.monotonic()
        os.kill(m.daemons()["gpud.0"], signal.SIGKILL)
        job = m.submit("wide", wide_w)
        time.sleep(3)
        os.close(lock)
        m.await_job(job)
        names(m, "registration", began, 2.0)

        # A killed gpud that nobody starts again for a while: while it lasts, and afterwards.
        supervisor = m.supervisor()["pid"]
        os.kill(supervisor, signal.SIGSTOP)
        job = m.submit("wide", *[wide_w] * 40)
        log = os.path.join(m.dir, "log", "gpud.0.log")
        m.wait_for("it is at work", lambda: f"GPU_TIMING job={job} " in open(log).read())
        began = time.monotonic()
        os.kill(m.daemons()["gpud.0"], signal.SIGKILL)  # with partitions in it
        time.sleep(2)
        names(m, "process_down", began, 1.5)
        os.kill(supervisor, signal.SIGCONT)
        m.await_job(job)
        names(m, "process_down", began, 1.9)

        # finalizd is down while work waits for it.
        os.kill(supervisor, signal.SIGSTOP)
        os.kill(m.daemons()["synthd.0.0"], signal.SIGSTOP)
        began = time.monotonic()
        job = m.submit("wide", *[wide_w] * 8)  # the last of them are not granted yet
        os.kill(m.daemons()["finalizd"], signal.SIGKILL)
        os.kill(m.daemons()["synthd.0.0"], signal.SIGCONT)
        time.sleep(2)
        os.kill(supervisor, signal.SIGCONT)
        m.await_job(job)
        names(m, "process_down", began, 1.5)


def room():
    """An arena with one extent, and a job that holds it and never reaches the GPU."""
    with Pipeline(arena="2M") as m:
        m.up()
        m.ok("circuit", "add", wide, "--alias", "wide")
        m.ok("circuit", "add", edge, "--alias", "edge", "--program", SLOW_PROGRAM)
        m.await_job(m.submit("wide", wide_w))
        began = time.monotonic()
        m.submit("edge", "--input", m.slow_input("fail", 2000, edge_w))
        job = m.submit("wide", wide_w)
        time.sleep(1)
        m.await_job(job)
        names(m, "room", began, 1.5)


def slow(cause, at, jobs, least_s, more=""):
    if not HAS_SLOW_POINTS:
        print(f"{cause}: skipped: this build has no slow points (-Dkill_points=true)")
        return
    with Pipeline(slow=at, more=more) as m:
        m.up()
        m.ok("circuit", "add", wide, "--alias", "wide")
        m.ok("circuit", "add", mul, "--alias", "mul")
        if cause != "key_load":
            m.await_job(m.submit("wide", wide_w))
            m.await_job(m.submit("mul", mul_w))
        began = time.monotonic()
        if cause == "key_load":  # while it lasts, too
            job = m.submit("wide", wide_w)
            time.sleep(1.2)
            names(m, cause, began, 0.8)
            m.await_job(job)
            jobs = []
        for circuit, witness, n in jobs:
            m.await_job(m.submit(circuit, *[witness] * n))
        names(m, cause, began, least_s)


groups = {
    "plain": plain,
    "room": room,
    "matrices": lambda: slow("matrices", "synthd.matrices:700", [("wide", wide_w, 3)], 1.5),
    "copy_in": lambda: slow("copy_in", "cpu.copy_in:700", [("wide", wide_w, 3)], 1.5),
    "key_load": lambda: slow("key_load", "gpud.key_load:2000", [("wide", wide_w, 1)], 1.9),
    "previous_finish": lambda: slow("previous_finish", "gpud.finish:500", [("wide", wide_w, 6)], 1.5),
    "descriptor": lambda: slow("descriptor", "desk.grant:90,synthd.ring:90", [("mul", mul_w, 16)], 1.0, "[desk]\nsynthd_credit = 1\nready_bound = 1\n"),
}
for name, plant in groups.items():
    if not sys.argv[2:] or name in sys.argv[2:]:
        plant()
if not sys.argv[2:] and HAS_SLOW_POINTS:
    check(planted == CAUSES, f"all eleven were planted: {CAUSES - planted}")
finish()
