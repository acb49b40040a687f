/* doctor: is this machine fit? Limits, NUMA, driver and shared memory in plain words. */
#include <errno.h>
#include <glob.h>
#include <jansson.h>
#include <numa.h>
#include <numaif.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "instance.h"
#include "pipeline.h"

enum finding { FINE, NOTE, TROUBLE };

struct report {
    json_t *findings;
    unsigned troubles;
    bool json;
};

static void say(struct report *r, enum finding level, const char *what, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
static void say(struct report *r, enum finding level, const char *what, const char *fmt, ...)
{
    static const char *const word[] = {"ok", "note", "trouble"};
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    r->troubles += level == TROUBLE;
    if (r->json)
        json_array_append_new(r->findings, json_pack("{s:s,s:s,s:s}", "what", what, "level",
                                                     word[level], "text", text));
    else
        printf("%-8s %-18s %s\n", word[level], what, text);
}

static double gib(double bytes)
{
    return bytes / (1024.0 * 1024 * 1024);
}

static void check_shm(struct report *r)
{
    struct statvfs v;
    if (statvfs("/dev/shm", &v) != 0) {
        say(r, TROUBLE, "shared memory",
            "/dev/shm: %s. Mount a tmpfs and name it with [memory] arena_path in millrace.conf",
            strerror(errno));
        return;
    }
    double free_bytes = (double)v.f_bavail * (double)v.f_frsize;
    if (gib(free_bytes) < 0.25)
        say(r, TROUBLE, "shared memory",
            "/dev/shm has %.2f GiB free (containers give 64 MiB by default: run with "
            "--shm-size=8g, or name another tmpfs with [memory] arena_path)",
            gib(free_bytes));
    else
        say(r, FINE, "shared memory",
            "/dev/shm has %.1f GiB free; a partition of 2^20 takes about 0.1 GiB, of 2^27 13 GiB",
            gib(free_bytes));
}

static void check_numa(struct report *r)
{
    if (numa_available() < 0) {
        say(r, NOTE, "NUMA", "the system has no NUMA interface: one node is assumed");
        return;
    }
    int nodes = numa_num_configured_nodes();
    long page = sysconf(_SC_PAGESIZE);
    void *p = mmap(NULL, (size_t)page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    unsigned long mask = 1UL << 0;
    struct bitmask *allowed = numa_get_mems_allowed();
    for (int n = 0; n < 64; n++)
        if (numa_bitmask_isbitset(allowed, (unsigned)n)) {
            mask = 1UL << n;
            break;
        }
    numa_bitmask_free(allowed);
    bool bound = p != MAP_FAILED && mbind(p, (size_t)page, MPOL_BIND, &mask, 65, 0) == 0;
    int why = errno;
    if (p != MAP_FAILED)
        munmap(p, (size_t)page);
    if (bound)
        say(r, FINE, "NUMA", "%d node%s; memory can be bound to them", nodes,
            nodes == 1 ? "" : "s");
    else
        say(r, nodes > 1 ? TROUBLE : NOTE, "NUMA",
            "%d node%s, but binding memory is refused (%s). In a container give it CAP_SYS_NICE; "
            "else pages lie where they are first touched",
            nodes, nodes == 1 ? "" : "s", strerror(why));
}

static void check_limits(struct report *r)
{
    struct rlimit l;
    if (getrlimit(RLIMIT_MEMLOCK, &l) == 0 && l.rlim_cur != RLIM_INFINITY)
        say(r, NOTE, "locked memory",
            "RLIMIT_MEMLOCK is %.1f MiB: arenas cannot be locked and may be swapped. Set "
            "'memlock unlimited' (ulimit -l, limits.conf or LimitMEMLOCK=)",
            (double)l.rlim_cur / (1024.0 * 1024));
    else
        say(r, FINE, "locked memory", "unlimited");
    if (getrlimit(RLIMIT_NOFILE, &l) == 0 && l.rlim_cur < 1024)
        say(r, TROUBLE, "open files", "the limit is %llu; at least 1024 are needed (ulimit -n)",
            (unsigned long long)l.rlim_cur);
    else
        say(r, FINE, "open files", "the limit is %llu", (unsigned long long)l.rlim_cur);
    int fd = (int)syscall(SYS_pidfd_open, getpid(), 0);
    if (fd < 0)
        say(r, TROUBLE, "pidfd", "%s: Linux 5.3 or later is needed to know who is dead",
            strerror(errno));
    else
        close(fd);
}

static void check_memory(struct report *r)
{
    double pages = (double)sysconf(_SC_PHYS_PAGES), page = (double)sysconf(_SC_PAGESIZE);
    double total = pages * page, limit = total;
    FILE *f = fopen("/sys/fs/cgroup/memory.max", "r");
    unsigned long long max;
    if (f && fscanf(f, "%llu", &max) == 1 && (double)max < total)
        limit = (double)max;
    if (f)
        fclose(f);
    if (limit < total)
        say(r, FINE, "memory", "%.1f GiB, of which this control group may use %.1f", gib(total),
            gib(limit));
    else
        say(r, FINE, "memory", "%.1f GiB", gib(total));
    say(r, FINE, "processors", "%ld usable of %ld", sysconf(_SC_NPROCESSORS_ONLN),
        sysconf(_SC_NPROCESSORS_CONF));
}

static void check_gpu(struct report *r)
{
    glob_t g;
    size_t n = 0;
    if (glob("/proc/driver/nvidia/gpus/*", 0, NULL, &g) == 0)
        n = g.gl_pathc;
    globfree(&g);
    bool driver = access("/proc/driver/nvidia/version", R_OK) == 0;
    bool device = access("/dev/nvidiactl", R_OK | W_OK) == 0;
    if (n && device)
        say(r, FINE, "GPU", "%zu NVIDIA device%s; a gpud for each", n, n == 1 ? "" : "s");
    else if (driver || n)
        say(r, TROUBLE, "GPU",
            "the driver is loaded, but /dev/nvidiactl cannot be opened: add the user to the "
            "device's group, or give the container the devices");
    else
        say(r, NOTE, "GPU", "no NVIDIA driver: gpud will prove on the CPU");
}

static void check_programs(struct report *r)
{
    bool wasm2c = system("command -v wasm2c >/dev/null 2>&1") == 0;
    bool compiler = system("command -v cc >/dev/null 2>&1") == 0;
    if (wasm2c && compiler)
        say(r, FINE, "witness programs", "wasm2c and a C compiler are here");
    else
        say(r, NOTE, "witness programs",
            "%s%s%s missing: circom's .wasm cannot be added (apt install wabt gcc); .wtns files "
            "need neither",
            wasm2c ? "" : "wasm2c", wasm2c || compiler ? "" : " and ", compiler ? "" : "cc");
}

static void check_instance(struct report *r, const char *dir)
{
    char at[4096];
    struct instance in;
    struct err e = {0};
    instance_default_dir(dir, at, sizeof at);
    if (access(at, F_OK) != 0) {
        say(r, NOTE, "instance", "%s: not made yet; millrace up makes it", at);
        return;
    }
    if (instance_open(&in, at, &e) != ERR_OK) {
        say(r, TROUBLE, "instance", "%s", e.text);
        return;
    }
    struct statvfs v;
    if (statvfs(at, &v) == 0 && gib((double)v.f_bavail * (double)v.f_frsize) < 1)
        say(r, TROUBLE, "disk", "%s: %.2f GiB free; the ledger, store and spool lie there", at,
            gib((double)v.f_bavail * (double)v.f_frsize));
    instance_close(&in);
    struct millrace_error why;
    struct millrace *m = millrace_open(at, &why);
    if (m)
        say(r, FINE, "instance", "%s: running", at);
    else
        say(r, NOTE, "instance", "%s: not running", at);
    millrace_close(&m);
}

struct args {
    const char *dir;
};
static const struct option options[] = {
    {"dir", 'd', OPTION_TEXT, "DIR", offsetof(struct args, dir), "the instance's directory"}, {0}};

static enum err_code run(const struct invocation *in, struct err *e)
{
    const struct args *a = in->args;
    struct report r = {.findings = json_array(), .json = in->json};
    check_memory(&r);
    check_shm(&r);
    check_numa(&r);
    check_limits(&r);
    check_gpu(&r);
    check_programs(&r);
    check_instance(&r, a->dir);
    if (in->json) {
        json_t *all = json_pack("{s:b,s:o}", "fit", r.troubles == 0, "findings", r.findings);
        json_dumpf(all, stdout, JSON_INDENT(1));
        putchar('\n');
        json_decref(all);
    } else {
        json_decref(r.findings);
    }
    if (r.troubles)
        return err_set(e, ERR_UNAVAILABLE, "doctor: %u thing%s stand%s in the way", r.troubles,
                       r.troubles == 1 ? "" : "s", r.troubles == 1 ? "s" : "");
    return ERR_OK;
}

const struct command command_doctor = {
    .name = "doctor",
    .summary = "is this machine fit? limits, NUMA, driver, shared memory",
    .operands = "",
    .text = "Changes nothing. Exit code 0 when nothing stands in the way.",
    .options = options,
    .args_bytes = sizeof(struct args),
    .run = run,
};
