/* peer_names: this program under rapidsnark's names, so that a script can switch by its path alone.
 *
 *   prover   KEY.zkey WITNESS.wtns PROOF.json PUBLIC.json
 *   verifier VK.json PUBLIC.json PROOF.json
 *
 * Arguments, the lines "Result: Valid proof" and "Result: Invalid proof" on standard error, and the
 * exit codes (0, or 1 for everything else) are rapidsnark's. What differs: a proof is verified
 * before it is written, proof.json carries its curve, and messages name the file. */
#pragma once

typedef int peer_main(int argc, char **argv);

/* The entry for the program name (a path) that it was called by, or NULL when it is neither. */
peer_main *peer_by_name(const char *argv0);
