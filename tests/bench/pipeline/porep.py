"""Jobs of PoRep's shape at a scale: seconds per partition by phase, host memory against the least that it
can be, GPU busy share and gaps.

    porep.py BUILD [--shape porep] [--scale 18] [--jobs 1] [--synthds 1] [--evaluate auto] [--arena auto]

The circuit is generated with the shape's statistics and goes through the whole pipeline: real daemons, real
arenas, the real ledger. Memory is the sum of the daemons' proportional shares (smaps_rollup, so that what
they share counts once), sampled while the jobs run. The least: one extent (w, a and b), the prepared key,
and with the CPU backend its tables and the vectors of one proof (a, b and the quotient's scratch). Scale 27
is the real size, on a GPU host with the memory. MILLRACE_TEST_BACKEND chooses cpu or cuda.
"""
import argparse
import collections
import os
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scenario", "pipeline"))
from harness import *  # noqa: E402

parser = argparse.ArgumentParser()
parser.add_argument("build")
parser.add_argument("--shape", default="porep")
parser.add_argument("--scale", type=int, default=14)
parser.add_argument("--jobs", type=int, default=1)
parser.add_argument("--synthds", type=int, default=1)
parser.add_argument("--evaluate", default="auto")
parser.add_argument("--arena", default="auto")
options = parser.parse_args()
MIB = 1 << 20


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))] if values else 0.0


class Memory(threading.Thread):
    """Samples the daemons' proportional share of memory; keeps the peak, in all and of each kind."""

    def __init__(self, m):
        super().__init__(daemon=True)
        self.m, self.stop, self.peak, self.parts = m, threading.Event(), 0, {}

    def run(self):
        while not self.stop.wait(0.05):
            total, parts = 0, collections.Counter()
            for name, pid in self.m.daemons().items():
                try:
                    with open(f"/proc/{pid}/smaps_rollup") as f:
                        for line in f:
                            if line.startswith("Pss:"):
                                parts[name.split(".")[0]] += int(line.split()[1]) * 1024
                except (OSError, ValueError):
                    continue
            total = sum(parts.values())
            if total > self.peak:
                self.peak, self.parts = total, parts


config = f"[memory]\narena = {options.arena}\n[gpud]\nbackend = cpu\nevaluate = {options.evaluate}\n[synthd]\nper_node = {options.synthds}\n"
with Instance(config=config) as m:
    out = m.path("circuit")
    began = time.monotonic()
    m.ok("testkit", "generate", "--shape", options.shape, "--scale", f"2^{options.scale}", "--out", out, "--no-r1cs", timeout=36000)
    print(f"{options.shape} at 2^{options.scale}: circuit and key made in {time.monotonic() - began:.1f} s", flush=True)
    key, witness = os.path.join(out, "circuit.zkey"), os.path.join(out, "circuit.wtns")
    shape = m.json("circuit", "shapes")[options.shape]
    m.up()
    began = time.monotonic()
    m.ok("circuit", "add", key, "--alias", "bench", "--shape", options.shape, timeout=36000)
    print(f"checked and prepared in {time.monotonic() - began:.1f} s", flush=True)
    circuit = m.json("circuit", "list")["circuits"][0]
    m.ok("await", m.ok("submit", "bench", witness), m.path("p"), m.path("u"), timeout=36000)  # the key becomes resident
    memory = Memory(m)
    memory.start()
    inputs = [witness] * shape["partitions"]
    began = time.monotonic()
    jobs = [m.ok("submit", "--shape", options.shape, "bench", *inputs, timeout=36000) for _ in range(options.jobs)]
    for job in jobs:
        m.ok("await", job, m.path("p"), m.path("u"), timeout=360000)
    wall = time.monotonic() - began
    memory.stop.set()
    memory.join()
    trace = m.path("trace.json")
    m.ok("trace", trace)
    events = [e for e in json.load(open(trace))["traceEvents"] if e["ph"] == "X" and str(e.get("args", {}).get("job")) in jobs]
    status = m.json("status")["memory"]
    m.down()

n = options.jobs * shape["partitions"]
print(f"{options.jobs} jobs of {shape['partitions']} partitions in {wall:.2f} s: {wall / n:.3f} s a partition")
print(f"{'phase':>22} {'s / partition':>14} {'times':>6}")
spent, times = collections.Counter(), collections.Counter()
for e in events:
    spent[e["name"]] += e["dur"] / 1e6
    times[e["name"]] += 1
for name, seconds in spent.most_common():
    if name != "job":
        print(f"{name:>22} {seconds / n:14.4f} {times[name]:6}")

kernels = sorted((e["ts"], e["ts"] + e["dur"]) for e in events if e["name"] == "kernels")
busy, gaps, at = 0, [], kernels[0][0]
for begin, end in kernels:
    if begin > at:
        gaps.append((begin - at) / 1000)
    busy += max(0, end - max(at, begin))
    at = max(at, end)
print(f"GPU busy {100 * busy / (at - kernels[0][0]):.1f} % between first and last kernel, {len(gaps)} gaps: p50 {percentile(gaps, 0.5):.2f} ms, p99 {percentile(gaps, 0.99):.2f} ms")

domain = 32 << circuit["domain_log2"]
least = circuit["extent_bytes"] + circuit["bytes"] + (status["table_bytes"] + 3 * domain if BACKEND == "cpu" else 0)
print(f"host memory, peak: {memory.peak / MIB:.1f} MiB ({', '.join(f'{k} {v / MIB:.1f}' for k, v in sorted(memory.parts.items()))}); the least: {least / MIB:.1f} MiB (extent {circuit['extent_bytes'] / MIB:.1f}, key {circuit['bytes'] / MIB:.1f}); ratio {memory.peak / least:.2f}")
finish()
