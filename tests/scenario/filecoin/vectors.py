"""bellperson's vectors through the programs: the set-up writes their keys, every step and the proof
are theirs, alone and through an instance, and partitions are joined in their order."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "pipeline"))
from harness import *
from vector import Vector, same, sha256

STEPS = os.path.join(BUILD, "tests", "scenario", "filecoin", "filecoin_steps")
NAMES = ("tiny", "mix1k", "poseidon2", "poseidon8", "poseidon11", "post2k", "sha26k")
fixed = os.environ.get("TEST_RANDOMNESS", "true") == "true"  # a build in which r and s can be given


def set_up(m, v):
    """Our set-up with their secrets; their .params and .vk byte for byte, or by SHA-256."""
    key, vk = v.path(v.name + ".params"), v.path(v.name + ".vk")
    m.ok("testkit", "setup", v.path("r1cs.bin"), key, "--secrets", v.file("info.txt"), "--vk", vk)
    expected = v.sums().get(v.name + ".params")
    check(sha256(key) == expected if expected else same(key, v.own(".params")), f"{v.name}: .params")
    check(same(vk, v.own(".vk")), f"{v.name}: .vk")
    return key


def steps(m, v, prepared):
    """Every intermediate value."""
    made = v.path("made")
    os.makedirs(made)
    code, _, err = run(STEPS, prepared, v.path("w.wtns"), made)
    check(code == 0, f"{v.name}: filecoin_steps: {err}")
    for name in ("abc.bin", "density.bin", "h.bin", "msm.bin"):
        check(same(os.path.join(made, name), v.path(name)), f"{v.name}: {name}")


def local(m, v, key):
    prepared, proof, public = v.path("k.prepared"), v.path("p.proof"), v.path("p.json")
    m.ok("convert", v.path("r1cs.bin"), v.path("k.pce"))
    m.ok("prepare", "--params", key, "--pce", v.path("k.pce"), prepared)
    steps(m, v, prepared)
    for zero in (False, True):
        m.env["MILLRACE_TEST_RS"] = v.rs(zero)
        m.ok("prove", "--local", "--bytes", prepared, v.path("w.wtns"), proof, public)
        theirs = v.own(".proof_r0s0" if zero else ".proof")
        check(not fixed or same(proof, theirs), f"{v.name}: the proof, r = s = 0: {zero}")
    check(json.load(open(public)) == v.publics(), f"{v.name}: the public values")
    return prepared


def verify(m, v):
    """Their proof, in every form, with the key in every form."""
    with open(v.path("public.json"), "w") as f:
        json.dump(v.publics(), f)
    m.ok("convert", v.own(".proof"), v.path("theirs.json"))
    m.ok("convert", v.path("theirs.json"), v.path("back.proof"))
    check(same(v.path("back.proof"), v.own(".proof")), f"{v.name}: the proof as JSON and back")
    m.ok("convert", v.own(".vk"), v.path("vk.json"))
    m.ok("convert", v.path("vk.json"), v.path("back.vk"))
    check(same(v.path("back.vk"), v.own(".vk")), f"{v.name}: the key as JSON and back")
    m.ok("convert", v.path(v.name + ".params"), v.path("of-params.vk"))
    check(same(v.path("of-params.vk"), v.own(".vk")), f"{v.name}: the .vk of the .params")
    for key in (v.own(".vk"), v.path("vk.json"), v.path(v.name + ".params")):
        for proof in (v.own(".proof"), v.path("theirs.json"), v.own(".proof_r0s0")):
            m.ok("verify", key, v.path("public.json"), proof)
    with open(v.path("wrong.json"), "w") as f:
        json.dump([str(int(v.publics()[0]) + 1)] + v.publics()[1:], f)
    code, _, err = m("verify", v.own(".vk"), v.path("wrong.json"), v.own(".proof"))
    check(code == 1, f"{v.name}: another public value: {code} {err.strip()}")


def partitions(m, v, key):
    """Three partitions through the instance: proofs joined in partition order."""
    digest = m.ok("circuit", "add", "--params", key, "--r1cs", v.path("r1cs.bin"), "--alias", v.name)
    again = m.ok("circuit", "add", key, "--pce", v.path("k.pce"), "--alias", v.name)
    check(digest == again, f"{v.name}: a PCE file gives the same circuit")
    proof, public = v.path("joined.proof"), v.path("joined.json")
    m.ok("prove", "--bytes", v.name, v.path("w.wtns"), proof, public)
    check(not fixed or same(proof, v.own(".proof")), f"{v.name}: the proof through an instance")
    m.ok("verify", v.own(".vk"), public, proof)
    job = m.ok("submit", v.name, *[v.path("w.wtns")] * 3)
    m.ok("await", "--bytes", job, proof, public)
    data, one = open(proof, "rb").read(), open(v.own(".proof"), "rb").read()
    check(len(data) == 576 and (not fixed or data == 3 * one), f"{v.name}: three proofs in a row")
    m.ok("verify", v.own(".vk"), public, proof)


with Instance() as m:
    vectors = [Vector(os.path.join(FIXTURES, "filecoin", n), m.path(n)) for n in NAMES]
    for v in vectors:
        key = set_up(m, v)
        local(m, v, key)
        verify(m, v)
        facts = m.json("inspect", key)
        check(facts["kind"] == "params" and facts["publics"] == len(v.publics()), f"{v.name}: inspect")
    v = vectors[NAMES.index("post2k")]  # its rows repeat
    facts = m.json("inspect", v.path("k.prepared"))
    check(facts["folds"] == 1 and facts["terms_stored"] * 3 < facts["terms"], f"four challenges are one block: {facts['terms_stored']} of {facts['terms']} terms stored")
    check(facts["matrices_bytes"] * 2 < facts["matrices_bytes_unfolded"], "and the matrices less than half as large")
    m.env["MILLRACE_TEST_RS"] = v.rs()
    m.up()
    partitions(m, v, v.path(v.name + ".params"))
    m.down()
    check(m.pids() == [] and m.arenas() == [], "nothing is left")
finish()
