#include "bellman_r1cs.h"
#include <string.h>
#include "bytefile.h"

enum err_code bellman_r1cs_read(const char *path, struct r1cs *out, struct err *e)
{
    char magic[4] = {0};
    *out = (struct r1cs){0};
    struct bytefile *f = bytefile_open(path, "constraint system", e);
    if (!f)
        return e ? e->code : ERR_IO;
    enum err_code code = bytefile_expect(f, "header", 0, sizeof magic, e);
    if (!code)
        code = bytefile_read(f, 0, magic, sizeof magic, e);
    bytefile_close(&f);
    if (code)
        return code;
    if (!memcmp(magic, "PCE\2", 4))
        return pce_read(path, out, e);
    if (!memcmp(magic, "FR1C", 4))
        return fr1c_read(path, out, e);
    return err_set(
        e, ERR_FORMAT,
        "%s: header: offset 0: expected the magic \"PCE\\x02\" of a PCE file or \"FR1C\" "
        "of an r1cs.bin, found %02x %02x %02x %02x",
        path, (unsigned char)magic[0], (unsigned char)magic[1], (unsigned char)magic[2],
        (unsigned char)magic[3]);
}
