#include "confine.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/close_range.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A sanitizer's runtime maps terabytes of shadow and makes calls of its own at exit: in such a test
 * build this process is confined in all but memory and calls. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

static enum err_code limit(int what, const char *name, uint64_t value, struct err *e)
{
    struct rlimit now;
    if (getrlimit((__rlimit_resource_t)what, &now) != 0)
        return err_set(e, ERR_INTERNAL, "getrlimit %s: %s", name, strerror(errno));
    struct rlimit to = {value, value};
    if (now.rlim_max != RLIM_INFINITY && value > now.rlim_max)
        to.rlim_cur = to.rlim_max = now.rlim_max; /* already tighter */
    if (setrlimit((__rlimit_resource_t)what, &to) != 0)
        return err_set(e, ERR_INTERNAL, "setrlimit %s: %s", name, strerror(errno));
    return ERR_OK;
}

enum err_code confine_process(const struct confine_limits *l, struct err *e)
{
    /* wasm-rt reserves 8 GiB without access for bounds checks: addresses, not memory. */
    const uint64_t reserved = UINT64_C(9) << 30;
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
        return err_set(e, ERR_INTERNAL, "prctl PDEATHSIG: %s", strerror(errno));
    if (l->parent != 0 && getppid() != l->parent)
        return err_set(e, ERR_CANCELLED, "the process that asked for the witness is gone");
    if (syscall(SYS_close_range, l->keep_fd + 1, ~0u, 0) != 0)
        for (int fd = l->keep_fd + 1; fd < 65536; fd++)
            close(fd);
    if (prctl(PR_SET_DUMPABLE, 0) != 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return err_set(e, ERR_INTERNAL, "prctl: %s", strerror(errno));
    enum err_code rc = limit(RLIMIT_CORE, "core", 0, e);
    if (rc == ERR_OK && l->cpu_s != 0)
        rc = limit(RLIMIT_CPU, "cpu", l->cpu_s, e);
    if (rc == ERR_OK && l->memory_bytes != 0 && !SANITIZED)
        rc = limit(RLIMIT_DATA, "data", l->memory_bytes, e);
    if (rc == ERR_OK && l->memory_bytes != 0 && !SANITIZED)
        rc = limit(RLIMIT_AS, "as", l->memory_bytes + reserved, e);
    if (rc == ERR_OK && l->file_bytes != 0)
        rc = limit(RLIMIT_FSIZE, "fsize", l->file_bytes, e);
    if (rc == ERR_OK)
        rc = limit(RLIMIT_NOFILE, "nofile", 32, e);
    return rc;
}

/* ---- Landlock ----------------------------------------------------------------------------- */

static void allow_fd(int rules, int fd, uint64_t access)
{
    struct landlock_path_beneath_attr a = {.allowed_access = access, .parent_fd = fd};
    /* Refused for a memfd, which Landlock does not restrict in the first place. */
    syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &a, 0);
}

static void allow_path(int rules, const char *path, uint64_t access)
{
    int fd = open(path, O_PATH | O_CLOEXEC);
    if (fd < 0)
        return; /* a directory that this system does not have */
    allow_fd(rules, fd, access);
    close(fd);
}

bool confine_files(const char *program, int input_fd, int output_fd)
{
    const uint64_t read_file = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_EXECUTE;
    const uint64_t write_file = LANDLOCK_ACCESS_FS_WRITE_FILE;
    struct landlock_ruleset_attr attr = {
        .handled_access_fs = read_file | write_file | LANDLOCK_ACCESS_FS_READ_DIR |
                             LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |
                             LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR |
                             LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK |
                             LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK |
                             LANDLOCK_ACCESS_FS_MAKE_SYM,
    };
    int rules = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof attr, 0);
    if (rules < 0)
        return false;
    static const char *const system_paths[] = {"/usr", "/lib", "/lib64", "/etc/ld.so.cache"};
    for (size_t i = 0; i < sizeof system_paths / sizeof *system_paths; i++)
        allow_path(rules, system_paths[i],
                   i < 3 ? read_file | LANDLOCK_ACCESS_FS_READ_DIR : read_file);
    char data[PATH_MAX];
    allow_path(rules, program, read_file);
    if (snprintf(data, sizeof data, "%s.dat", program) < (int)sizeof data)
        allow_path(rules, data, LANDLOCK_ACCESS_FS_READ_FILE);
    allow_fd(rules, input_fd, LANDLOCK_ACCESS_FS_READ_FILE);
    allow_fd(rules, output_fd, LANDLOCK_ACCESS_FS_READ_FILE | write_file);
    bool done = syscall(SYS_landlock_restrict_self, rules, 0) == 0;
    close(rules);
    return done;
}

/* ---- seccomp ------------------------------------------------------------------------------ */

#if defined(__x86_64__)
#define FILTER_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define FILTER_ARCH AUDIT_ARCH_AARCH64
#endif

#ifdef FILTER_ARCH
enum { FILTER_MAX = 256 };

struct filter {
    struct sock_filter op[FILTER_MAX];
    unsigned short n;
};

static void emit(struct filter *f, struct sock_filter op)
{
    INVARIANT(f->n < FILTER_MAX);
    f->op[f->n++] = op;
}

#define ARG_LOW(i) ((uint32_t)(offsetof(struct seccomp_data, args) + 8 * (i)))

static void load(struct filter *f, uint32_t offset)
{
    emit(f, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset));
}

static void verdict(struct filter *f, uint32_t action)
{
    emit(f, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action));
}

/* if (nr == call) return action; */
static void on_call(struct filter *f, long call, uint32_t action)
{
    emit(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, 1));
    verdict(f, action);
}

/* if (nr == call) return (low word of argument arg & mask) == value ? yes : no; */
static void on_call_argument(struct filter *f, long call, unsigned arg, uint32_t mask,
                             uint32_t value, uint32_t yes, uint32_t no)
{
    emit(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, 5));
    load(f, ARG_LOW(arg));
    emit(f, (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, mask));
    emit(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1));
    verdict(f, yes);
    verdict(f, no);
}

static void prologue(struct filter *f)
{
    load(f, offsetof(struct seccomp_data, arch));
    emit(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, FILTER_ARCH, 1, 0));
    verdict(f, SECCOMP_RET_KILL_PROCESS);
    load(f, offsetof(struct seccomp_data, nr));
#ifdef __x86_64__
    /* The x32 calls share the architecture word and have numbers of their own. */
    emit(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000u, 0, 1));
    verdict(f, SECCOMP_RET_KILL_PROCESS);
#endif
}

static void build_compute(struct filter *f)
{
    static const long allowed[] = {
        SYS_read,
        SYS_write,
        SYS_writev,
        SYS_close,
        SYS_lseek,
        SYS_fstat,
        SYS_munmap,
        SYS_mremap,
        SYS_brk,
        SYS_madvise,
        SYS_rt_sigaction,
        SYS_rt_sigprocmask,
        SYS_rt_sigreturn,
        SYS_sigaltstack,
        SYS_exit,
        SYS_exit_group,
        SYS_futex,
        SYS_clock_gettime,
        SYS_getrandom,
        SYS_getpid,
        SYS_gettid,
        /* perror() in wasm-rt, when memory is short: it writes through a copy of stderr */
        SYS_dup,
        SYS_fcntl,
        SYS_newfstatat,
    };
    prologue(f);
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
        on_call(f, allowed[i], SECCOMP_RET_ALLOW);
    on_call_argument(f, SYS_mmap, 2, PROT_EXEC, 0, SECCOMP_RET_ALLOW, SECCOMP_RET_KILL_PROCESS);
    on_call_argument(f, SYS_mprotect, 2, PROT_EXEC, 0, SECCOMP_RET_ALLOW, SECCOMP_RET_KILL_PROCESS);
    /* abort() signals its own thread */
    on_call_argument(f, SYS_tgkill, 0, ~0u, (uint32_t)getpid(), SECCOMP_RET_ALLOW,
                     SECCOMP_RET_KILL_PROCESS);
    verdict(f, SECCOMP_RET_KILL_PROCESS);
}

static void build_native(struct filter *f)
{
    static const long denied[] = {
        SYS_socket,
        SYS_socketpair,
        SYS_connect,
        SYS_bind,
        SYS_listen,
        SYS_sendto,
        SYS_sendmsg,
        SYS_ptrace,
        SYS_process_vm_readv,
        SYS_process_vm_writev,
        SYS_kill,
        SYS_tkill,
        SYS_rt_sigqueueinfo,
        SYS_rt_tgsigqueueinfo,
        SYS_pidfd_open,
        SYS_pidfd_send_signal,
        SYS_pidfd_getfd,
        SYS_setsid,
        SYS_setpgid,
        SYS_unshare,
        SYS_setns,
        SYS_mount,
        SYS_umount2,
        SYS_bpf,
        SYS_perf_event_open,
        SYS_io_uring_setup,
        SYS_keyctl,
        SYS_add_key,
        SYS_truncate,
        SYS_fchmodat,
        SYS_fchownat,
        SYS_shmget,
        SYS_shmat,
        SYS_mq_open,
#ifdef __x86_64__
        SYS_fork,
        SYS_vfork,
        SYS_chmod,
        SYS_chown,
        SYS_lchown,
#endif
    };
    const uint32_t eperm = SECCOMP_RET_ERRNO | EPERM;
    prologue(f);
    for (size_t i = 0; i < sizeof denied / sizeof *denied; i++)
        on_call(f, denied[i], eperm);
    on_call(f, SYS_clone3, SECCOMP_RET_ERRNO | ENOSYS); /* glibc then uses clone */
    on_call_argument(f, SYS_clone, 0, CLONE_THREAD, CLONE_THREAD, SECCOMP_RET_ALLOW, eperm);
    on_call_argument(f, SYS_tgkill, 0, ~0u, (uint32_t)getpid(), SECCOMP_RET_ALLOW, eperm);
    /* limits may be read, not set (root could raise them again) */
    on_call_argument(f, SYS_prlimit64, 2, ~0u, 0, SECCOMP_RET_ALLOW, eperm);
    verdict(f, SECCOMP_RET_ALLOW);
}
#endif

enum err_code confine_calls(enum confine_calls which, struct err *e)
{
#ifdef FILTER_ARCH
    if (SANITIZED)
        return ERR_OK;
    struct filter f = {.n = 0};
    if (which == CONFINE_COMPUTE)
        build_compute(&f);
    else
        build_native(&f);
    struct sock_fprog program = {.len = f.n, .filter = f.op};
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        return err_set(e, ERR_INTERNAL, "seccomp: %s", strerror(errno));
#else
    (void)which;
    (void)e;
#endif
    return ERR_OK;
}
