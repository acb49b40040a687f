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

# Keys of our own: of generated circuits, from a domain of 2 up, and of every fixture's constraints.
# snarkjs reads each file that we write, proves with our key, and accepts our proofs of it.
written=() theirs=()
while read -r curve options; do
    out=$dir/generated-${#written[@]}
    expect 0 "$curve $options: generate" "$MILLRACE" testkit generate --curve $curve $options --out "$out"
    written+=("$out/circuit.r1cs" "$out/circuit.wtns" "$out/circuit.zkey" "$out/vk.json")
done <<EOF
bn254 --log2 7 --publics 3 --ones 40% --density 2.5
bn254 --log2 1 --publics 0
bn254 --constraints 9 --publics 9 --density 1 --ones 0
bn254 --constraints 700 --publics 0 --density 6 --ones 95%
bls12-381 --log2 7 --publics 3 --ones 40% --density 2.5
bls12-381 --log2 1 --publics 0
bls12-381 --constraints 9 --publics 9 --density 1 --ones 0
EOF
while read -r curve circuit; do
    f=$fixtures/$curve/$circuit out=$dir/setup-$curve-$circuit
    [ -f "$f/$circuit.r1cs" ] && [ $circuit != wide_12 ] || continue
    mkdir "$out"
    expect 0 "$curve/$circuit: set-up" "$MILLRACE" testkit setup "$f/$circuit.r1cs" "$out/circuit.zkey"
    expect 0 "$curve/$circuit: export" "$tools/node_modules/.bin/snarkjs" zkey export verificationkey \
        "$out/circuit.zkey" "$out/vk.json"
    written+=("$f/$circuit.r1cs" "$f/$circuit.wtns" "$out/circuit.zkey" "$out/vk.json")
done < <(all_fixtures)
n_written=$((${#written[@]} / 4))
expect 0 "snarkjs reads what we write" node "$tools/snarkjs.mjs" check "${written[@]}"
if [ "$(grep -c constraints "$dir/out")" = $n_written ]; then ok; else fail "snarkjs read $(wc -l <"$dir/out") of $n_written"; fi

for ((i = 0; i < ${#written[@]}; i += 4)); do
    r1cs=${written[i]} witness=${written[i + 1]} key=${written[i + 2]} vk=${written[i + 3]} out=${written[i + 2]%/*}
    theirs+=("$key" "$witness" "$out/their-proof.json" "$out/their-public.json")
    expect 0 "$out: prove" "$MILLRACE" prove --local "$key" "$witness" "$out/proof.json" \
        "$out/public.json" --r1cs "$r1cs"
    ours+=("$vk" "$out/public.json" "$out/proof.json")
done
expect 0 "snarkjs proves with our keys" node "$tools/snarkjs.mjs" prove "${theirs[@]}"
for ((i = 0; i < ${#written[@]}; i += 4)); do
    out=${written[i + 2]%/*}
    expect 0 "$out: their proof" "$MILLRACE" verify "${written[i + 3]}" "$out/their-public.json" "$out/their-proof.json"
done
# Call data for a contract on the EVM: the same text as snarkjs's.
for f in "$fixtures"/bn128/{mul,edge_manypub,edge_nopub}; do
    name=bn128/${f##*/}
    expect 0 "$name: call data" "$MILLRACE" convert "$f/proof.json" "$dir/ours.txt" --to solidity \
        --public "$f/public.json"
    expect 0 "$name: snarkjs's call data" "$tools/node_modules/.bin/snarkjs" zkey export \
        soliditycalldata "$f/public.json" "$f/proof.json"
    if cmp -s "$dir/ours.txt" "$dir/out"; then ok; else fail "$name: call data differ from snarkjs's"; fi
done
expect 9 "call data on bls12-381" "$MILLRACE" convert "$fixtures/bls12381/mul/proof.json" \
    "$dir/ours2.txt" --to solidity --public "$fixtures/bls12381/mul/public.json"
# A BLS12-381 proof of snarkjs's in 192 bytes and back, and its key refused without two points.
f=$fixtures/bls12381/mul
expect 0 "192 bytes" "$MILLRACE" convert "$f/proof.json" "$dir/p.proof"
expect 0 "and back" "$MILLRACE" convert "$dir/p.proof" "$dir/p.json"
if cmp -s <(tr -d ' \n' <"$dir/p.json") <(tr -d ' \n' <"$f/proof.json"); then ok; else fail "the proof changed on its way"; fi
expect 0 "verify 192 bytes" "$MILLRACE" verify "$f/vk.json" "$f/public.json" "$dir/p.proof"
expect 4 "no .vk of it" "$MILLRACE" convert "$f/vk.json" "$dir/k.vk"
says "no .vk of it" "vk_beta_1"
expect 9 "192 bytes on bn254" "$MILLRACE" convert "$fixtures/bn128/mul/proof.json" "$dir/q.proof"

expect 0 "snarkjs verifies all of ours" node "$tools/snarkjs.mjs" verify "${ours[@]}"
if [ "$(grep -cx valid "$dir/out")" = $((${#ours[@]} / 3)) ]; then ok; else fail "snarkjs verified $(grep -cx valid "$dir/out") of $((${#ours[@]} / 3))"; fi
finish
