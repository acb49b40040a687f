#!/bin/bash
# r and s can be fixed in a test build and only there. TEST_RANDOMNESS says which build this is.
. "$(dirname "$0")/common.sh"
f=$fixtures/bn128/mul
for i in 1 2; do
    MILLRACE_TEST_RS=3,5 "$MILLRACE" prove --local "$f/mul.zkey" "$f/mul.wtns" \
        "$dir/proof$i.json" "$dir/public.json" --one-line || fail "prove"
done
if [ "$TEST_RANDOMNESS" = true ]; then
    # pi_a of vectors.json, the last in the file
    want=$(grep -A1 '"pi_a"' "$f/vectors.json" | tail -n 1 | tr -dc 0-9)
    says "the proof of r = 3, s = 5" "\"pi_a\":[\"$want\"" "$dir/proof1.json"
    if cmp -s "$dir/proof1.json" "$dir/proof2.json"; then ok; else fail "two proofs with fixed r, s differ"; fi
else
    if cmp -s "$dir/proof1.json" "$dir/proof2.json"; then fail "the environment fixed r and s"; else ok; fi
    if grep -q MILLRACE_TEST_RS "$MILLRACE"; then fail "the program holds MILLRACE_TEST_RS"; else ok; fi
fi
finish
