"""The partitions of a job are verified together; when one of them is wrong it is found, it alone is proved
again, and the others are not touched. Needs a build with -Dkill_points=true."""
import re
from harness import *

with open(os.path.join(BUILD, "gpud", "gpud"), "rb") as program:
    has_points = b"MILLRACE_SPOIL_AT" in program.read()
if not has_points:
    skip("this build has no spoil points (-Dkill_points=true)")


def verdicts(m, job):
    """(partition, attempt, outcome, size of the batch) as finalizd's log has them."""
    with open(os.path.join(m.dir, "log", "finalizd.log")) as log:
        lines = [line for line in log if "FIN_TIMING" in line and f"job={job} " in line]
    found = [re.search(r"partition=(\d+) attempt=(\d+) outcome=(\w+).* batch=(\d+)", line).groups() for line in lines]
    return [(int(p), int(a), outcome, int(batch)) for p, a, outcome, batch in found]


def spoiled(attempts):
    # The first check is made slow, so that the other partitions wait for one check together.
    return Instance(env={"MILLRACE_SPOIL_AT": f"gpud.sums:6:{attempts}", "MILLRACE_SLOW_AT": "finisher.check:700"}, config="[memory]\narena = 64M\n[gpud]\nbackend = cpu\n[finisher]\nthreads = 1\n")


with Instance() as made:
    out = made.path("snap")
    made.ok("testkit", "generate", "--shape", "snap", "--scale", "2^10", "--out", out)
    key, witness, r1cs = (os.path.join(out, name) for name in ("circuit.zkey", "circuit.wtns", "circuit.r1cs"))

    with spoiled(1) as m:
        m.up()
        m.ok("circuit", "add", key, "--alias", "snap", "--shape", "snap")
        job = m.ok("submit", "--shape", "snap", "snap", *[witness] * 16)
        m.ok("await", job, m.path("p.json"), m.path("u.json"))
        seen = verdicts(m, job)
        wrong = [v for v in seen if v[2] != "verified"]
        check(len(wrong) == 1 and wrong[0][:2] == (6, 1), f"partition 6 is the one that is found: {wrong}")
        check(wrong and wrong[0][3] > 4, f"in a check of several together: {wrong}")
        check(sorted(v[:2] for v in seen if v[2] == "verified") == sorted([(p, 1) for p in range(16) if p != 6] + [(6, 2)]), f"it is proved again, the others are not: {seen}")
        proofs, values = json.load(open(m.path("p.json"))), json.load(open(m.path("u.json")))
        for i in (5, 6, 7):
            json.dump(proofs[i], open(m.path("one.json"), "w"))
            json.dump(values[i], open(m.path("one-public.json"), "w"))
            verified(m.path("one.json"), m.path("one-public.json"), os.path.join(out, "vk.json"))
        parts = m.json("show", job)["partition"]
        check([p.get("rejections", 0) for p in parts] == [0] * 6 + [1] + [0] * 9, f"show says so: {parts}")

    # Wrong twice, and nothing is known of C: the witness is to blame. With C it is seen to be fine.
    with spoiled(2) as m:
        m.up()
        m.ok("circuit", "add", key, "--alias", "blind")
        job = m.ok("submit", "blind", *[witness] * 8)
        code, _, err = m("await", job, m.path("p.json"), m.path("u.json"))
        check(code == 7 and "partition 6" in err, f"wrong twice: {code} {err.strip()}")
        m.ok("circuit", "add", key, "--r1cs", r1cs, "--alias", "seeing")
        job = m.ok("submit", "seeing", *[witness] * 8)
        m.ok("await", job, m.path("p.json"), m.path("u.json"))
        check([v[:3] for v in verdicts(m, job) if v[0] == 6] == [(6, 1, "rejected"), (6, 2, "rejected"), (6, 3, "verified")], f"the third is right: {verdicts(m, job)}")
        status = m.json("status")["memory"]
        check(sum(n["rows_held"] for n in status["nodes"]) == 0, f"nothing is held: {status}")
        m.wait_for("an empty spool", lambda: m.spooled() == [], 10)
finish()
