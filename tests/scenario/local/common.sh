# What the scenarios of `millrace prove --local` share. Sourced; expects MILLRACE and SOURCE.
set -uo pipefail
fixtures=$SOURCE/tests/fixtures
dir=$(mktemp -d "${TMPDIR:-/tmp}/millrace-local-XXXXXX")
trap 'rm -rf "$dir"' EXIT
failures=0 checks=0

ok() { checks=$((checks + 1)); }
fail() {
    checks=$((checks + 1)) failures=$((failures + 1))
    echo "FAIL: $*"
}

# expect CODE WHAT COMMAND...: runs it; its output is in $dir/out and $dir/err.
expect() {
    local code=$1 what=$2
    shift 2
    "$@" >"$dir/out" 2>"$dir/err"
    local got=$?
    if [ "$got" = "$code" ]; then ok; else
        fail "$what: exit code $got, expected $code"
        sed 's/^/    /' "$dir/out" "$dir/err"
    fi
}
# says WHAT TEXT [FILE]: standard error (or FILE) holds this text.
says() {
    if grep -qF -- "$2" "${3:-$dir/err}"; then ok; else
        fail "$1: does not say \"$2\""
        sed 's/^/    /' "${3:-$dir/err}"
    fi
}
# One line on standard error, as every failure is.
one_line() {
    if [ "$(wc -l <"$dir/err")" = 1 ]; then ok; else
        fail "$1: $(wc -l <"$dir/err") lines on standard error, expected 1"
        sed 's/^/    /' "$dir/err"
    fi
}
nothing_written() {
    local what=$1 f
    shift
    for f in "$@"; do
        if [ -e "$f" ]; then fail "$what: $f was written"; else ok; fi
    done
    if ls -A "$dir" | grep -q '\.tmp$'; then fail "$what: a temporary file is left"; else ok; fi
}
# Lists the fixtures that hold a key: CURVE CIRCUIT.
all_fixtures() {
    for key in "$fixtures"/*/*/*.zkey; do
        local folder=${key%/*}
        echo "$(basename "${folder%/*}") $(basename "$folder")"
    done
}
finish() {
    echo "$checks checks, $failures failed"
    [ "$failures" = 0 ]
    exit
}
