"""One memory budget: what `status` counts is what the kernel says is mapped, at every step of a circuit's
life; the least recently used idle key goes for a new one; what is in use does not; what can never fit is
refused with the figures."""
import re
from harness import *

CONFIG = "[memory]\narena = 16M\n{limit}[gpud]\nbackend = cpu\n[desk]\nheartbeat = 200ms\n"


def kernel_mapped(m):
    """Bytes of prepared circuits that any daemon maps, each file once, from /proc/PID/smaps."""
    files = {}
    for pid in m.daemons().values():
        try:
            with open(f"/proc/{pid}/smaps") as f:
                lines = f.read().splitlines()
        except (FileNotFoundError, ProcessLookupError):
            continue
        for line, following in zip(lines, lines[1:]):
            head = line.split(None, 5)
            if len(head) == 6 and head[5].endswith(".circuit") and m.dir in head[5]:
                files[head[4]] = files.get(head[4], 0) if head[4] in files else int(following.split()[1]) * 1024
    return sum(files.values())


def kernel_arena(m):
    """Bytes that the arenas and what lies beside them (span rings, counters) take of the tmpfs."""
    link = os.path.join(m.dir, "run", "arena")
    return sum(os.stat(os.path.join(link, name)).st_blocks * 512 for name in os.listdir(link))


def close(a, b):
    return abs(a - b) <= 0.01 * max(a, b)


def agree(m, when, circuits):
    """Within two seconds status and kernel are within 1 % of each other, with so many circuits mapped."""
    seen = {}

    def look():
        memory = m.json("status")["memory"]
        seen.update(status=memory, kernel=kernel_mapped(m), arena=kernel_arena(m))
        whole = close(memory["charged_bytes"], seen["arena"] + seen["kernel"] + memory["table_bytes"])
        return close(memory["key_bytes"], seen["kernel"]) and close(memory["arena_bytes"] + memory["evidence_bytes"], seen["arena"]) and whole and sum(c["resident"] > 0 for c in m.json("circuit", "list")["circuits"]) == circuits

    until = time.monotonic() + 5
    while not look() and time.monotonic() < until:
        time.sleep(0.05)
    return check(look(), f"{when}: status and kernel agree within 1 %, {circuits} circuits resident: {seen}")


with Instance(config=CONFIG.format(limit="")) as m:
    keys = []
    for n in range(4):
        out = m.path(f"c{n}")
        m.ok("testkit", "generate", "--shape", "snap", "--scale", "2^13" if n < 3 else "2^15", "--number", str(n + 1), "--out", out, "--no-r1cs")
        keys.append((os.path.join(out, "circuit.zkey"), os.path.join(out, "circuit.wtns")))

    def prove(n, count=1):
        job = m.ok("submit", f"c{n}", *[keys[n][1]] * count)
        m.ok("await", job, m.path("p.json"), m.path("u.json"))

    m.up()
    for n in range(4):
        m.ok("circuit", "add", keys[n][0], "--alias", f"c{n}")
    agree(m, "nothing was proved yet", 0)
    prove(0)
    agree(m, "one circuit was used", 1)
    prove(1)
    prove(2, 3)
    agree(m, "three circuits were used", 3)
    m.ok("circuit", "evict", "c1")
    agree(m, "one was evicted by hand", 2)
    m.ok("circuit", "preload", "c1")
    agree(m, "and loaded by hand", 3)
    for name in ("synthd.0.0", "gpud.0", "finalizd"):
        pid = m.daemons()[name]
        os.kill(pid, 9)
        m.wait_for(f"{name} is back", lambda: m.daemons().get(name) not in (None, pid) and m.supervisor().get("ready"))
        agree(m, f"{name} was killed", 0 if name == "gpud.0" else 3 if name == "synthd.0.0" else 0)
    for n in range(3):
        prove(n)
    pid = m.daemons()["finalizd"]
    os.kill(pid, 9)
    m.wait_for("finalizd is back", lambda: m.daemons().get("finalizd") not in (None, pid) and m.supervisor().get("ready"))
    agree(m, "the desk restarted while daemons hold three circuits", 3)
    status = m.json("status")["memory"]
    each = (status["key_bytes"] + status["table_bytes"]) // 3
    m.down()
    m.up()
    fresh = m.json("status")["memory"]
    arena = fresh["arena_bytes"] + fresh["evidence_room_bytes"]  # rings of a run and of its predecessor
    m.down()

    # Room for two and a half of the small circuits beside the arenas.
    limit = arena + each * 5 // 2
    with open(os.path.join(m.dir, "millrace.conf"), "w") as f:
        f.write(CONFIG.format(limit=f"limit = {limit}\n"))
    m.up()
    agree(m, "started with a limit", 0)
    prove(0)
    prove(1)
    prove(0)
    agree(m, "two fit", 2)
    prove(2)
    agree(m, "a third takes the room of one", 2)
    resident = {c["alias"]: c["resident"] for c in m.json("circuit", "list")["circuits"]}
    check(resident["c0"] == 1 and resident["c1"] == 0 and resident["c2"] == 1, f"the least recently used one went: {resident}")
    code, _, err = m("submit", "c3", keys[3][1])
    figures = re.search(r"take (\d+) bytes, arenas and rings leave (\d+) of the memory limit of (\d+)", err)
    check(code == 8 and figures and abs(int(figures[2]) - each * 5 // 2) < each // 4 and int(figures[3]) == limit, f"what can never fit is refused with the figures: {code} {err.strip()}")

    # Three circuits at once in turn, more than fit together: everything ends, nothing is ever over the limit.
    jobs = [m.ok("submit", f"c{n % 3}", *[keys[n % 3][1]] * 3) for n in range(9)]
    peak, over, under = 0, [], []
    while any(j["state"] in ("queued", "running") for j in m.json("jobs")["jobs"] if str(j["job"]) in jobs):
        before = m.json("status")["memory"]
        mapped = kernel_mapped(m)
        after = m.json("status")["memory"]
        peak = max(peak, before["charged_bytes"])
        if before["charged_bytes"] > limit:
            over.append(before)
        if mapped > 1.01 * max(before["key_bytes"], after["key_bytes"]):
            under.append((mapped, before["key_bytes"], after["key_bytes"]))
    for job in jobs:
        m.ok("await", job, m.path("p.json"), m.path("u.json"))
    check(not over, f"never over the limit of {limit}: {over[:2]}")
    check(not under, f"never more mapped than counted: {under[:2]}")
    check(peak > fresh["arena_bytes"] + each, f"circuits were charged meanwhile: {peak}")
    agree(m, "after three circuits took turns", 2)
    m.down()
    check(m.arenas() == [], "no arena is left")
finish()
