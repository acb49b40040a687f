#!/bin/bash
# snarkjs as second source: it accepts our proofs of every fixture, and proves with our keys.
. "$(dirname "$0")/common.sh"
tools=$SOURCE/tests/tools
if ! command -v node >/dev/null || [ ! -d "$tools/node_modules/snarkjs" ]; then
    echo "skipped: no node, or no snarkjs (npm --prefix tests/tools ci)"
    exit 77
fi

ours=()
while read -r curve circuit; do
    f=$fixtures/$curve/$circuit out=$dir/$curve-$circuit
    mkdir "$out"
    expect 0 "$curve/$circuit: prove" "$MILLRACE" prove --local "$f/$circuit.zkey" \
        "$f/$circuit.wtns" "$out/proof.json" "$out/public.json"
    ours+=("$f/vk.json" "$out/public.json" "$out/proof.json")
done < <(all_fixtures)

# Keys of our own, of a generated circuit and of a real one.
for curve in bn254 bls12-381; do
    out=$dir/generated-$curve
    expect 0 "$curve: generate" "$MILLRACE" testkit generate --curve $curve --log2 7 --publics 3 \
        --ones 40% --density 2.5 --out "$out"
    expect 0 "$curve: snarkjs proves" node "$tools/snarkjs.mjs" prove "$out/circuit.zkey" \
        "$out/circuit.wtns" "$out/their-proof.json" "$out/their-public.json"
    expect 0 "$curve: their proof" "$MILLRACE" verify "$out/vk.json" "$out/their-public.json" "$out/their-proof.json"
    expect 0 "$curve: prove" "$MILLRACE" prove --local "$out/circuit.zkey" "$out/circuit.wtns" \
        "$out/proof.json" "$out/public.json" --r1cs "$out/circuit.r1cs"
    ours+=("$out/vk.json" "$out/public.json" "$out/proof.json")
done
for curve in bn128 bls12381; do
    f=$fixtures/$curve/edge_manypub out=$dir/setup-$curve
    mkdir "$out"
    expect 0 "$curve: set-up" "$MILLRACE" testkit setup "$f/edge_manypub.r1cs" "$out/k.zkey"
    expect 0 "$curve: snarkjs proves" node "$tools/snarkjs.mjs" prove "$out/k.zkey" \
        "$f/edge_manypub.wtns" "$out/proof.json" "$out/public.json"
    expect 0 "$curve: export" "$tools/node_modules/.bin/snarkjs" zkey export verificationkey \
        "$out/k.zkey" "$out/vk.json"
    expect 0 "$curve: their proof" "$MILLRACE" verify "$out/vk.json" "$out/public.json" "$out/proof.json"
done
expect 0 "snarkjs verifies all of ours" node "$tools/snarkjs.mjs" verify "${ours[@]}"
if [ "$(grep -cx valid "$dir/out")" = $((${#ours[@]} / 3)) ]; then ok; else fail "snarkjs verified $(grep -cx valid "$dir/out") of $((${#ours[@]} / 3))"; fi
finish
