"""The experiment that this project began with: does malloc_trim in finalizd slow the GPU?

    trim.py BUILD [--pairs 10] [--partitions N] [--ballast 2GiB]

finalizd holds a fragmented heap of that size; in one run of each pair it calls malloc_trim(0) after
every partition (requests that come while one runs are one), in the other never. Beside it the same work in
one process, which trims under the tracker's lock (one_process.c). Prints gpud's throughput in both, pair by
pair, and the interval of the ratio (95 %, Student's t). On a machine with two cores gpud is pinned to one
and the rest to the other, so that what is measured is what processes do to each other, not who has the core.

Where others use the machine too, throughput says little: gpud's busy share (what it did not wait for) and its
CPU time per partition do not depend on who else has the core.
"""
import argparse
import math
import os
import re
import subprocess
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


def spans(m):
    trace = m.path("trace.json")
    m.ok("trace", trace)
    return [e for e in json.load(open(trace))["traceEvents"] if e["ph"] == "X"]


def first_trim(m):
    """The first trim gives every free page of the fresh heap back, once: seconds of the kernel's time, and
    no part of what a trim after each partition costs from then on."""
    until(lambda: any(e["name"] == "malloc_trim" for e in spans(m)), 120)


def until(true, seconds):
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            check(False, "the first trim ends")
            return
        time.sleep(0.5)


def cpu_ms(pid):
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")


def measure(trim):
    config = f"[memory]\narena = 256M\n[gpud]\nbackend = cpu\nthreads = 1\n[finisher]\nballast = {options.ballast}\nmalloc_trim = {'on' if trim else 'off'}\n"
    with Instance(config=config) as m:
        m.up()
        cpus = sorted(os.sched_getaffinity(0))
        daemons = m.daemons()
        if len(cpus) == 2:
            for name, pid in daemons.items():
                pin(pid, {cpus[1]} if name.startswith("gpud") else {cpus[0]})
        gpud = next(pid for name, pid in daemons.items() if name.startswith("gpud"))
        m.ok("circuit", "add", wide, "--alias", "w")
        m.ok("await", m.ok("submit", "w", wide_w), m.path("p"), m.path("u"))
        if trim:
            first_trim(m)
        cpu = cpu_ms(gpud)
        job = m.ok("submit", "w", *[wide_w] * options.partitions)
        m.ok("await", job, m.path("p"), m.path("u"), timeout=3000)
        cpu = cpu_ms(gpud) - cpu
        events = spans(m)
        kernels = sorted((e["ts"], e["ts"] + e["dur"]) for e in events if e["name"] == "kernels" and str(e["args"]["job"]) == job)
        first, last = kernels[0][1], kernels[-1][1]
        within = lambda name: [e["dur"] / 1e3 for e in events if e["name"] == name and first < e["ts"] < last]
        trims, turns = within("malloc_trim"), within("desk_turn")
        waits = sum(max(0, b[0] - a[1]) for a, b in zip(kernels, kernels[1:]))
        return {
            "rate": (len(kernels) - 1) / ((last - first) / 1e6),
            "busy": 1 - waits / (last - first),
            "cpu": cpu / options.partitions,
            "trims": len(trims),
            "trim_ms": sum(trims) / max(len(trims), 1),
            "turn": max(turns, default=0),
        }


def in_one_process(trim):
    """(sums/s, milliseconds that the thread in the GPU's place waited for the tracker)"""
    folder = os.path.dirname(wide)
    done = subprocess.run([os.path.join(BUILD, "tests", "bench", "pipeline", "one_process"), wide, wide_w,
                           os.path.join(folder, "vk.json"), str(bytes_of(options.ballast)), str(options.partitions),
                           "on" if trim else "off"], capture_output=True, text=True)
    check(done.returncode == 0, f"one process: {done.stderr}")
    return [float(x) for x in done.stdout.split()]


def bytes_of(text):
    number, unit = re.fullmatch(r"(\d+)([KMG]?)(?:iB)?", text).groups()
    return int(number) << {"": 0, "K": 10, "M": 20, "G": 30}[unit]


def interval(name, ratios):
    n = len(ratios)
    mean = sum(ratios) / n
    half = T95[n] * math.sqrt(sum((r - mean) ** 2 for r in ratios) / (n - 1) / n) if n in T95 else math.nan
    print(f"{name}: {mean:.4f}, 95 % interval {mean - half:.4f} .. {mean + half:.4f}")


print("three processes: partitions/s and busy share of gpud, its CPU ms per partition, the desk's longest turn in ms;")
print("one process: partitions/s, ms of waiting for the tracker; without trims -> with")
ratios = {"partitions/s": [], "busy share": [], "CPU per partition": [], "one process, partitions/s": []}
for pair in range(options.pairs):
    order = (False, True) if pair % 2 == 0 else (True, False)
    got = {trim: measure(trim) for trim in order}
    one = {trim: in_one_process(trim) for trim in order}
    off, on = got[False], got[True]
    ratios["partitions/s"].append(on["rate"] / off["rate"])
    ratios["busy share"].append(on["busy"] / off["busy"])
    ratios["CPU per partition"].append(on["cpu"] / off["cpu"])
    ratios["one process, partitions/s"].append(one[True][0] / one[False][0])
    print(f"{pair + 1:2}: {off['rate']:6.2f} -> {on['rate']:6.2f}, busy {100 * off['busy']:5.1f} -> {100 * on['busy']:5.1f} %, "
          f"CPU {off['cpu']:5.1f} -> {on['cpu']:5.1f}, turn {off['turn']:5.1f} -> {on['turn']:5.1f}, "
          f"{on['trims']} trims of {on['trim_ms']:.1f} ms | "
          f"one process: {one[False][0]:6.2f} -> {one[True][0]:6.2f}, waits {one[False][1]:.0f} -> {one[True][1]:.0f}", flush=True)
if options.pairs > 1:
    print("with / without")
    for name, values in ratios.items():
        interval(name, values)
finish()
