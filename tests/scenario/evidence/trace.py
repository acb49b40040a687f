"""`millrace trace`: the JSON fits Chrome's Trace Event Format as Perfetto reads it, with a track for each
process, thread, copy engine and stream, and arrows along each partition; `gaps --from` accounts for it."""
import collections
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "pipeline"))
from harness import *  # noqa: E402

wide, wide_w = fixture("bn128", "wide_12", ".zkey"), fixture("bn128", "wide_12", ".wtns")


def is_number(x):
    return isinstance(x, (int, float)) and not isinstance(x, bool)


def fits_schema(trace):
    """What both viewers ask of the JSON object format: fields and their types, by phase."""
    check(set(trace) <= {"traceEvents", "displayTimeUnit", "otherData", "metadata", "systemTraceEvents", "stackFrames", "samples"}, f"members of the object: {set(trace)}")
    check(trace.get("displayTimeUnit") in ("ms", "ns"), "displayTimeUnit is ms or ns")
    bad = []
    for i, e in enumerate(trace["traceEvents"]):
        ph = e.get("ph")
        fine = isinstance(e, dict) and ph in ("X", "M", "b", "e", "s", "t", "f")
        fine = fine and isinstance(e.get("name"), str) and isinstance(e.get("pid"), int) and isinstance(e.get("tid"), int)
        if fine and ph == "M":
            fine = e["name"] in ("process_name", "thread_name") and isinstance(e["args"]["name"], str)
        elif fine:
            fine = is_number(e.get("ts")) and e["ts"] >= 0 and isinstance(e.get("cat"), str)
        if fine and ph == "X":
            fine = is_number(e.get("dur")) and e["dur"] >= 0 and isinstance(e.get("args"), dict)
        if fine and ph in "bestf":
            fine = isinstance(e.get("id"), (int, str))
        if fine and ph == "f":
            fine = e.get("bp") == "e"
        if not fine:
            bad.append((i, e))
    check(not bad, f"every event has its fields: {bad[:3]}")


def slices_nest(events):
    """On each track slices come by begin, and two that overlap lie one in the other."""
    tracks = collections.defaultdict(list)
    for e in events:
        if e["ph"] == "X":
            tracks[e["pid"], e["tid"]].append((round(e["ts"] * 1000), round((e["ts"] + e["dur"]) * 1000), e["name"]))
    for track, slices in tracks.items():
        check(all(a[0] <= b[0] for a, b in zip(slices, slices[1:])), f"track {track} is monotonic")
        stack = []
        for begin, end, name in slices:
            while stack and stack[-1] <= begin:
                stack.pop()
            if stack and end > stack[-1] + 1:  # a nanosecond of rounding
                check(False, f"track {track}: {name} reaches out of what it begins in")
                break
            stack.append(end)
    return tracks


def pairs(events):
    """Each b has one e of its category, id and name, not before it."""
    begins = {(e["cat"], e["id"], e["name"], e["pid"]): e["ts"] for e in events if e["ph"] == "b"}
    ends = {(e["cat"], e["id"], e["name"], e["pid"]): e["ts"] for e in events if e["ph"] == "e"}
    check(set(begins) == set(ends), "begins and ends of waits are pairs")
    check(len(begins) == sum(e["ph"] == "b" for e in events), "each id is used once")
    check(all(ends[k] >= begins[k] for k in begins), "none ends before it begins")


def arrows(events, tracks):
    """A flow is s, t..., f in the order of time, and each point lies in a slice of its track."""
    flows = collections.defaultdict(list)
    for e in events:
        if e["ph"] in "stf":
            flows[e["id"]].append(e)
    starts = {(k, round(s[0])) for k, slices in tracks.items() for s in slices}
    for number, points in flows.items():
        phases = "".join(p["ph"] for p in points)
        check(re.fullmatch("st*f", phases), f"flow {number}: {phases}")
        check(all(a["ts"] <= b["ts"] for a, b in zip(points, points[1:])), f"flow {number} goes forward in time")
        check(all(((p["pid"], p["tid"]), round(p["ts"] * 1000)) in starts for p in points), f"flow {number} is tied to slices")
        check(len({p["pid"] for p in points}) >= 2, f"flow {number} goes from process to process")
    return flows


with Instance(config="[memory]\narena = 256M\n[gpud]\nbackend = cpu\nevaluate = synthd\n[synthd]\nper_node = 2\n") as m:
    m.up()
    job = m.ok("submit", wide, *[wide_w] * 30)
    m.ok("await", job, m.path("p.json"), m.path("u.json"))
    path = m.path("trace.json")
    m.ok("trace", path)
    trace = json.load(open(path))
    events = trace["traceEvents"]
    fits_schema(trace)
    tracks = slices_nest(events)
    pairs(events)
    flows = arrows(events, tracks)
    check(len(flows) == 30, f"an arrow for each partition: {len(flows)}")

    processes = {e["pid"]: e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "process_name"}
    threads = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
    check(sorted(n.split("#")[0] for n in processes.values()) == ["finalizd", "gpud.0", "synthd.0.0", "synthd.0.1"], f"a process each: {processes}")
    named = {f"{processes[pid].split('#')[0]} {name}" for (pid, _), name in threads.items()}
    for track in ("finalizd desk", "finalizd finish0", "synthd.0.0 fill", "synthd.0.1 fill", "gpud.0 take", "gpud.0 finish", "gpud.0 main", "gpud.0 copy engine", "gpud.0 stream"):
        check(track in named, f"a track {track}: {sorted(named)}")
    check(len(set(threads)) == len(threads) and set(tracks) <= set(threads), "every track has one name")
    gpu = {name for (pid, tid), name in threads.items() for s in tracks.get((pid, tid), []) if s[2] == "kernels"}
    check(all(n.startswith("stream") for n in gpu), f"kernels are on the stream: {gpu}")
    check(sum(e["ph"] == "X" and e["name"] == "kernels" for e in events) == 30, "thirty times kernels")

    # Every step of a pipeline on the CPU has left its span.
    steps = ("queue_wait synthd_wait attempt grant fill_wait key_load witness matrices publish ring ready_wait register copy_in prove_start "
             "kernels kernel_ntt kernel_msm_h kernel_msm_a kernel_msm_b1 kernel_msm_b2 kernel_msm_l prove_finish release gpu_total "
             "desk_wait result pairing commit settle fin_total wipe job").split()
    seen = {e["name"] for e in events if e["ph"] in "Xb"}
    check(set(steps) <= seen, f"steps without a span: {set(steps) - seen}")

    # The recorded run has the account of the rings, also when nothing runs any more.
    alive = m.json("gaps")["gpus"][0]
    m.down()
    recorded = m.json("gaps", "--from", path)["gpus"][0]
    check(recorded["busy_ns"] == alive["busy_ns"] and recorded["partitions"] == 30, f"gaps --from: {recorded['busy_ns']} {alive['busy_ns']}")
    check(recorded["busy_ns"] + sum(recorded["causes_ns"].values()) == recorded["wall_ns"], "it sums to the wall clock")
    code, out, err = m("gaps", "--from", wide_w)
    check(code == 4 and "wide_12.wtns" in err, f"what is no trace is refused: {code} {err.strip()}")
    code, out, err = m("gaps", "--from", path, "--last", "3")
    check(code == 2, f"a recorded run has no last seconds: {code}")
finish()
