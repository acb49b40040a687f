"""Mixed shapes under the smallest budget that holds one partition, while gpud is killed at random.

    soak.py BUILD [--seconds 30] [--seed N]

One arena of exactly one extent of the largest circuit, memory for exactly one of its keys: four shapes with
extents of one and two granules, one of them urgent, take turns. Every job ends with proofs that verify; no
deadlock; the documented order holds with its stated bounds; nothing is ever over the limit; at the end all
is free. The short form is part of tools/check; `--seconds 3600` is the long one.
"""
import argparse
import os
import random
import re
import signal
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "scenario", "pipeline"))
from harness import *  # noqa: E402

parser = argparse.ArgumentParser()
parser.add_argument("build")
parser.add_argument("--seconds", type=float, default=30)
parser.add_argument("--seed", type=int, default=int(time.time()))
options = parser.parse_args()
print(f"seed {options.seed}", flush=True)
dice = random.Random(options.seed)

ROOM_PASSES, KEY_PASSES = 4, 4
CONFIG = f"""[memory]
arena = 4M
LIMIT
[gpud]
backend = cpu
evaluate = synthd
[synthd]
per_node = 2
[desk]
deaths_alone = 1000
room_passes = {ROOM_PASSES}
key_passes = {KEY_PASSES}
priority_age = 0s
"""
# shape, scale, partitions of a job: 2^15 takes two granules (w, a, b of a MiB each), the others one.
SHAPES = {"porep": (15, 2), "snap": (11, 4), "window-post": (10, 1), "winning-post": (10, 1)}


class Client(threading.Thread):
    def __init__(self, m, number, until):
        super().__init__()
        self.m, self.until, self.dice = m, until, random.Random(options.seed * 100 + number)
        self.done = {}

    def run(self):
        try:
            while time.monotonic() < self.until:
                self.batch([self.dice.choices(list(SHAPES), (1, 3, 3, 2))[0] for _ in range(4)])
        except Exception as e:  # a test's own fault is a failure too
            check(False, f"client: {e!r}")

    def batch(self, shapes):
        jobs = []
        for shape in shapes:
            words = ["submit"] + (["--urgent"] if shape == "winning-post" else []) + [shape] + [circuits_made[shape][1]] * SHAPES[shape][1]
            jobs.append((shape, self.m.ok(*words)))
        for shape, job in jobs:
            proof, public = self.m.path(f"{job}.proof"), self.m.path(f"{job}.public")
            code, _, err = self.m("await", job, proof, public, timeout=120)
            if not check(code == 0, f"job {job}, {shape}: exit code {code}: {err.strip()}"):
                continue
            proofs, publics = json.load(open(proof)), json.load(open(public))
            if SHAPES[shape][1] > 1:
                json.dump(proofs[-1], open(proof, "w"))
                json.dump(publics[-1], open(public, "w"))
            verified(proof, public, circuits_made[shape][2])
            self.done[int(job)] = shape


def grants(m):
    """(job, partition, attempt) in the order in which they were granted."""
    with open(os.path.join(m.dir, "log", "finalizd.log")) as log:
        found = [re.search(r" granted job=(\d+) partition=(\d+) attempt=(\d+)", line) for line in log if " granted " in line]
    return [tuple(int(n) for n in f.groups()) for f in found if f]


def check_order(m, urgent, submitted):
    """First attempts are in the order of jobs and partitions, but for the stated, bounded passes."""
    order = grants(m)
    again = {}
    for job, _, attempt in order:
        again[job] = again.get(job, 0) + (attempt > 1)
    first = [(job, part) for job, part, attempt in order if attempt == 1]
    check(len(first) == len(set(first)), "every partition has one first attempt")
    parts = {}
    for job, part in first:
        check(part == parts.get(job, -1) + 1, f"job {job}: partition {part} in its turn")
        parts[job] = part
    last = {job: i for i, (job, _) in enumerate(first)}
    worst = 0
    for job in last:
        if job in urgent:
            continue
        # Urgent jobs go first and are no pass; a partition that was made again waited anew.
        passes = sum(1 for other, _ in first[: last[job]] if other > job and other not in urgent)
        worst = max(worst, passes)
        bound = (ROOM_PASSES + KEY_PASSES) * (1 + again[job])
        check(passes <= bound, f"job {job} was passed {passes} times, the bound is {bound}")
    print(f"{len(first)} partitions, {sum(again.values())} attempts made again, a job was passed {worst} times at most", flush=True)


circuits_made = {}
with Instance(config=CONFIG.replace("LIMIT", ""), env={"MILLRACE_LOG": "debug"}) as m:
    for shape, (scale, _) in SHAPES.items():
        out = m.path(shape)
        m.ok("testkit", "generate", "--shape", shape, "--scale", f"2^{scale}", "--out", out, "--no-r1cs")
        circuits_made[shape] = tuple(os.path.join(out, name) for name in ("circuit.zkey", "circuit.wtns", "vk.json"))
    m.up()
    for shape, (key, _, _) in circuits_made.items():
        m.ok("circuit", "add", key, "--alias", shape, *(["--urgent"] if shape == "winning-post" else []))
    sizes = {c["alias"]: (c["bytes"], c["extent_bytes"]) for c in m.json("circuit", "list")["circuits"]}
    m.ok("await", m.ok("submit", "porep", circuits_made["porep"][1]), m.path("p"), m.path("u"))
    memory = m.json("status")["memory"]
    check(max(e for _, e in sizes.values()) == memory["nodes"][0]["total_bytes"], f"the arena is one extent of the largest: {sizes}")
    # The key, its tables, and the rings of the daemons and of as many predecessors.
    limit = memory["arena_bytes"] + memory["evidence_room_bytes"] + memory["key_bytes"] + memory["table_bytes"]
    m.down()
    os.unlink(os.path.join(m.dir, "log", "finalizd.log"))
    with open(os.path.join(m.dir, "millrace.conf"), "w") as f:
        f.write(CONFIG.replace("LIMIT", f"limit = {limit}"))
    m.up()
    until = time.monotonic() + options.seconds
    clients = [Client(m, n, until) for n in range(3)]
    for c in clients:
        c.start()
    kills, samples = 0, []
    while any(c.is_alive() for c in clients):
        time.sleep(dice.uniform(0.3, 1.5))
        code, out, _ = m("status", "--json")
        if code == 0:
            samples.append(json.loads(out)["memory"]["charged_bytes"])
        pid = m.daemons().get("gpud.0")
        if pid and time.monotonic() < until and dice.random() < 0.35:
            try:
                os.kill(pid, signal.SIGKILL)
                kills += 1
            except ProcessLookupError:
                pass
    for c in clients:
        c.join()
    done = {job: shape for c in clients for job, shape in c.done.items()}
    print(f"{len(done)} jobs, {kills} kills of gpud, memory at most {max(samples)} of {limit}", flush=True)
    check({shape for shape in done.values()} == set(SHAPES), f"jobs of every shape ended: {sorted(set(done.values()))}")
    check(kills > 0 and max(samples) <= limit, f"never over the limit: {max(samples)} of {limit}")
    check_order(m, {job for job, shape in done.items() if shape == "winning-post"}, done)
    m.wait_for("an empty spool", lambda: m.spooled() == [], 20)
    node = m.json("status")["memory"]["nodes"][0]
    check(node["rows_held"] == 0 and node["free_bytes"] == node["total_bytes"], f"all is free: {node}")
    m.down()
    check(m.pids() == [] and m.arenas() == [], "nothing is left")
finish()
