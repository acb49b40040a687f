#include "stat.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "alive.h"
#include "evidence.h"
#include "log.h"
#include "span.h"

#define STAT_MAGIC UINT64_C(0x45474150544154) /* "TATPAGE" */
enum { STAT_VERSION = 2 };

static const struct stat_info infos[STAT_IDS] = {
#define S(id, name_, kind_, doc_) [STAT_##id] = {name_, STAT_##kind_, doc_},
    STATS(S)
#undef S
};
_Static_assert(STAT_IDS <= 128, "they fit the page");

const struct stat_info *stat_info(enum stat_id id)
{
    INVARIANT((unsigned)id < STAT_IDS);
    return &infos[id];
}

struct stats {
    const struct instance *in;
    struct actor self;
    struct stat_page *page;
};

struct stats *stats_open(const struct instance *in, const struct actor *self, struct err *e)
{
    struct alive_id id = {0};
    struct timespec now;
    struct stat_page *page = evidence_create(in, self, "stat", sizeof *page, e);
    if (!page)
        return NULL;
    struct stats *s = malloc(sizeof *s);
    INVARIANT(s != NULL);
    *s = (struct stats){.in = in, .self = *self, .page = page};
    alive_self(&id, NULL);
    clock_gettime(CLOCK_REALTIME, &now);
    page->version = STAT_VERSION;
    page->n = STAT_IDS;
    page->pid = (uint32_t)getpid();
    page->start_ticks = id.start_ticks;
    memcpy(page->boot_id, id.boot_id, sizeof id.boot_id);
    page->started_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    log_setting(page->log_now);
    stat_heartbeat(s);
    atomic_store_explicit(&page->magic, STAT_MAGIC, memory_order_release);
    return s;
}

void stats_close(struct stats **s)
{
    if (!*s)
        return;
    evidence_unmap((*s)->page, sizeof *(*s)->page);
    evidence_remove((*s)->in, &(*s)->self, "stat");
    free(*s);
    *s = NULL;
}

void stat_add(struct stats *s, enum stat_id id, uint64_t n)
{
    if (s)
        atomic_fetch_add_explicit(&s->page->value[id], n, memory_order_relaxed);
}

void stat_set(struct stats *s, enum stat_id id, uint64_t value)
{
    if (s)
        atomic_store_explicit(&s->page->value[id], value, memory_order_relaxed);
}

static void follow_log_wish(struct stat_page *page)
{
    uint32_t wishes = atomic_load_explicit(&page->log_wishes, memory_order_acquire);
    char wish[sizeof page->log_wish], before[LOG_SETTING_MAX], after[LOG_SETTING_MAX];
    if (wishes == atomic_load_explicit(&page->log_followed, memory_order_relaxed))
        return;
    memcpy(wish, page->log_wish, sizeof wish);
    wish[sizeof wish - 1] = 0;
    log_setting(before);
    bool told = log_enabled(LOG_LEVEL_INFO); /* said while, or as soon as, it can be heard */
    if (told)
        log_info("log-setting", NULL, "before=%s wish=%s", before, wish);
    log_configure(wish); /* what is none changes nothing */
    if (!told)
        log_info("log-setting", NULL, "before=%s wish=%s", before, wish);
    memcpy(page->log_now, log_setting(after), sizeof page->log_now);
    atomic_store_explicit(&page->log_followed, wishes, memory_order_release);
}

void stat_heartbeat(struct stats *s)
{
    if (!s)
        return;
    atomic_store_explicit(&s->page->heartbeat_ns, span_now_ns(), memory_order_relaxed);
    follow_log_wish(s->page);
}

void stat_step(struct stats *s, const char *step)
{
    if (s) {
        size_t n = strnlen(step, sizeof s->page->step - 1);
        memcpy(s->page->step, step, n);
        memset(s->page->step + n, 0, sizeof s->page->step - n);
    }
}

/* ---- from outside ---- */

static struct stat_page *map_page(const struct instance *in, const struct actor *who)
{
    char name[EVIDENCE_NAME_MAX], id[ROUTING_ID_MAX];
    struct stat st;
    void *at = MAP_FAILED;
    snprintf(name, sizeof name, "%s.stat", actor_routing_id(who, id));
    int dir_fd = instance_evidence_fd(in);
    int fd = dir_fd >= 0 ? openat(dir_fd, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC) : -1;
    if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size == sizeof(struct stat_page))
        at = mmap(NULL, sizeof(struct stat_page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0)
        close(fd);
    if (dir_fd >= 0)
        close(dir_fd);
    struct stat_page *page = at == MAP_FAILED ? NULL : at;
    if (page && (atomic_load_explicit(&page->magic, memory_order_acquire) != STAT_MAGIC ||
                 page->version != STAT_VERSION)) {
        munmap(page, sizeof *page);
        page = NULL;
    }
    return page;
}

enum err_code stat_set_log(const struct instance *in, const struct actor *who, const char *setting,
                           int wait_ms, struct err *e)
{
    char name[ACTOR_NAME_MAX];
    if (!log_is_setting(setting))
        return err_set(e, ERR_VALUE,
                       "'%s': expected error, warn, info or debug, and text or json, parted by a "
                       "comma",
                       setting);
    struct stat_page *page = map_page(in, who);
    if (!page)
        return err_set(e, ERR_UNAVAILABLE, "%s has no page in shared memory",
                       actor_name(who, name));
    strncpy(page->log_wish, setting, sizeof page->log_wish - 1);
    uint32_t mine = atomic_fetch_add_explicit(&page->log_wishes, 1, memory_order_acq_rel) + 1;
    bool followed = false;
    for (int waited = 0; !followed && waited <= wait_ms; waited += 10) {
        if (waited)
            nanosleep(&(struct timespec){0, 10000000}, NULL);
        uint32_t at = atomic_load_explicit(&page->log_followed, memory_order_acquire);
        followed = (int32_t)(at - mine) >= 0;
    }
    munmap(page, sizeof *page);
    return followed ? ERR_OK
                    : err_set(e, ERR_UNAVAILABLE, "%s does not follow: is it stopped or dead?",
                              actor_name(who, name));
}

struct walk {
    stat_each *each;
    void *arg;
};

static void read_page(void *arg, int dir_fd, const char *name, const struct actor *who,
                      const char *suffix)
{
    struct walk *w = arg;
    struct stat_page page;
    if (strcmp(suffix, "stat") != 0)
        return;
    /* A copy by pread: the counters are words, so a torn page is at worst a moment apart. */
    int fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    ssize_t n = fd >= 0 ? pread(fd, &page, sizeof page, 0) : -1;
    if (fd >= 0)
        close(fd);
    if (n != sizeof page || page.magic != STAT_MAGIC || page.version != STAT_VERSION)
        return;
    page.boot_id[sizeof page.boot_id - 1] = 0;
    page.step[sizeof page.step - 1] = 0;
    w->each(w->arg, who, &page);
}

void stats_read(const struct instance *in, stat_each *each, void *arg)
{
    evidence_scan(in, ".stat", read_page, &(struct walk){each, arg});
}
