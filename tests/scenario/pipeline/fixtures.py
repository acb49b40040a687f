"""Every fixture of both curves goes through the three processes; with r and s fixed by the test
build the proof equals the one that --local makes; input.json with the circuit's program too."""
from harness import *

with Instance(env={"MILLRACE_TEST_RS": "3,5"}) as m:
    m.up()
    for curve, circuit, folder in circuits():
        key, witness = fixture(curve, circuit, ".zkey"), fixture(curve, circuit, ".wtns")
        vk = fixture(curve, circuit, "vk.json")
        proof, public = m.path("proof.json"), m.path("public.json")
        local, local_public = m.path("local.json"), m.path("local-public.json")
        m.ok("prove", key, witness, proof, public)
        m.ok("prove", "--local", key, witness, local, local_public)
        verified(proof, public, vk)
        check(json.load(open(public)) == json.load(open(local_public)), f"{curve}/{circuit}: the same publics as --local")
        check(json.load(open(public)) == json.load(open(fixture(curve, circuit, "public.json"))), f"{curve}/{circuit}: the same publics as snarkjs")
        check(json.load(open(proof)) == json.load(open(local)), f"{curve}/{circuit}: the same proof as --local")
        program = fixture(curve, circuit, ".wasm")
        if circuit in ("mul", "edge_manypub", "wide_12") and os.path.exists(program) and shutil.which("wasm2c"):
            m.ok("prove", key, "--input", fixture(curve, circuit, "input.json"), "--program", program, m.path("p2.json"), m.path("u2.json"))
            check(json.load(open(m.path("p2.json"))) == json.load(open(proof)), f"{curve}/{circuit}: the same proof from input.json")
    listed = m.json("circuit", "list")["circuits"]
    check(len(listed) == len(list(circuits())), f"{len(listed)} circuits are listed")
    check(m.spooled() == [], f"the spool is empty: {m.spooled()}")
    m.down()
    check(m.pids() == [], "no process is left")
    check(m.arenas() == [], "no arena is left")
finish()
