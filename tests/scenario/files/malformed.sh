#!/bin/bash
# Every malformed file, given to the program that would use it: the exit code and the line of its
# reader (tests/fixtures/malformed/cases.c), one line, no crash, no hang, and nothing written.
. "$(dirname "$0")/../local/common.sh"
mkdir "$dir/files" "$dir/made"
"$MAKE_MALFORMED" "$fixtures" "$dir/files" >"$dir/list" || fail "make_malformed"

made_nothing() { # not even a hidden file that a rename was to follow
    if [ -z "$(ls -A "$dir/made")" ]; then ok; else
        fail "$1: $(ls -A "$dir/made") was written"
        rm -rf "$dir/made"
        mkdir "$dir/made"
    fi
}

# refuse CODE NAME MESSAGE COMMAND...: within 20 seconds.
refuse() {
    local code=$1 name=$2 message=$3
    shift 3
    expect "$code" "$name" timeout 20 "$@"
    says "$name" "$message"
    one_line "$name"
    made_nothing "$name"
}

while read -r name kind code base message; do
    file=$dir/files/$name folder=$fixtures/${base%/*}
    circuit=${folder##*/}
    case $name in # told apart by the magic, which is missing
    fr1c-empty | fr1c-magic | pce-empty | pce-magic) message="header: offset 0: expected" ;;
    esac
    case $kind in
    zkey) refuse "$code" "$name" "$message" "$MILLRACE" prepare -q "$file" "$dir/made/key" ;;
    r1cs)
        refuse "$code" "$name" "$message" "$MILLRACE" prepare -q "$folder/$circuit.zkey" "$dir/made/key" \
            --r1cs "$file"
        ;;
    wtns)
        refuse "$code" "$name" "$message" "$MILLRACE" prove -q --local "$folder/$circuit.zkey" "$file" \
            "$dir/made/proof" "$dir/made/public"
        ;;
    vk)
        refuse "$code" "$name" "$message" "$MILLRACE" verify -q "$file" "$folder/public.json" \
            "$folder/proof.json"
        ;;
    proof)
        refuse "$code" "$name" "$message" "$MILLRACE" verify -q "$folder/vk.json" "$folder/public.json" \
            "$file"
        ;;
    public)
        refuse "$code" "$name" "$message" "$MILLRACE" verify -q "$folder/vk.json" "$file" \
            "$folder/proof.json"
        ;;
    params)
        refuse "$code" "$name" "$message" "$MILLRACE" prepare -q --params "$file" "$dir/made/key" \
            --r1cs "$folder/r1cs.bin"
        ;;
    fr1c)
        refuse "$code" "$name" "$message" "$MILLRACE" prepare -q --params "$folder/$circuit.params" \
            "$dir/made/key" --r1cs "$file"
        ;;
    pce)
        refuse "$code" "$name" "$message" "$MILLRACE" prepare -q --params "$folder/$circuit.params" \
            "$dir/made/key" --pce "$file"
        ;;
    vk_bytes) refuse "$code" "$name" "$message" "$MILLRACE" convert -q "$file" "$dir/made/vk" --to json ;;
    proof_bytes) refuse "$code" "$name" "$message" "$MILLRACE" convert -q "$file" "$dir/made/proof" --to json ;;
    prepared)
        [ -f "$folder/$circuit.wtns" ] || folder=$fixtures/bn128/mul circuit=mul
        # The header is read in full; damage behind it may show as late as in the finished proof.
        timeout 20 "$MILLRACE" prove -q --local "$file" "$folder/$circuit.wtns" "$dir/made/proof" \
            "$dir/made/public" >"$dir/out" 2>"$dir/err"
        got=$?
        if [ $got -gt 0 ] && [ $got -le 14 ]; then
            ok
            one_line "$name"
            made_nothing "$name"
        elif [ $got = 0 ] && [[ $name = prepared-padding ]]; then
            ok # bytes that nobody reads
            rm -f "$dir"/made/*
        else
            fail "$name: exit code $got: $(cat "$dir/err")"
            rm -f "$dir"/made/*
        fi
        ;;
    esac
done <"$dir/list"
[ "$checks" -gt 500 ] || fail "only $checks checks were made"
finish
