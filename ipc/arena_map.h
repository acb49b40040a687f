/* arena_map: what arena.c and arena_create.c share and nobody else needs. */
#pragma once
#include "arena.h"

enum { ARENA_FILE_MAX = 64 };

/* Where things lie in a control segment: header, rows of 512 bytes, cells of 2048, extent map. */
struct arena_layout {
    uint64_t rows, cells, map, map_bytes, total;
};
struct arena_layout arena_layout(uint64_t rows, uint64_t granules);

/* "node0.ctl", "node0.bulk" */
void arena_file_name(unsigned node, const char *what, char out[ARENA_FILE_MAX]);

/* Maps a whole segment, kept out of core dumps and children, on a granule's border when it is at
 * least that long; NULL with errno. */
void *arena_map(int fd, uint64_t bytes, int protection);
