"""Two hundred jobs at four priorities are granted by (priority, age, partition)."""
from harness import *

mul, mul_w = fixture("bn128", "mul", ".zkey"), fixture("bn128", "mul", ".wtns")

# One synthd, one gpud: what is granted first ends first, but for the few that are under way together.
with Instance(config="[memory]\narena = 64M\n[gpud]\nbackend = cpu\n[synthd]\nper_node = 1\n[desk]\npriority_age = 0s\n", env={"MILLRACE_LOG": "debug"}) as m:
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
    wanted = sorted(jobs, key=lambda j: (jobs[j], j))
    granted = []
    with open(os.path.join(m.dir, "log", "finalizd.log")) as log:
        for line in log:
            if " granted job=" in line:
                granted.append(int(line.split(" granted job=")[1].split()[0]))
    check(granted == wanted, f"granted exactly in order of priority, then age: {granted[:12]} ... wanted {wanted[:12]} ...")
    m.down()
finish()
