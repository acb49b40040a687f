"""GPU_TIMING and FIN_TIMING: one line for each partition that was proved or finished, on success, failure
and discard alike, with every field; and each field is a span of its own that says the same."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "pipeline"))
from harness import *  # noqa: E402

wide, wide_w = fixture("bn128", "wide_12", ".zkey"), fixture("bn128", "wide_12", ".wtns")
mul, mul_w = fixture("bn128", "mul", ".zkey"), fixture("bn128", "mul", ".wtns")
GPU = {"ring": "ring", "ready_wait": "ready_wait", "key_load": "key_load", "prove_start": "prove_start", "copy_in": "copy_in",
       "kernels": "kernels", "matrices": "kernel_matrices", "ntt": "kernel_ntt", "classify": "kernel_classify", "msm_h": "kernel_msm_h",
       "msm_a": "kernel_msm_a", "msm_b1": "kernel_msm_b1", "msm_b2": "kernel_msm_b2", "msm_l": "kernel_msm_l", "copy_out": "copy_out",
       "prove_finish": "prove_finish", "release": "release", "total": "gpu_total"}
FIN = {"prove_finish": "prove_finish", "release": "release", "desk_wait": "desk_wait", "result": "result", "pairing": "pairing",
       "commit": "commit", "settle": "settle", "malloc_trim": "malloc_trim", "total": "fin_total"}


def lines(m, log, word):
    found = []
    with open(os.path.join(m.dir, "log", log)) as f:
        for line in f:
            if f" {word} " in line:
                found.append(dict(re.findall(r"(\w+)=(\S+)", line)))
    return found


def spans(m):
    """{(name, job, partition, attempt): [milliseconds]}"""
    path, found = m.path("trace.json"), {}
    m.ok("trace", path)
    events = json.load(open(path))["traceEvents"]
    ends = {(e["cat"], e["id"]): e["ts"] for e in events if e["ph"] == "e"}
    for e in events:
        if e["ph"] in "Xb":
            a, us = e["args"], e["dur"] if e["ph"] == "X" else ends[e["cat"], e["id"]] - e["ts"]
            found.setdefault((e["name"], a["job"], a["partition"], a["attempt"]), []).append(us / 1000)
    return found


def compare(line, fields, of, what):
    who = (int(line["job"]), int(line["partition"]), int(line["attempt"]))
    for field, name in fields.items():
        if not check(f"{field}_ms" in line, f"{what}: a {what} line has {field}_ms: {line}"):
            continue
        ms = float(line[f"{field}_ms"])
        if name == "malloc_trim":
            check(ms == 0 or any(abs(ms - x) < 0.01 for x in of.get((name, 0, 0, 0), [])), f"{what}: a malloc_trim of {ms} ms has a span")
        elif field == "total" and what == "FIN_TIMING":
            # The line's total has the trim that came after it in it.
            expected = ms - float(line["malloc_trim_ms"])
            check(any(abs(expected - x) < 0.01 for x in of.get((name, *who), [])), f"{what} {who}: total {expected}: {of.get((name, *who))}")
        elif ms > 0:
            check(any(abs(ms - x) < 0.01 for x in of.get((name, *who), [])), f"{what} {who}: {field}={ms} ms, its spans: {of.get((name, *who))}")


for trim in ("false", "true"):
    with Instance(config=f"[memory]\narena = 256M\n[gpud]\nbackend = cpu\nevaluate = synthd\n[finisher]\nmalloc_trim = {trim}\n") as m:
        m.up()
        good = m.ok("submit", wide, *[wide_w] * 4)
        m.ok("await", good, m.path("p.json"), m.path("u.json"))
        # Its proof does not verify.
        bad = m.path("bad.wtns")
        data = bytearray(open(mul_w, "rb").read())
        data[-32] ^= 1
        open(bad, "wb").write(data)
        rejected = m.ok("submit", mul, bad)
        m("await", rejected, m.path("p.json"), m.path("u.json"))
        # synthd finds it to be of another circuit.
        failed = m.ok("submit", mul, wide_w)
        m("await", failed, m.path("p.json"), m.path("u.json"))
        # Nobody wants it any more while it is proved.
        dropped = m.ok("submit", wide, *[wide_w] * 60)
        m.wait_for("one of them is proved", lambda: any(x["job"] == dropped for x in lines(m, "finalizd.log", "FIN_TIMING")))
        m.ok("cancel", dropped)
        m.wait_for("all rows are back", lambda: m.json("status")["partitions_in_flight"] == 0)
        if trim == "true":
            m.wait_for("the last trim is over", lambda: any(x["job"] == dropped and x["outcome"] == "discarded" for x in lines(m, "finalizd.log", "FIN_TIMING")))

        of, fin, gpu = spans(m), lines(m, "finalizd.log", "FIN_TIMING"), lines(m, "gpud.0.log", "GPU_TIMING")
        for line in fin:
            compare(line, FIN, of, "FIN_TIMING")
        for line in gpu:
            compare(line, GPU, of, "GPU_TIMING")
        outcomes = {job: {x["outcome"] for x in fin if x["job"] == job} for job in (good, rejected, failed, dropped)}
        check(sum(x["job"] == good and x["outcome"] == "verified" for x in fin) == 4, f"four verified lines: {outcomes[good]}")
        check(outcomes[rejected] == {"rejected"}, f"a rejected line: {outcomes[rejected]}")
        check(outcomes[failed] == {"failed"}, f"a failed line: {outcomes[failed]}")
        check("discarded" in outcomes[dropped], f"a discarded line: {outcomes[dropped]}")
        check(sum(x["job"] == good and x["outcome"] == "proved" for x in gpu) == 4, "four proved lines of gpud")
        check(len({(x["job"], x["partition"], x["attempt"]) for x in fin}) == len(fin), "one line for each attempt")
        trims = [float(x["malloc_trim_ms"]) for x in fin]
        check((max(trims) > 0) == (trim == "true"), f"malloc_trim_ms where it is configured alone: {max(trims)}")
        for x in fin:
            parts = sum(float(x[f"{f}_ms"]) for f in FIN if f != "total")
            check(parts <= float(x["total_ms"]) + 0.01, f"no part is counted twice: {parts} of {x['total_ms']} ms")
finish()
