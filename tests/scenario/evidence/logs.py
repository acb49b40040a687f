"""Logs: one line an event, in key=value or JSON; what is about a partition says which; levels by environment
and, with `millrace log`, while the daemons run."""
import os
import re
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "pipeline"))
from harness import *  # noqa: E402

wide, wide_w = fixture("bn128", "wide_12", ".zkey"), fixture("bn128", "wide_12", ".wtns")
DAEMONS = ("finalizd", "gpud.0", "synthd.0.0")
OF_PARTITION = {"FIN_TIMING", "GPU_TIMING", "granted", "published", "attempt-failed", "partition-failed", "proof-rejected", "lease-lost"}
TEXT = re.compile(r'^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z) (error|warn|info|debug) (\S+)\[(\d+)\] (\S+)((?: [a-z_0-9]+=(?:"(?:[^"\\]|\\.)*"|[^\s"]*))*)$')


def lines(m, daemon):
    with open(os.path.join(m.dir, "log", daemon + ".log")) as f:
        return f.read().splitlines()


def parse(line):
    """(level, event, fields) of a text line, or None."""
    found = TEXT.match(line)
    if not found:
        return None
    fields = dict(re.findall(r'([a-z_0-9]+)=("(?:[^"\\]|\\.)*"|\S*)', found.group(6)))
    return found.group(2), found.group(5), fields


def work(m):
    job = m.ok("submit", wide, *[wide_w] * 3)
    m.ok("await", job, m.path("p.json"), m.path("u.json"))
    return job


with Instance() as m:
    m.up()
    job = work(m)
    for daemon in DAEMONS:
        for line in lines(m, daemon):
            parsed = parse(line)
            if not check(parsed, f"{daemon}: one event a line, key=value: {line}"):
                continue
            level, event, fields = parsed
            check(event not in OF_PARTITION or ("job" in fields and "partition" in fields), f"{daemon}: job and partition on: {line}")
    for daemon, event in (("finalizd", "FIN_TIMING"), ("gpud.0", "GPU_TIMING")):
        found = [x for x in map(parse, lines(m, daemon)) if x and x[1] == event]
        check({(f["job"], f["partition"]) for _, _, f in found} == {(job, str(i)) for i in range(3)}, f"{event} for each partition: {found}")
    check(not any((parse(x) or [""])[0] == "debug" for d in DAEMONS for x in lines(m, d)), "no debug lines by default")

    # While they run: all, one, a kind; and what is asked is shown.
    check(m.json("log") == [{"name": d, "log": "info,text"} for d in ("finalizd", "synthd.0.0", "gpud.0")], f"what they log: {m.json('log')}")
    out = m.ok("log", "debug", "finalizd")
    check(out.split() == ["finalizd", "debug,text"], f"one of them: {out}")
    job = work(m)
    check(any(f" granted job={job} partition=2 " in x for x in lines(m, "finalizd")), "finalizd's debug lines are there")
    check(not any(" debug " in x for x in lines(m, "synthd.0.0")), "synthd's are not")
    m.ok("log", "debug", "synthd")
    job = work(m)
    check(any(f" published job={job} partition=1 " in x for x in lines(m, "synthd.0.0")), "now they are")
    m.ok("log", "error")
    before = {d: len(lines(m, d)) for d in DAEMONS}
    work(m)
    check({d: len(lines(m, d)) for d in DAEMONS} == before, "with error nothing is logged when all is well")
    m.ok("log", "info,json", "gpud.0")
    job = work(m)
    last = json.loads(lines(m, "gpud.0")[-1])
    check(last["event"] == "GPU_TIMING" and last["job"] == job and isinstance(last["partition"], int) and isinstance(last["kernels_ms"], float), f"JSON from here on: {last}")
    shown = {x["name"]: x["log"] for x in m.json("log")}
    check(shown == {"finalizd": "error,text", "synthd.0.0": "error,text", "gpud.0": "info,json"}, f"each has its own: {shown}")

    # What is wrong is said.
    code, out, err = m("log", "loud")
    check(code == 2 and "loud" in err and "debug" in err, f"no such level: {code} {err.strip()}")
    code, out, err = m("log", "info", "gpud.7")
    check(code == 11 and "gpud.7" in err, f"no such daemon: {code} {err.strip()}")
    pid = m.daemons()["synthd.0.0"]
    os.kill(pid, signal.SIGSTOP)
    code, out, err = m("log", "warn", "synthd.0.0")
    check(code == 10 and "does not follow" in err, f"a stopped daemon: {code} {err.strip()}")
    os.kill(pid, signal.SIGCONT)
    m.wait_for("it follows when it goes on", lambda: m.json("log")[1]["log"] == "warn,text")
    m.down()
    code, out, err = m("log", "info")
    check(code == 10, f"nothing runs: {code} {err.strip()}")

# By environment, in JSON: every line is an object with its fields.
with Instance(env={"MILLRACE_LOG": "debug,json"}) as m:
    m.up()
    job = work(m)
    for daemon in DAEMONS:
        for line in lines(m, daemon):
            try:
                o = json.loads(line)
            except ValueError:
                check(False, f"{daemon}: a JSON object a line: {line}")
                continue
            check({"time", "level", "process", "pid", "event"} <= set(o) and o["process"] == daemon, f"{daemon}: its fields: {line}")
            check(o["event"] not in OF_PARTITION or ("job" in o and isinstance(o["partition"], int)), f"{daemon}: job and partition on: {line}")
    check(any('"level":"debug"' in x for x in lines(m, "finalizd")), "debug by environment")
with Instance(env={"MILLRACE_LOG": "warn"}) as m:
    m.up()
    work(m)
    check(all(lines(m, d) == [] for d in DAEMONS), f"warn: silent when all is well: {[lines(m, d) for d in DAEMONS]}")
with Instance(env={"MILLRACE_LOG": "shout"}) as m:
    m.up()
    check(all("bad-log-setting" in lines(m, d)[0] for d in DAEMONS), "a bad setting is said and changes nothing")
finish()
