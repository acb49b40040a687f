"""Two hundred jobs at four priorities are granted by (priority, age, partition)."""
from harness import *

mul, mul_w = fixture("bn128", "mul", ".zkey"), fixture("bn128", "mul", ".wtns")

# One synthd, one gpud: what is granted first ends first, but for the few that are under way together.
with Instance(config="[memory]\narena = 64M\n[gpud]\nbackend = cpu\n[synthd]\nper_node = 1\n[desk]\nageing_seconds = 0\n") as m:
    m.up()
    m.ok("circuit", "add", mul)
    m.ok("scale", "node0=0")  # nothing is taken while they are handed in
    jobs = {}
    for i in range(50):
        for priority in (3, 1, 2, 0):
            out = m.ok("submit", "--priority", str(priority), "mul", mul_w)
            jobs[int(out)] = priority
    m.ok("scale", "node0=1")
    for job in jobs:
        m.ok("await", str(job), m.path("p.json"), m.path("u.json"))
    rows = {j: m.json("show", str(j)) for j in jobs}
    ended = sorted(jobs, key=lambda j: (rows[j]["ended_ns"], j))
    wanted = sorted(jobs, key=lambda j: (jobs[j], j))
    slack = 32  # those that were granted together finish in any order
    place = {j: i for i, j in enumerate(ended)}
    worst = max(abs(place[j] - i) for i, j in enumerate(wanted))
    check(worst <= slack, f"no job ended more than {slack} places from its turn (worst {worst})")
    granted = sorted(jobs, key=lambda j: (rows[j]["granted_ns"], j))
    check(granted == wanted, "granted exactly in order of priority, then age")
    m.down()
finish()
