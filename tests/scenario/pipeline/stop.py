"""A partition that fails for good stops its siblings at once; a cancelled job gives everything back within
one step. Steps are made a second long. Needs a build with -Dkill_points=true."""
import re
from harness import *

with open(os.path.join(BUILD, "gpud", "gpud"), "rb") as program:
    has_points = b"MILLRACE_SLOW_AT" in program.read()
if not has_points:
    skip("this build has no slow points (-Dkill_points=true)")

STEP = 1.0
wide, wide_w = fixture("bn128", "wide_12", ".zkey"), fixture("bn128", "wide_12", ".wtns")


def held(m):
    return sum(n["rows_held"] for n in m.json("status")["memory"]["nodes"])


def free_after(m):
    """Seconds until no row is held and every byte of the arena is free."""
    began = time.monotonic()
    while time.monotonic() - began < 20:
        nodes = m.json("status")["memory"]["nodes"]
        if all(n["rows_held"] == 0 and n["free_bytes"] == n["total_bytes"] for n in nodes):
            break
        time.sleep(0.02)
    return time.monotonic() - began


def proved(m, job):
    with open(os.path.join(m.dir, "log", "gpud.0.log")) as log:
        return sum("GPU_TIMING" in line and f"job={job} " in line and "outcome=proved" in line for line in log)


with Instance(env={"MILLRACE_SLOW_AT": "gpud.finish:1000,synthd.matrices:200"}, config="[memory]\narena = 64M\n[gpud]\nbackend = cpu\nevaluate = synthd\n[desk]\nready_bound = 4\n") as m:
    m.up()
    m.ok("circuit", "add", wide, "--alias", "wide")
    spoilt = m.path("spoilt.wtns")
    data = bytearray(open(wide_w, "rb").read())
    data[-32:] = b"\xff" * 32  # not below r: synthd finds it
    open(spoilt, "wb").write(data)

    inputs = [wide_w] * 16
    inputs[3] = spoilt
    job = m.ok("submit", "wide", *inputs)
    code, _, err = m("await", job, m.path("p"), m.path("u"))
    took = free_after(m)
    check(code == 5 and "partition 3" in err, f"the partition is named: {code} {err.strip()}")
    check(took < 2 * STEP, f"its siblings are gone within a step: {took:.2f} s")
    count = proved(m, job)
    check(count < 4, f"none of them was begun afterwards: {count} of 15 were proved")
    shown = m.json("show", job)["partition"]
    check(all(p["attempts"] <= 1 for p in shown), f"and none was made twice: {shown}")

    # Cancelled while partitions are proved, ready, filled and waiting.
    job = m.ok("submit", "wide", *[wide_w] * 16)
    m.wait_for("partitions in several states", lambda: held(m) >= 4, 20)
    m.ok("cancel", job)
    took = free_after(m)
    check(took < 2 * STEP, f"all is back within a step: {took:.2f} s")
    code, _, err = m("await", job, m.path("p"), m.path("u"))
    check(code == 12, f"cancelled: {code} {err.strip()}")
    m.wait_for("an empty spool", lambda: m.spooled() == [], 10)
    m.ok("await", m.ok("submit", "wide", wide_w), m.path("p"), m.path("u"))
    m.down()
finish()
