#!/bin/sh
# Compiles blst and has it answer random questions that ours must answer alike.
#   blst.sh TEST_KNOWN_ANSWERS TESTS_TOOLS        MILLRACE_TEST_SEED repeats a failure
set -eu
test=$1 tools=$2 blst=$2/node_modules/@chainsafe/blst/blst
if [ ! -f "$blst/src/server.c" ]; then
    echo "skipped: no blst (npm --prefix tests/tools ci)"
    exit 77
fi
dir=$(mktemp -d "${TMPDIR:-/tmp}/millrace-blst-XXXXXX")
trap 'rm -rf "$dir"' EXIT
# -D__ADX__ as its own build.sh has it, else the plain multiplications; -w: it is not our code.
grep -q -m1 '^flags.* adx' /proc/cpuinfo 2>/dev/null && adx=-D__ADX__ || adx=
"${CC:-cc}" -O1 -w -fno-builtin $adx -I"$blst/bindings" -o "$dir/blst_vectors" \
    "$tools/blst_vectors.c" "$blst/src/server.c" "$blst/build/assembly.S"
seed=${MILLRACE_TEST_SEED:-$(od -An -N7 -tu8 /dev/urandom | tr -d ' ')}
echo "MILLRACE_TEST_SEED=$seed"
"$dir/blst_vectors" "$seed" >"$dir/vectors.txt"
"$test" "$dir/vectors.txt"
