#!/bin/bash
# Under rapidsnark's names: its arguments, exit codes and messages, for scripts that switch.
. "$(dirname "$0")/common.sh"
ln -s "$MILLRACE" "$dir/prover"
ln -s "$MILLRACE" "$dir/verifier"
for curve in bn128 bls12381; do
    f=$fixtures/$curve/edge_nopub # which rapidsnark cannot prove
    expect 0 "$curve: prover" "$dir/prover" "$f/edge_nopub.zkey" "$f/edge_nopub.wtns" "$dir/proof.json" "$dir/public.json"
    expect 0 "$curve: verifier" "$dir/verifier" "$f/vk.json" "$dir/public.json" "$dir/proof.json"
    says "$curve: verifier" "Result: Valid proof"
    says "$curve: public values" "[]" "$dir/public.json"
done
f=$fixtures/bn128/mul
expect 1 "another key" "$dir/verifier" "$fixtures/bn128/edge_linear/vk.json" "$f/public.json" "$f/proof.json"
says "another key" "Result: Invalid proof"
expect 1 "no file" "$dir/verifier" "$dir/none" "$f/public.json" "$f/proof.json"
says "no file" "Error: "
expect 1 "verifier: usage" "$dir/verifier" a b
says "verifier: usage" "Usage: verifier <verification_key.json> <inputs.json> <proof.json>"
expect 1 "prover: usage" "$dir/prover" a b
says "prover: usage" "Invalid number of parameters"
says "prover: usage" "Usage: prover <circuit.zkey> <witness.wtns> <proof.json> <public.json>"
expect 1 "prover: no file" "$dir/prover" "$dir/none" "$f/mul.wtns" "$dir/p" "$dir/q"
says "prover: no file" "Error: "
nothing_written "prover: no file" "$dir/p" "$dir/q"
finish
