"""Job shapes: circuits generated with a shape's statistics go through the pipeline as jobs of that shape;
what is not of the shape is refused; an instance has shapes of its own."""
from harness import *

with Instance() as m:
    m.up()

    def make(shape, scale):
        out = m.path(f"{shape}-{scale}")
        m.ok("testkit", "generate", "--shape", shape, "--scale", f"2^{scale}", "--out", out, "--no-r1cs")
        return os.path.join(out, "circuit.zkey"), os.path.join(out, "circuit.wtns"), os.path.join(out, "vk.json")

    listed = m.json("circuit", "shapes")
    check(listed["porep"]["partitions"] == 10 and listed["snap"]["partitions"] == 16, f"the shapes are listed: {sorted(listed)}")

    for shape, scale, partitions, publics in (("porep", 11, 10, 327), ("snap", 10, 16, 4), ("window-post", 10, 1, None), ("winning-post", 10, 1, 67)):
        key, witness, vk = make(shape, scale)
        m.ok("circuit", "add", key, "--alias", shape, "--shape", shape)
        circuit = next(c for c in m.json("circuit", "list")["circuits"] if c["alias"] == shape)
        check(circuit["urgent"] == (shape == "winning-post"), f"{shape}: urgent as the shape says")
        job = m.ok("submit", "--shape", shape, shape, *[witness] * partitions)
        m.ok("await", job, m.path("p.json"), m.path("u.json"))
        proofs, values = json.load(open(m.path("p.json"))), json.load(open(m.path("u.json")))
        if partitions == 1:
            proofs, values = [proofs], [values]
        check(len(proofs) == partitions and all(publics in (None, len(v)) for v in values), f"{shape}: {partitions} proofs of {publics} publics")
        json.dump(proofs[-1], open(m.path("one.json"), "w"))
        json.dump(values[-1], open(m.path("one-public.json"), "w"))
        verified(m.path("one.json"), m.path("one-public.json"), vk)
        shown = m.json("show", job)
        check(shown["urgent"] == (shape == "winning-post"), f"{shape}: an urgent job or not: {shown}")
        check(("deadline_ns" in shown) == (shape.endswith("post")), f"{shape}: a deadline or not")
        code, _, err = m("submit", "--shape", shape, shape, *[witness] * (partitions + 1))
        check(code == 2 and f"a job has {partitions} partition" in err, f"{shape}: one partition too many: {code} {err.strip()}")

    porep_key, porep_w, _ = make("porep", 11)
    snap_key, snap_w, _ = make("snap", 10)
    code, _, err = m("submit", "--shape", "porep", "snap", *[snap_w] * 10)
    check(code == 2 and "327 publics" in err, f"another circuit's publics: {code} {err.strip()}")
    code, _, err = m("circuit", "add", snap_key, "--alias", "wrong", "--shape", "porep")
    check(code == 6 and "4 public values, expected 327" in err, f"a key of another shape: {code} {err.strip()}")
    code, _, err = m("submit", "--shape", "no-such", "snap", snap_w)
    check(code == 2 and "no-such" in err, f"an unknown shape: {code} {err.strip()}")

    os.makedirs(os.path.join(m.dir, "shapes"))
    with open(os.path.join(m.dir, "shapes", "pair.ini"), "w") as f:
        f.write("[job]\ntitle = two at once\npartitions = 2\npublics = 4\nlimit = 10min\n")
    check(m.json("circuit", "shapes", "--dir", m.dir)["pair"]["title"] == "two at once", "a shape of the instance's own is listed")
    job = m.ok("submit", "--shape", "pair", "snap", snap_w, snap_w)
    m.ok("await", job, m.path("p.json"), m.path("u.json"))
    check("deadline_ns" in m.json("show", job), "with its deadline")
    m.down()
finish()
