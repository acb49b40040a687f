"""Jobs of many partitions, request ids, priorities, cancel, limits, refusals and bad witnesses."""
import concurrent.futures
from harness import *

mul, mul_w = fixture("bn128", "mul", ".zkey"), fixture("bn128", "mul", ".wtns")
wide, wide_w = fixture("bn128", "wide_12", ".zkey"), fixture("bn128", "wide_12", ".wtns")
bls, bls_w = fixture("bls12381", "mul", ".zkey"), fixture("bls12381", "mul", ".wtns")

with Instance() as m:
    m.up()
    # A job of 16 partitions: one array of proofs, in order, each of which verifies.
    job = m.ok("submit", wide, *[wide_w] * 16)
    m.ok("await", job, m.path("p16.json"), m.path("u16.json"))
    proofs, publics = json.load(open(m.path("p16.json"))), json.load(open(m.path("u16.json")))
    check(len(proofs) == 16 and len(publics) == 16, "sixteen proofs and sixteen lists of publics")
    for i in (0, 15):
        json.dump(proofs[i], open(m.path("one.json"), "w"))
        json.dump(publics[i], open(m.path("one-public.json"), "w"))
        verified(m.path("one.json"), m.path("one-public.json"), fixture("bn128", "wide_12", "vk.json"))
    shown = m.json("show", job)
    check(shown["state"] == "done" and shown["partitions"] == 16, f"show says so: {shown.get('state')}")

    # The same request id is the same job; with other content it is refused.
    first = m.ok("submit", "--id", "order-7", mul, mul_w)
    again = m.ok("submit", "--id", "order-7", mul, mul_w)
    check(first == again, "the same request id gives the same job")
    code, out, err = m("submit", "--id", "order-7", mul, mul_w, mul_w)
    check(code == 11 and "order-7" in err, f"the same id with other content is refused: {code} {err.strip()}")
    m.ok("await", first, m.path("p.json"), m.path("u.json"))

    # A witness that does not satisfy the circuit: the reason, exit code 7, nothing written.
    bad = m.path("bad.wtns")
    data = bytearray(open(mul_w, "rb").read())
    data[-32] ^= 1
    open(bad, "wb").write(data)
    code, out, err = m("prove", mul, bad, m.path("never.json"), m.path("never-public.json"))
    check(code == 7 and "does not satisfy" in err, f"a bad witness is said to be one: {code} {err.strip()}")
    check(not os.path.exists(m.path("never.json")), "nothing is written for it")
    # A witness of another circuit is told by its count.
    code, out, err = m("prove", mul, wide_w, m.path("never.json"), m.path("never-public.json"))
    check(code == 6, f"a witness of another circuit: {code} {err.strip()}")
    code, out, err = m("prove", mul, bls_w, m.path("never.json"), m.path("never-public.json"))
    check(code == 6, f"a witness of another curve: {code} {err.strip()}")
    code, out, err = m("prove", mul, m.path("none.wtns"), m.path("never.json"), m.path("never-public.json"))
    check(code == 3 and "none.wtns" in err, f"a missing witness is named: {code} {err.strip()}")
    code, out, err = m("submit", "no-such-circuit", mul_w)
    check(code != 0 and "no-such-circuit" in err, f"an unknown circuit is named: {code} {err.strip()}")
    code, out, err = m("await", "999999", m.path("never.json"), m.path("never-public.json"))
    check(code != 0 and "999999" in err, f"an unknown job is named: {code} {err.strip()}")

    # A time limit that cannot be kept.
    job = m.ok("submit", "--limit", "0.001", wide, *[wide_w] * 64)
    code, out, err = m("await", job, m.path("never.json"), m.path("never-public.json"))
    check(code == 13 and "deadline" in err, f"past its limit: {code} {err.strip()}")

    # Cancel: the job ends so, and its room comes back.
    job = m.ok("submit", wide, *[wide_w] * 200)
    m.ok("cancel", job)
    code, out, err = m("await", job, m.path("never.json"), m.path("never-public.json"))
    check(code == 12, f"a cancelled job: {code} {err.strip()}")

    # Many clients at once, mixed circuits: everyone gets a proof that verifies.
    def one(i):
        key, wit, vk = [(mul, mul_w, fixture("bn128", "mul", "vk.json")), (bls, bls_w, fixture("bls12381", "mul", "vk.json")), (wide, wide_w, fixture("bn128", "wide_12", "vk.json"))][i % 3]
        code, out, err = m("prove", key, wit, m.path(f"c{i}.json"), m.path(f"d{i}.json"))
        return code == 0 and run(MILLRACE, "verify", vk, m.path(f"d{i}.json"), m.path(f"c{i}.json"))[0] == 0, err

    with concurrent.futures.ThreadPoolExecutor(8) as clients:
        for i, (fine, err) in enumerate(clients.map(one, range(24))):
            check(fine, f"client {i}: {err}")
    m.wait_for("an empty spool", lambda: m.spooled() == [], 10)
    m.down()
    check(m.pids() == [], "no process is left")
finish()
