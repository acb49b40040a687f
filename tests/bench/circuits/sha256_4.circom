// SHA-256 of 216 bytes, four blocks once padded: about 2^17 constraints over a witness of bits, the
// kind that real circuits have. Public: the digest, as two numbers of 128 bits.
pragma circom 2.1.6;
include "circomlib/circuits/bitify.circom";
include "circomlib/circuits/sha256/sha256.circom";

template DigestOfBytes(n) {
    signal input message[n];
    signal output high;
    signal output low;
    component hash = Sha256(8 * n);
    component bits[n];
    for (var byte = 0; byte < n; byte++) {
        bits[byte] = Num2Bits(8);
        bits[byte].in <== message[byte];
        for (var bit = 0; bit < 8; bit++) hash.in[8 * byte + bit] <== bits[byte].out[7 - bit];
    }
    component number[2];
    for (var half = 0; half < 2; half++) {
        number[half] = Bits2Num(128);
        for (var bit = 0; bit < 128; bit++) number[half].in[127 - bit] <== hash.out[128 * half + bit];
    }
    high <== number[0].out;
    low <== number[1].out;
}

component main = DigestOfBytes(216);
