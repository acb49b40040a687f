/* keys: which circuits a memory holds (a GPU's, or the host's page cache of mapped circuits), what
 * they are charged, and which one goes first.
 *
 *        keys_use                 report: resident          keys_victim          report: gone
 *   absent ────▶ charged, in use ───────────▶ resident, idle ────────▶ leaving ────────▶ absent
 *                     ▲     keys_done, keys_use    │
 *                     └────────────────────────────┘
 *
 * A key in use is never a victim. A leaving key stays charged until its holder reports that the
 * memory is back: what is counted is what is mapped, at all times. Pure bookkeeping, one thread. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct key {
    unsigned circuit;
    uint32_t users;
    uint64_t bytes, last_use;
    bool resident, leaving;
};

struct key_set {
    uint64_t limit; /* bytes; 0: no limit of its own */
    uint64_t used;  /* sum of what all entries are charged, leaving ones too */
    struct key *at;
    unsigned n, cap;
};

enum key_room {
    KEY_RESIDENT, /* it is there */
    KEY_FITS,     /* there is room for it now */
    KEY_EVICTS,   /* there will be room when idle keys have gone */
    KEY_BUSY,     /* keys in use leave no room: wait for one of them */
};

void keys_free(struct key_set *s);
const struct key *keys_find(const struct key_set *s, unsigned circuit); /* NULL: absent */

/* A key larger than the limit is charged the whole limit (it is streamed through that room). */
enum key_room keys_room(const struct key_set *s, unsigned circuit, uint64_t bytes);

/* The next key to let go so that `bytes` more will fit: the least recently used idle one, marked
 * leaving. False when what is leaving already suffices, or nothing is idle. */
bool keys_victim(struct key_set *s, uint64_t bytes, unsigned *circuit);

/* One more user; charges an absent key. A leaving key is wanted again: it stays. */
void keys_use(struct key_set *s, unsigned circuit, uint64_t bytes, uint64_t now_ns);
void keys_done(struct key_set *s, unsigned circuit, uint64_t now_ns);

/* What its holder says: resident with so many bytes, or gone. A report of "gone" about a key in use
 * only clears `resident`: it is charged on. */
void keys_report(struct key_set *s, unsigned circuit, bool resident, uint64_t bytes,
                 uint64_t now_ns);
