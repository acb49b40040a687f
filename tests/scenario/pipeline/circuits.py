"""A circuit that is removed takes its files along, unless an open job uses it; it can be added again."""
from harness import *

with Instance(config="[gpud]\nthreads = 1\n") as m:
    def stored():
        folder = os.path.join(m.dir, "store")
        return sorted(os.path.relpath(os.path.join(at, name), folder) for at, _, names in os.walk(folder) for name in names)

    def add(curve, circuit):
        return m.ok("circuit", "add", fixture(curve, circuit, ".zkey"), "--alias", circuit).strip()

    m.up()
    wide_w = fixture("bls12381", "wide_12", ".wtns")
    kept, gone = add("bn128", "mul"), add("bls12381", "wide_12")
    job = m.ok("submit", "wide_12", *[wide_w] * 3).strip()
    before = stored()
    code, out, err = m("circuit", "remove", "wide_12")
    check(code != 0 and "open jobs" in err, f"removed while in use: exit code {code}: {err.strip()}")
    check(stored() == before and any(gone in name for name in before), "what is in use keeps its files")
    m.ok("await", job, m.path("p.json"), m.path("u.json"))
    m.ok("circuit", "remove", "wide_12")
    check(not any(gone in name for name in stored()), f"its files are gone: {stored()}")
    left = [name for name in stored() if name.startswith("sources")]
    check(len(left) == 1 and any(kept in name for name in stored()), f"the other circuit's files stay: {stored()}")
    check(m("circuit", "remove", "wide_12")[0] != 0, "what is gone cannot be removed again")
    check(add("bls12381", "wide_12") == gone, "added again, it has the same name")
    m.ok("await", m.ok("submit", "wide_12", wide_w).strip(), m.path("p.json"), m.path("u.json"))
    m.ok("circuit", "remove", gone)
    check(not any(gone in name for name in stored()), "removed by its digest too")

finish()
