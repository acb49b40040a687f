/* What is accepted is written again as the same bytes. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "file.h"
#include "harness.h"
#include "json.h"
#include "params.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct err e = {0};
    struct verification_key vk;
    point_t beta, delta;
    enum err_code code = vk_bytes_read(input_file(data, n), &vk, &beta, &delta, &e);
    refused_in_one_line(code, &e);
    if (code)
        return 0;
    char again[] = "/tmp/fuzz-vk-XXXXXX", *written;
    size_t n_written;
    close(mkstemp(again));
    PROPERTY(vk_bytes_write(again, &vk, &beta, &delta, &e) == ERR_OK);
    PROPERTY(file_read(again, 1 << 26, &written, &n_written, &e) == ERR_OK);
    PROPERTY(n_written == n && !memcmp(written, data, n));
    unlink(again);
    free(written);
    vk_free(&vk);
    return 0;
}
