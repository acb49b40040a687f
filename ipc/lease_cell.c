#include <string.h>
#include "lease_cells.h"

struct lease_cell *lease_cell(const struct arena *a, uint32_t row)
{
    return (struct lease_cell *)((uint8_t *)a->header + a->header->cells_offset) + row;
}

/* Finds a torn cell, not a forged one: whoever can write here owns the instance. FNV-1a in words.
 */
static uint64_t checksum(uint64_t generation, const struct lease_result *result)
{
    _Static_assert(sizeof *result % 8 == 0, "summed in words");
    uint64_t h = UINT64_C(0xcbf29ce484222325) ^ generation;
    for (size_t i = 0; i < sizeof *result; i += 8) {
        uint64_t word;
        memcpy(&word, (const uint8_t *)result + i, 8);
        h = (h ^ word) * UINT64_C(0x100000001b3);
        h ^= h >> 29;
    }
    return h;
}

void lease_cell_write(struct arena *a, struct lease_ref r, const struct lease_result *result)
{
    struct lease_cell *cell = lease_cell(a, r.row);
    cell->checksum = 0;
    cell->generation = r.generation;
    memcpy(&cell->result, result, sizeof *result / 2);
    KILL_POINT("lease.result.half");
    memcpy((uint8_t *)&cell->result + sizeof *result / 2,
           (const uint8_t *)result + sizeof *result / 2, sizeof *result / 2);
    cell->checksum = checksum(r.generation, &cell->result);
}

void lease_cell_wipe(struct arena *a, uint32_t row)
{
    explicit_bzero(lease_cell(a, row), sizeof(struct lease_cell));
}

bool lease_result_read(const struct arena *a, struct lease_ref r, struct lease_result *out)
{
    if (!lease_row(a, r.row) || r.arena_epoch != a->header->epoch)
        return false;
    struct lease_view v = lease_look(a, r.row);
    if (v.generation != r.generation || (v.state != LEASE_PROVED && v.state != LEASE_FAILED))
        return false;
    const struct lease_cell *cell = lease_cell(a, r.row);
    memcpy(out, &cell->result, sizeof *out);
    bool good = cell->generation == r.generation && cell->checksum == checksum(r.generation, out) &&
                out->sums_bytes <= LEASE_SUMS_MAX &&
                (out->code == 0) == (v.state == LEASE_PROVED) &&
                memchr(out->reason, 0, sizeof out->reason);
    if (!good)
        explicit_bzero(out, sizeof *out);
    return good;
}
