"""Throughput and latency of the whole pipeline: real daemons, real arenas, the real ledger.

    throughput.py BUILD [--sizes 12,14,16] [--curve bn254] [--partitions N] [--ones 0%]

For each size a generated circuit (its key from the trapdoor set-up, straight into prepared form): N
partitions queued at once, then what the spans say. Prints partitions/s, the share of the time between
first and last kernel with a kernel running, the p99 gap between kernels, and p50/p99 of single jobs, one
after the other, as whole `submit` and `await` commands. MILLRACE_TEST_BACKEND
chooses cpu or cuda.
"""
import argparse
import os
import re
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scenario", "pipeline"))
from harness import *  # noqa: E402

parser = argparse.ArgumentParser()
parser.add_argument("build")
parser.add_argument("--sizes", default="12,14")
parser.add_argument("--curve", default="bn254")
parser.add_argument("--partitions", type=int, default=40)
parser.add_argument("--singles", type=int, default=20)
parser.add_argument("--ones", default="0%")
parser.add_argument("--synthds", type=int, default=1)
parser.add_argument("--arena", default="auto")
options = parser.parse_args()


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


print(f"{'circuit':>16} {'partitions/s':>13} {'busy':>7} {'p99 gap ms':>10} {'p50 ms':>8} {'p99 ms':>8}")
for size in options.sizes.split(","):
    with Instance(config=f"[memory]\narena = {options.arena}\n[gpud]\nbackend = cpu\n[synthd]\nper_node = {options.synthds}\n[desk]\nsynthd_credit = 4\nready_bound = 4\n") as m:
        out = m.path("circuit")
        m.ok("testkit", "generate", "--curve", options.curve, "--log2", size, "--ones", options.ones, "--out", out, "--no-r1cs", timeout=3000)
        key, witness = os.path.join(out, "circuit.zkey"), os.path.join(out, "circuit.wtns")
        m.up()
        digest = m.ok("circuit", "add", key, "--alias", "bench", timeout=3000)
        # Once to warm up: the key is made resident.
        m.ok("await", m.ok("submit", "bench", witness), m.path("p"), m.path("u"), timeout=3000)
        n = options.partitions
        m.ok("scale", "node0=0")  # everything is queued before anything runs
        job = m.ok("submit", "bench", *[witness] * n, timeout=3000)
        began = time.monotonic()
        m.ok("scale", f"node0={options.synthds}")
        m.ok("await", job, m.path("p"), m.path("u"), timeout=3000)
        # The rate is that of the steady state: between the first and the last partition's end.
        ends = []
        with open(os.path.join(m.dir, "log", "finalizd.log")) as log:
            for line in log:
                if f"FIN_TIMING job={job} " in line:
                    h, mi, s = re.match(r"\d+-\d+-\d+T(\d+):(\d+):([\d.]+)Z", line).groups()
                    ends.append(int(h) * 3600 + int(mi) * 60 + float(s))
        rate = (len(ends) - 1) / (max(ends) - min(ends)) if len(ends) > 1 and max(ends) > min(ends) else 0
        # Between the first and the last kernel of that job: how much of it had a kernel running?
        trace = m.path("trace.json")
        m.ok("trace", trace)
        kernels = sorted((e["ts"], e["ts"] + e["dur"]) for e in json.load(open(trace))["traceEvents"] if e["ph"] == "X" and e["name"] == "kernels" and str(e["args"]["job"]) == job)
        busy, gaps, at = 0, [], kernels[0][0]
        for begin, end in kernels:
            if begin > at:
                gaps.append((begin - at) / 1000)
            busy += max(0, end - max(at, begin))
            at = max(at, end)
        wall = at - kernels[0][0]
        took = []
        for _ in range(options.singles):
            t = time.monotonic()
            m.ok("await", m.ok("submit", "bench", witness), m.path("p"), m.path("u"))
            took.append((time.monotonic() - t) * 1000)
        gaps = gaps or [0]
        print(f"{options.curve + ' 2^' + size:>16} {rate:13.1f} {100 * busy / wall:6.1f}% {percentile(gaps, .99):10.3f} {percentile(took, .5):8.1f} {percentile(took, .99):8.1f}", flush=True)
finish()
