"""The real 2 KiB PoRep partition (2,687,961 rows), from matrices and secrets to bellperson's proof.

    tests/scenario/filecoin/porep2k.py BUILD --vectors DIR

DIR holds info.txt, r1cs.bin, witness.bin, public.bin (each may be .xz), porep2k.vk, .proof,
.proof_r0s0, msm.bin and SHA256SUMS. Our set-up writes the .params (1.1 GB, compared by SHA-256), an
instance adds it with every check and proves the real witness; every intermediate value and the 192
bytes must be bellperson's. Needs 4 GB of disk below TMPDIR, a build with -Dtest_randomness=true, and
some minutes; all of it is deleted afterwards. Prints what each step took.
"""
import argparse
import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "pipeline"))
from harness import *
from vector import Vector, same, sha256

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("build")
parser.add_argument("--vectors", metavar="DIR", default=os.environ.get("MILLRACE_POREP2K"))
arguments = parser.parse_args()
if not arguments.vectors or not os.path.exists(os.path.join(arguments.vectors, "info.txt")):
    skip("no vectors: --vectors DIR, or MILLRACE_POREP2K")

STEPS = os.path.join(BUILD, "tests", "scenario", "filecoin", "filecoin_steps")
CONFIG = "[memory]\narena = 1G\n[gpud]\nbackend = cpu\n"


def timed(m, what, *words):
    """Runs a program; prints its time and its largest resident size."""
    begun = time.monotonic()
    child = subprocess.Popen([str(w) for w in words], env=m.env, stdout=subprocess.PIPE, text=True)
    out = child.stdout.read()
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    check(child.returncode == 0, f"{what}: exit code {child.returncode}")
    print(f"{what:34} {time.monotonic() - begun:7.1f} s  {used.ru_utime + used.ru_stime:7.1f} s of a"
          f" processor  {used.ru_maxrss / 1024:7.0f} MiB", flush=True)
    return out.strip()


def largest(pid):
    with open(f"/proc/{pid}/status") as f:
        return next(int(line.split()[1]) // 1024 for line in f if line.startswith("VmHWM"))


with Instance(CONFIG) as m:
    v = Vector(arguments.vectors, m.path("vector"))
    sums = v.sums()
    key, vk = m.path("porep2k.params"), m.path("porep2k.vk")
    timed(m, "set-up, .params and .vk", MILLRACE, "testkit", "setup", v.path("r1cs.bin"), key,
          "--secrets", v.file("info.txt"), "--vk", vk)
    check(sha256(key) == sums["porep2k.params"], "the .params has the SHA-256 of bellperson's")
    check(same(vk, v.own(".vk")), "the .vk is bellperson's")

    m.env["MILLRACE_TEST_RS"] = v.rs()
    m.up()
    digest = timed(m, "circuit add: every point checked", MILLRACE, "circuit", "add", "--params", key,
                   "--r1cs", v.path("r1cs.bin"), "--alias", "porep2k")
    os.unlink(key)
    prepared = os.path.join(m.dir, "store", digest + ".circuit")
    print(m.ok("inspect", prepared), flush=True)
    proof, public = m.path("p.proof"), m.path("p.json")
    for run_number in ("first", "second"):
        timed(m, f"prove through the instance, {run_number}", MILLRACE, "prove", "--bytes", "porep2k",
              v.path("w.wtns"), proof, public)
        check(same(proof, v.own(".proof")), "the proof is bellperson's, byte for byte")
        check(json.load(open(public)) == v.publics(), "the public values are")
    timed(m, "verify with the .vk", MILLRACE, "verify", v.own(".vk"), public, proof)
    for name, pid in sorted(m.daemons().items()):
        print(f"{name:34} at most {largest(pid)} MiB resident, mapped files and arenas included")
    m.down()

    m.env["MILLRACE_TEST_RS"] = v.rs(zero=True)
    timed(m, "prove --local, r = s = 0", MILLRACE, "prove", "--local", "--bytes", prepared,
          v.path("w.wtns"), proof, public)
    check(same(proof, v.own(".proof_r0s0")), "with r = s = 0 too")
    made = m.path("made")
    os.makedirs(made)
    timed(m, "every intermediate value", STEPS, prepared, v.path("w.wtns"), made)
    for name in ("abc.bin", "density.bin", "h.bin", "msm.bin"):
        check(sha256(os.path.join(made, name)) == sums[name], f"{name} has the SHA-256 of bellperson's")
finish()
