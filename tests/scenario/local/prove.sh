#!/bin/bash
# Every fixture of both curves, from .zkey and prepared, is proved and its proof verifies; what
# snarkjs proved verifies too.
. "$(dirname "$0")/common.sh"

while read -r curve circuit; do
    f=$fixtures/$curve/$circuit name=$curve/$circuit
    expect 0 "$name: prove" "$MILLRACE" prove --local "$f/$circuit.zkey" "$f/$circuit.wtns" \
        "$dir/proof.json" "$dir/public.json"
    expect 0 "$name: verify" "$MILLRACE" verify "$f/vk.json" "$dir/public.json" "$dir/proof.json"
    says "$name" valid "$dir/out"
    if cmp -s <(tr -d ' \n' <"$f/public.json") <(tr -d ' \n' <"$dir/public.json"); then ok; else
        fail "$name: public values differ from snarkjs's"
    fi
    expect 0 "$name: snarkjs's proof" "$MILLRACE" verify "$f/vk.json" "$f/public.json" "$f/proof.json"
done < <(all_fixtures)

# From a prepared circuit, with and without the constraints, on any number of threads.
for curve in bn128 bls12381; do
    for circuit in mul edge_linear edge_full edge_nopub edge_manypub; do
        f=$fixtures/$curve/$circuit name=$curve/$circuit
        expect 0 "$name: prepare" "$MILLRACE" prepare "$f/$circuit.zkey" "$dir/prepared"
        expect 0 "$name: prove prepared" "$MILLRACE" prove --local "$dir/prepared" \
            "$f/$circuit.wtns" "$dir/proof.json" "$dir/public.json" --threads 3
        expect 0 "$name: verify" "$MILLRACE" verify "$f/vk.json" "$dir/public.json" "$dir/proof.json"
        rm -f "$dir/prepared"
        expect 0 "$name: prepare with constraints" "$MILLRACE" prepare "$f/$circuit.zkey" \
            "$dir/prepared" --r1cs "$f/$circuit.r1cs"
        expect 0 "$name: prove prepared" "$MILLRACE" prove --local "$dir/prepared" \
            "$f/$circuit.wtns" "$dir/proof.json" "$dir/public.json" -t1
        expect 0 "$name: verify" "$MILLRACE" verify "$f/vk.json" "$dir/public.json" "$dir/proof.json"
        rm -f "$dir/prepared"
        expect 0 "$name: prove with --r1cs" "$MILLRACE" prove --local "$f/$circuit.zkey" \
            "$f/$circuit.wtns" "$dir/proof.json" "$dir/public.json" --r1cs "$f/$circuit.r1cs"
    done
done

# A proof goes to a pipe as to a file.
f=$fixtures/bn128/mul
expect 0 "to standard output" "$MILLRACE" prove --local "$f/mul.zkey" "$f/mul.wtns" /dev/stdout \
    "$dir/public.json" --one-line
says "to standard output" '"protocol":"groth16"' "$dir/out"
finish
