#!/bin/bash
# The manual: pages without a warning, with every setting that the code reads and every option.
source "$(dirname "$0")/common.sh"

"$MILLRACE" help --man >"$dir/millrace.1"
pages=("$dir/millrace.1" "$SOURCE"/docs/man/*.[58])
if command -v groff >/dev/null; then
    for page in "${pages[@]}"; do
        groff -man -ww -z -Tutf8 "$page" >"$dir/out" 2>&1
        if [ -s "$dir/out" ]; then fail "$(head -n 1 "$dir/out")"; else ok; fi
    done
fi

# What --help of a command shows is in the page.
for words in prove verify submit up "circuit add" "testkit setup"; do
    for option in $("$MILLRACE" help $words | grep -oE -- '--[a-z0-9-]+' | sort -u); do
        escaped=${option//-/\\-}
        if grep -qF -- "$escaped" "$dir/millrace.1"; then ok; else fail "$words: $option is not in the page"; fi
    done
done

# Each key that the daemons and the supervisor read stands under its section, and none else.
{
    grep -hoE '(config_[a-z0-9]+\([a-z&]+, |self\.(number|text)\(|^ *\{)"[a-z]+", "[a-z_]+"' \
        "$SOURCE"/finalizd/settings.c "$SOURCE"/synthd/settings.c "$SOURCE"/gpud/settings.c \
        "$SOURCE"/tools/gateway/settings.c "$SOURCE"/tools/supervise |
        grep -oE '"[a-z]+", "[a-z_]+"' | tr -d '",'
} | sort -u >"$dir/read"
awk '/^\.SH "\[/ { gsub(/[^a-z]/, "", $2); section = $2; next } /^\.SH [^"]/ { section = "" }
     section && /^\\fB[a-z_]+\\fR/ { key = $1; gsub(/^\\fB|\\fR$/, "", key); print section, key }' \
    "$SOURCE/docs/man/millrace.conf.5" | sort -u >"$dir/written"
if diff "$dir/read" "$dir/written" >"$dir/out"; then ok; else fail "settings that only the code (<) or only the page (>) has: $(tr '\n' ' ' <"$dir/out")"; fi
[ "$(wc -l <"$dir/read")" -gt 30 ] && ok || fail "only $(wc -l <"$dir/read") settings were found in the code"
finish
