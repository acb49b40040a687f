"""The experiment that this project began with: does malloc_trim in finalizd slow the GPU?

    trim.py BUILD [--pairs 10] [--partitions N] [--ballast 2GiB]

finalizd holds a fragmented heap of that size; in one run of each pair it calls malloc_trim(0) after
every partition, in the other never. Prints gpud's throughput in both, pair by pair, and the interval of
the ratio (95 %, Student's t). On a machine with two cores gpud is pinned to one and the rest to the
other, so that what is measured is what processes do to each other, not who has the core.
"""
import argparse
import math
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scenario", "pipeline"))
from harness import *  # noqa: E402

parser = argparse.ArgumentParser()
parser.add_argument("build")
parser.add_argument("--pairs", type=int, default=10)
parser.add_argument("--partitions", type=int, default=60)
parser.add_argument("--ballast", default="2GiB")
options = parser.parse_args()
T95 = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776, 6: 2.571, 7: 2.447, 8: 2.365, 9: 2.306, 10: 2.262}

wide, wide_w = fixture("bn128", "wide_12", ".zkey"), fixture("bn128", "wide_12", ".wtns")


def pin(pid, cpus):
    for task in os.listdir(f"/proc/{pid}/task"):
        os.sched_setaffinity(int(task), cpus)


def measure(trim):
    """(partitions/s of gpud's kernels, milliseconds of malloc_trim per partition)"""
    config = f"[memory]\narena = 256M\n[gpud]\nbackend = cpu\nthreads = 1\n[finisher]\nballast = {options.ballast}\nmalloc_trim = {'on' if trim else 'off'}\n"
    with Instance(config=config) as m:
        m.up()
        cpus = sorted(os.sched_getaffinity(0))
        if len(cpus) == 2:
            for name, pid in m.daemons().items():
                pin(pid, {cpus[1]} if name.startswith("gpud") else {cpus[0]})
        m.ok("circuit", "add", wide, "--alias", "w")
        m.ok("await", m.ok("submit", "w", wide_w), m.path("p"), m.path("u"))
        job = m.ok("submit", "w", *[wide_w] * options.partitions)
        m.ok("await", job, m.path("p"), m.path("u"), timeout=3000)
        trace = m.path("trace.json")
        m.ok("trace", trace)
        events = [e for e in json.load(open(trace))["traceEvents"] if e["ph"] == "X"]
        kernels = sorted(e["ts"] + e["dur"] for e in events if e["name"] == "kernels" and str(e["args"]["job"]) == job)
        trims = [e["dur"] for e in events if e["name"] == "malloc_trim"]
        rate = (len(kernels) - 1) / ((kernels[-1] - kernels[0]) / 1e6)
        return rate, sum(trims) / 1e3 / options.partitions


print(f"{'pair':>4} {'off, partitions/s':>18} {'on, partitions/s':>17} {'on / off':>9} {'trim ms/partition':>18}")
ratios = []
for pair in range(options.pairs):
    order = (False, True) if pair % 2 == 0 else (True, False)
    got = {trim: measure(trim) for trim in order}
    ratios.append(got[True][0] / got[False][0])
    print(f"{pair + 1:4} {got[False][0]:18.2f} {got[True][0]:17.2f} {ratios[-1]:9.4f} {got[True][1]:18.2f}", flush=True)
if len(ratios) > 1:
    mean = sum(ratios) / len(ratios)
    half = T95[len(ratios)] * math.sqrt(sum((r - mean) ** 2 for r in ratios) / (len(ratios) - 1) / len(ratios)) if len(ratios) in T95 else 0
    print(f"ratio {mean:.4f}, 95 % interval {mean - half:.4f} .. {mean + half:.4f}")
finish()
