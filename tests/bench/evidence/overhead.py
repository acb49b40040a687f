"""What spans cost the whole pipeline: the same work with spans on and off, in interleaved pairs.

    overhead.py BUILD [--pairs 10] [--blocks 12] [--partitions 6] [--circuit wide_12] [--bound 0.5]

For each pair two instances are started, one with MILLRACE_SPANS=off (anew for each pair, because where an
instance's memory happens to lie makes it faster or slower by more than spans do); they take turns, so that
what else goes on on the machine meets both. Within a pair each works `blocks` times on a job of `partitions`, in the order on off off on ...,
and the medians of the blocks are compared, since a block that something else disturbed says nothing. What is
compared is the CPU time of an instance's daemons (of every thread, in nanoseconds), because on a machine that
others use wall time says more about them; wall time is printed too. The daemons of both are
pinned to one CPU, the commands to another. Printed: each pair, then the mean of the pairs' differences with
its 95 % interval (Student's t). Ends with 1 when the whole interval lies above the bound.
"""
import argparse
import math
import os
import statistics
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scenario", "pipeline"))
from harness import *  # noqa: E402

parser = argparse.ArgumentParser()
parser.add_argument("build")
parser.add_argument("--pairs", type=int, default=10)
parser.add_argument("--blocks", type=int, default=12)
parser.add_argument("--partitions", type=int, default=6)
parser.add_argument("--circuit", default="wide_12")
parser.add_argument("--bound", type=float, default=0.5)
options = parser.parse_args()
T95 = {1: 12.71, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262, 14: 2.145, 19: 2.093, 29: 2.045}
CONFIG = "[memory]\narena = 128M\n[gpud]\nbackend = cpu\nthreads = 1\n[synthd]\nthreads = 1\n"
key, witness = fixture("bn128", options.circuit, ".zkey"), fixture("bn128", options.circuit, ".wtns")


def interval(values):
    n, mean = len(values), sum(values) / len(values)
    if n < 2:
        return mean, float("inf")
    deviation = math.sqrt(sum((v - mean) ** 2 for v in values) / (n - 1))
    t = T95.get(n - 1) or min(v for k, v in T95.items() if k < n - 1)
    return mean, t * deviation / math.sqrt(n)


def cpu_s(m):
    """CPU time of every thread of the instance's daemons."""
    total = 0
    for pid in m.daemons().values():
        for path in glob.glob(f"/proc/{pid}/task/*/schedstat"):
            with open(path) as f:
                total += int(f.read().split()[0])
    return total / 1e9


def block(m):
    before, began = cpu_s(m), time.monotonic()
    m.ok("await", m.ok("submit", "bench", *[witness] * options.partitions), m.path("p"), m.path("u"))
    return cpu_s(m) - before, time.monotonic() - began


cpus = sorted(os.sched_getaffinity(0))


def start(m):
    os.sched_setaffinity(0, {cpus[-1]})  # what is started now inherits it
    m.up()
    m.ok("circuit", "add", key, "--alias", "bench")
    os.sched_setaffinity(0, {cpus[0]})
    block(m)


def one_pair(number):
    """Percent by which the CPU time and the wall time with spans differ from those without."""
    with Instance(config=CONFIG, env={"MILLRACE_SPANS": "on"}) as on, Instance(config=CONFIG, env={"MILLRACE_SPANS": "off"}) as off:
        for m in (on, off) if number % 2 == 0 else (off, on):
            start(m)
        check(any(n.endswith(".spans") for n in on.arenas()), "one instance has span rings")
        check(not any(n.endswith(".spans") for n in off.arenas()), "the other has none")
        cpu, wall = {on: [], off: []}, {on: [], off: []}
        for i in range(options.blocks):
            for m in (on, off) if (i + number) % 2 == 0 else (off, on):
                c, w = block(m)
                cpu[m].append(c)
                wall[m].append(w)
        c, w = ({m: statistics.median(x) for m, x in of.items()} for of in (cpu, wall))
        print(f"{number + 1:4} {c[on]:10.3f} {c[off]:10.3f} {100 * (c[on] / c[off] - 1):+10.2f}% {100 * (w[on] / w[off] - 1):+8.2f}%", flush=True)
        return 100 * (c[on] / c[off] - 1), 100 * (w[on] / w[off] - 1)


print(f"{'pair':>4} {'CPU on, s':>10} {'CPU off, s':>10} {'difference':>11} {'wall':>9}")
differences, walls = zip(*(one_pair(i) for i in range(options.pairs)))
if differences:
    mean, half = interval(differences)
    print(f"CPU time with spans: {mean:+.2f} % of that without, 95 % interval {mean - half:+.2f} % to {mean + half:+.2f} %, {options.pairs} pairs of {options.blocks * options.partitions} partitions")
    wall_mean, wall_half = interval(walls)
    print(f"wall time with spans: {wall_mean:+.2f} %, 95 % interval {wall_mean - wall_half:+.2f} % to {wall_mean + wall_half:+.2f} %")
    within = mean - half <= options.bound and mean + half <= options.bound and mean - half >= -options.bound
    print(f"within {options.bound} %: {'yes' if within else 'the interval is wider: the machine is not quiet enough to tell' if mean - half <= options.bound else 'NO'}")
    check(mean - half <= options.bound, f"spans cost more than {options.bound} %")
finish()
