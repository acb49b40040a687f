"""Who evaluates the matrices: synthd, gpud or whoever is not waited for; with fixed r and s the proofs
are the same, and where gpud does it only the witness is in the extent."""
import re
from harness import *

MEMORY = "[memory]\narena = {arena}\n[gpud]\nbackend = cpu\nevaluate = {how}\n"


def timings(m, job):
    """matrices_ms of each partition of a job, as gpud's log has them."""
    with open(os.path.join(m.dir, "log", "gpud.0.log")) as log:
        return [float(re.search(r"matrices_ms=([\d.]+)", line).group(1)) for line in log if "GPU_TIMING" in line and f"job={job} " in line]


def synthd_evaluated(m, job):
    """How many partitions of a job synthd evaluated, as its spans have it."""
    trace = m.path("trace.json")
    m.ok("trace", trace)
    events = json.load(open(trace))["traceEvents"]
    return sum(e["ph"] == "X" and e["name"] == "matrices" and str(e["args"]["job"]) == str(job) for e in events)


with Instance() as made:
    out = made.path("c16")
    made.ok("testkit", "generate", "--log2", "16", "--out", out, "--no-r1cs", "--form", "zkey")
    key, witness = os.path.join(out, "circuit.zkey"), os.path.join(out, "circuit.wtns")
    proofs = {}
    # w, a and b of 2^16 take 6 to 8 MiB, w alone 2 to 4.
    for how, arena in (("synthd", "64M"), ("gpu", "64M"), ("auto", "64M"), ("gpu", "4M"), ("auto", "4M")):
        case = f"evaluate = {how}, arena of {arena}"
        with Instance(config=MEMORY.format(arena=arena, how=how), env={"MILLRACE_TEST_RS": "3,5"}) as m:
            m.up()
            m.ok("circuit", "add", key, "--alias", "c16")
            job = m.ok("submit", "c16", *[witness] * 4)
            m.ok("await", job, m.path("p.json"), m.path("u.json"))
            proofs[case] = json.load(open(m.path("p.json")))
            ms, by_synthd = timings(m, job), synthd_evaluated(m, job)
            by_gpud = sum(t > 0 for t in ms)
            check(len(ms) == 4 and by_gpud + by_synthd == 4, f"{case}: each partition is evaluated once: gpud {ms}, synthd {by_synthd}")
            check(by_gpud == 0 if how == "synthd" else by_gpud == 4 if how == "gpu" or arena == "4M" else by_gpud >= 1, f"{case}: by whom: gpud {by_gpud}, synthd {by_synthd}")
            check(m.spooled() == [], f"{case}: the spool is empty")
    first = next(iter(proofs.values()))
    check(all(p == first for p in proofs.values()), "the same proofs in every case")

    # Where synthd evaluates, a and b need their room: what can never fit is refused with the figures.
    with Instance(config=MEMORY.format(arena="4M", how="synthd")) as m:
        m.up()
        m.ok("circuit", "add", key, "--alias", "c16")
        code, _, err = m("submit", "c16", witness)
        check(code == 8 and re.search(r"needs an extent of \d+ bytes, the largest arena has \d+ ", err), f"refused with the figures: {code} {err.strip()}")
        m.down()
        with open(os.path.join(m.dir, "millrace.conf"), "w") as f:
            f.write("[gpud]\nevaluate = both\n")
        code, _, err = run(os.path.join(BUILD, "finalizd", "finalizd"), "--dir", m.dir)
        check(code != 0 and "[gpud] evaluate: 'both': expected auto, synthd or gpu" in err, f"a wrong word is named: {code} {err.strip()}")
finish()
