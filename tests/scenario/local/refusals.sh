#!/bin/bash
# What is refused, with which exit code and words, and that nothing is then written.
. "$(dirname "$0")/common.sh"
f=$fixtures/bn128/mul g=$fixtures/bls12381/mul
prove() { "$MILLRACE" prove --local "$@"; }

# patch FILE OFFSET HEX: overwrites bytes.
patch() { printf "$(sed 's/../\\x&/g' <<<"$3")" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none; }

# --- witnesses that do not satisfy; wire 3 of mul is the last 32 bytes of its .wtns
cp "$f/mul.wtns" "$dir/bad.wtns"
patch "$dir/bad.wtns" $(($(stat -c %s "$dir/bad.wtns") - 32)) 0c
expect 7 "bad witness" prove "$f/mul.zkey" "$dir/bad.wtns" "$dir/p" "$dir/q"
says "bad witness" "bad.wtns: the witness does not satisfy the circuit"
one_line "bad witness"
nothing_written "bad witness" "$dir/p" "$dir/q"
expect 7 "bad witness, r1cs" prove "$f/mul.zkey" "$dir/bad.wtns" "$dir/p" "$dir/q" --r1cs "$f/mul.r1cs"
says "bad witness, r1cs" "constraint 0 fails (wires of A: 2; B: 3; C: 1)"
one_line "bad witness, r1cs"
expect 0 "prepare with constraints" "$MILLRACE" prepare "$f/mul.zkey" "$dir/prepared" --r1cs "$f/mul.r1cs"
expect 7 "bad witness, prepared" prove "$dir/prepared" "$dir/bad.wtns" "$dir/p" "$dir/q"
says "bad witness, prepared" "constraint 0 fails"
nothing_written "bad witness, prepared" "$dir/p" "$dir/q"

# --- files that do not belong together
expect 6 "witness of another circuit" prove "$f/mul.zkey" "$fixtures/bn128/edge_full/edge_full.wtns" "$dir/p" "$dir/q"
one_line "witness of another circuit"
expect 6 "witness of another curve" prove "$f/mul.zkey" "$g/mul.wtns" "$dir/p" "$dir/q"
expect 6 "constraints of another circuit" prove "$f/mul.zkey" "$f/mul.wtns" "$dir/p" "$dir/q" \
    --r1cs "$fixtures/bn128/edge_full/edge_full.r1cs"
one_line "constraints of another circuit"
expect 6 "verify with a key of another curve" "$MILLRACE" verify "$g/vk.json" "$f/public.json" "$f/proof.json"
expect 6 "verify with too few public values" "$MILLRACE" verify "$f/vk.json" \
    "$fixtures/bn128/edge_nopub/public.json" "$f/proof.json"
nothing_written "files that do not belong together" "$dir/p" "$dir/q"

# --- proofs that are not
expect 1 "another key" "$MILLRACE" verify "$fixtures/bn128/edge_linear/vk.json" "$f/public.json" "$f/proof.json"
says "another key" "pairing equation"
one_line "another key"
echo '["34"]' >"$dir/public.json"
expect 1 "another public value" "$MILLRACE" verify "$f/vk.json" "$dir/public.json" "$f/proof.json"
# 33 + r
echo '["21888242871839275222246405745257275088548364400416034343698204186575808495650"]' >"$dir/public.json"
expect 5 "a public value plus r" "$MILLRACE" verify "$f/vk.json" "$dir/public.json" "$f/proof.json"
says "a public value plus r" "below the modulus"
sed '0,/"[0-9]\{5,\}"/s//"1"/' "$f/proof.json" >"$dir/proof.json"
expect 1 "a changed coordinate" "$MILLRACE" verify "$f/vk.json" "$f/public.json" "$dir/proof.json"
says "a changed coordinate" "not on the curve"
sed 's/"pi_a"/"pi_x"/; s/"pi_c"/"pi_a"/; s/"pi_x"/"pi_c"/' "$f/proof.json" >"$dir/proof.json"
expect 1 "A and C exchanged" "$MILLRACE" verify "$f/vk.json" "$f/public.json" "$dir/proof.json"
expect 1 "as JSON" "$MILLRACE" verify --json "$f/vk.json" "$f/public.json" "$dir/proof.json"
says "as JSON" '"kind":"rejected"' "$dir/out"

# --- malformed and missing
expect 3 "no such key" prove "$dir/none.zkey" "$f/mul.wtns" "$dir/p" "$dir/q"
says "no such key" "none.zkey"
one_line "no such key"
head -c 1000 "$f/mul.zkey" >"$dir/cut.zkey"
expect 4 "half a key" prove "$dir/cut.zkey" "$f/mul.wtns" "$dir/p" "$dir/q"
one_line "half a key"
expect 4 "a witness for a key" prove "$f/mul.wtns" "$f/mul.wtns" "$dir/p" "$dir/q"
one_line "a witness for a key"
expect 3 "no room for the proof" prove "$f/mul.zkey" "$f/mul.wtns" "$dir/no/p" "$dir/q"
expect 3 "no room for the public values" prove "$f/mul.zkey" "$f/mul.wtns" "$dir/p" "$dir/no/q"
nothing_written "malformed and missing" "$dir/p" "$dir/q"

# --- wrong usage
expect 2 "no operands" prove
expect 2 "unknown option" prove --nope
one_line "unknown option"
expect 2 "unknown command" "$MILLRACE" frobnicate
one_line "unknown command"
expect 2 "no command" "$MILLRACE"
expect 2 "a group alone" "$MILLRACE" testkit
expect 2 "unknown subcommand" "$MILLRACE" testkit frobnicate
expect 2 "generate without a size" "$MILLRACE" testkit generate --out "$dir/g"
expect 2 "generate without a place" "$MILLRACE" testkit generate --log2 4
expect 2 "generate an unknown curve" "$MILLRACE" testkit generate --log2 4 --out "$dir/g" --curve x
expect 2 "generate too many publics" "$MILLRACE" testkit generate --log2 2 --publics 3 --out "$dir/g"
nothing_written "generate" "$dir/g"
expect 0 "help" "$MILLRACE" --help
says "help" "prove" "$dir/out"
expect 0 "help of a command" "$MILLRACE" help testkit generate
says "help of a command" UNSAFE "$dir/out"
expect 0 "help of a command" "$MILLRACE" prove --help
says "help of a command" "--r1cs" "$dir/out"
expect 0 "version" "$MILLRACE" --version
says "version" "millrace " "$dir/out"
expect 3 "a full standard output" bash -c '"$0" --version >/dev/full' "$MILLRACE"
expect 3 "a full standard output" bash -c '"$0" inspect "$1" >/dev/full' "$MILLRACE" "$f/mul.zkey"
# Keys of bellperson's: what must be given, and together with what.
v=$fixtures/filecoin/tiny
refused() { # refused CODE WHAT TEXT COMMAND...
    expect "$1" "$2" "${@:4}"
    says "$2" "$3"
    one_line "$2"
    nothing_written "$2" "$dir/never"
}
refused 2 "no key" "expected a KEY, or --params" "$MILLRACE" prepare "$dir/never"
refused 2 "two keys" "give one of them" "$MILLRACE" prepare "$v/tiny.params" "$dir/never" --params "$v/tiny.params"
refused 2 "two files of constraints" "--r1cs and --pce" "$MILLRACE" prepare --params "$v/tiny.params" \
    "$dir/never" --r1cs "$v/r1cs.bin" --pce "$v/r1cs.bin"
refused 2 "no constraints" "does not hold the circuit's matrices" "$MILLRACE" prepare "$v/tiny.params" "$dir/never"
refused 2 "digests of a .zkey" "digests of .params files alone" "$MILLRACE" prepare \
    "$fixtures/bn128/mul/mul.zkey" "$dir/never" --digests "$v/info.txt"
refused 2 "local, from .params" "millrace prepare" "$MILLRACE" prove --local "$v/tiny.params" \
    "$fixtures/bn128/mul/mul.wtns" "$dir/never" "$dir/never"
refused 6 "another circuit's constraints" "do not belong together" "$MILLRACE" prepare \
    --params "$v/tiny.params" "$dir/never" --r1cs "$fixtures/filecoin/mix1k/r1cs.bin"
refused 9 "192 bytes on bn254" "bls12-381" "$MILLRACE" prove --local --bytes "$fixtures/bn128/mul/mul.zkey" \
    "$fixtures/bn128/mul/mul.wtns" "$dir/never" "$dir/never.json"
finish
