// snarkjs as the tests' second source.
//   node snarkjs.mjs verify VK PUBLIC PROOF [VK PUBLIC PROOF ...]   a line "valid" or "invalid" each
//   node snarkjs.mjs prove KEY WITNESS PROOF PUBLIC [KEY WITNESS PROOF PUBLIC ...]
//   node snarkjs.mjs check R1CS WITNESS KEY VK [R1CS WITNESS KEY VK ...]
//       reads each file and holds it against the others: the witness satisfies the constraints and
//       a changed one does not, the key has these constraints' coefficients and all of its points,
//       VK is what snarkjs exports from KEY. A line "R1CS: N constraints, ..." each.
// Exit code 0 when all are valid, 1 when one is not, 2 for anything else.
import assert from "assert";
import fs from "fs";
import * as snarkjs from "snarkjs";

const json = (path) => JSON.parse(fs.readFileSync(path, "utf8"));
// snarkjs exports numbers as decimal strings, or as numbers when they are small.
const number = (x) => BigInt(x).toString();

// "matrix row wire" -> value, as the constraints and the rows of the public values have it
function coefficients(system, publics) {
    const all = new Map();
    system.constraints.forEach((constraint, row) => {
        for (const matrix of [0, 1])
            for (const [wire, value] of Object.entries(constraint[matrix]))
                all.set(`${matrix} ${row} ${wire}`, number(value));
    });
    for (let i = 0; i <= publics; i++) all.set(`0 ${system.nConstraints + i} ${i}`, "1");
    return all;
}

// The witness with another value of the last wire that the last constraint's C holds.
function changed(path, system) {
    const bytes = fs.readFileSync(path);
    const last = system.constraints[system.nConstraints - 1];
    const wire = Math.max(...Object.keys(last[2]).map(Number));
    bytes[bytes.length - 32 * (system.nVars - wire)] ^= 2; // not 1: a bit stays a bit
    return { type: "mem", data: new Uint8Array(bytes) };
}

async function check(r1cs, witness, key, vk) {
    const quiet = { info() {}, warn() {}, debug() {}, error() {} };
    await snarkjs.r1cs.info(r1cs, quiet);
    const system = await snarkjs.r1cs.exportJson(r1cs, quiet);
    const publics = system.nOutputs + system.nPubInputs;
    assert.equal(system.constraints.length, system.nConstraints);
    assert.equal(await snarkjs.wtns.check(r1cs, witness, quiet), true, "the witness satisfies");
    assert.equal((await snarkjs.wtns.exportJson(witness)).length, system.nVars);
    if (system.nConstraints > 0)
        assert.equal(await snarkjs.wtns.check(r1cs, changed(witness, system), quiet), false, "a changed witness does not");

    const z = await snarkjs.zKey.exportJson(key, quiet);
    assert.equal(z.protocol, "groth16");
    assert.equal(z.nVars, system.nVars);
    assert.equal(z.nPublic, publics);
    assert.equal(z.domainSize, 2 ** (Math.floor(Math.log2(Math.max(system.nConstraints + publics, 1))) + 1));
    const expected = coefficients(system, publics);
    assert.equal(z.ccoefs.length, expected.size);
    for (const c of z.ccoefs)
        assert.equal(number(c.value), expected.get(`${c.matrix} ${c.constraint} ${c.signal}`), "a coefficient");
    for (const [section, count] of [["IC", publics + 1], ["A", z.nVars], ["B1", z.nVars], ["B2", z.nVars],
        ["C", z.nVars - publics - 1], ["hExps", z.domainSize]])
        assert.equal(z[section].filter((point) => point).length, count, section);

    const exported = await snarkjs.zKey.exportVerificationKey(key, quiet);
    assert.deepEqual(JSON.parse(JSON.stringify(exported)), json(vk), "the verification key");
    console.log(`${r1cs}: ${system.nConstraints} constraints, ${system.nVars} wires, ${publics} public`);
}

const [what, ...args] = process.argv.slice(2);
try {
    let good = true;
    if (what === "verify" && args.length > 0 && args.length % 3 === 0) {
        for (let i = 0; i < args.length; i += 3) {
            const valid = await snarkjs.groth16.verify(json(args[i]), json(args[i + 1]), json(args[i + 2]));
            console.log(valid ? "valid" : "invalid");
            good &&= valid;
        }
    } else if (what === "prove" && args.length > 0 && args.length % 4 === 0) {
        for (let i = 0; i < args.length; i += 4) {
            const { proof, publicSignals } = await snarkjs.groth16.prove(args[i], args[i + 1]);
            fs.writeFileSync(args[i + 2], JSON.stringify(proof, null, 1));
            fs.writeFileSync(args[i + 3], JSON.stringify(publicSignals, null, 1));
        }
    } else if (what === "check" && args.length > 0 && args.length % 4 === 0) {
        for (let i = 0; i < args.length; i += 4) await check(...args.slice(i, i + 4));
    } else {
        throw new Error("usage: see the first lines of this file");
    }
    process.exit(good ? 0 : 1); // its worker threads do not end by themselves
} catch (e) {
    console.error(e.message);
    process.exit(2);
}
