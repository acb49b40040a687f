/* millrace-program: builds a circuit's witness program into a directory, by hand.
 *
 *   millrace-program build CIRCUIT.wasm|EXECUTABLE DIR
 *
 * Prints the digest and the path, one line of key=value. `millrace circuit add --program` does the
 * same and remembers which circuit the program belongs to. */
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "build.h"

int main(int argc, char **argv)
{
    struct err e = {0};
    struct program_info info;
    if (argc != 4 || strcmp(argv[1], "build") != 0) {
        fprintf(stderr, "usage: millrace-program build CIRCUIT.wasm|EXECUTABLE DIR\n");
        return ERR_USAGE;
    }
    enum err_code rc = program_build(argv[2], argv[3], &info, &e);
    if (rc != ERR_OK) {
        fprintf(stderr, "millrace-program: %s\n", e.text);
        return (int)rc;
    }
    char hex[65];
    sodium_bin2hex(hex, sizeof hex, info.digest, sizeof info.digest);
    printf("digest=%s kind=%s built=%s", hex, info.native ? "native" : "wasm",
           info.built ? "yes" : "already");
    if (!info.native)
        printf(" inputs=%u witness=%u", info.n_inputs, info.n_witness);
    printf(" path=%s\n", info.path);
    return 0;
}
