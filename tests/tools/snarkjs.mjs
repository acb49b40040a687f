// snarkjs as the tests' second source.
//   node snarkjs.mjs verify VK PUBLIC PROOF [VK PUBLIC PROOF ...]   a line "valid" or "invalid" each
//   node snarkjs.mjs prove KEY WITNESS PROOF PUBLIC
// Exit code 0 when all are valid, 1 when one is not, 2 for anything else.
import fs from "fs";
import * as snarkjs from "snarkjs";

const json = (path) => JSON.parse(fs.readFileSync(path, "utf8"));
const [what, ...args] = process.argv.slice(2);
try {
    let good = true;
    if (what === "verify" && args.length > 0 && args.length % 3 === 0) {
        for (let i = 0; i < args.length; i += 3) {
            const valid = await snarkjs.groth16.verify(json(args[i]), json(args[i + 1]), json(args[i + 2]));
            console.log(valid ? "valid" : "invalid");
            good &&= valid;
        }
    } else if (what === "prove" && args.length === 4) {
        const { proof, publicSignals } = await snarkjs.groth16.prove(args[0], args[1]);
        fs.writeFileSync(args[2], JSON.stringify(proof, null, 1));
        fs.writeFileSync(args[3], JSON.stringify(publicSignals, null, 1));
    } else {
        throw new Error("usage: see the first lines of this file");
    }
    process.exit(good ? 0 : 1); // its worker threads do not end by themselves
} catch (e) {
    console.error(e.message);
    process.exit(2);
}
