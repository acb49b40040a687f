/* millrace-wasm: makes one witness with a circuit's compiled program, as a confined process.
 *
 *   millrace-wasm [--parent PID] [--cpu-s N] [--memory-mib N] PROGRAM INPUT.json OUTPUT.wtns
 *   millrace-wasm [...] --describe PROGRAM.so
 *
 * PROGRAM.so (made by `millrace-program build` from circom's .wasm) is loaded into this process;
 * any other PROGRAM is an executable built from circom's C++ output and takes this process's place
 * by exec, with INPUT and OUTPUT as its arguments. Before either runs, this process has given away
 * what it does not need (confine.h). Synthd starts it with the input as descriptor 0, a pipe for
 * one line of error as 2 and an anonymous file for the output as 3, and names them as
 * /proc/self/fd/N.
 *
 * Exit code: an err_code, with one line on standard error; or the signal that stopped it. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "calculate.h"
#include "confine.h"

struct options {
    struct confine_limits limits;
    bool describe;
    const char *program, *input, *output;
};

static const char usage[] = "usage: millrace-wasm [--parent PID] [--cpu-s N] [--memory-mib N] "
                            "PROGRAM INPUT.json OUTPUT.wtns\n"
                            "       millrace-wasm --describe PROGRAM.so";

static bool number(const char *text, uint64_t max, uint64_t *out)
{
    char *end;
    errno = 0;
    unsigned long long v = strtoull(text, &end, 10);
    *out = v;
    return errno == 0 && end != text && *end == 0 && text[0] != '-' && v <= max;
}

static enum err_code parse(int argc, char **argv, struct options *o, struct err *e)
{
    *o = (struct options){.limits.keep_fd = 3};
    int i = 1;
    for (; i < argc && strncmp(argv[i], "--", 2) == 0; i++) {
        uint64_t v = 0;
        if (strcmp(argv[i], "--describe") == 0) {
            o->describe = true;
            continue;
        }
        bool ok = i + 1 < argc && number(argv[i + 1], UINT32_MAX, &v);
        if (ok && strcmp(argv[i], "--parent") == 0)
            o->limits.parent = (pid_t)v;
        else if (ok && strcmp(argv[i], "--cpu-s") == 0)
            o->limits.cpu_s = v;
        else if (ok && strcmp(argv[i], "--memory-mib") == 0)
            o->limits.memory_bytes = v << 20;
        else
            return err_set(e, ERR_USAGE, "%s", usage);
        i++;
    }
    if (argc - i != (o->describe ? 1 : 3))
        return err_set(e, ERR_USAGE, "%s", usage);
    o->program = argv[i];
    if (!o->describe) {
        o->input = argv[i + 1];
        o->output = argv[i + 2];
    }
    o->limits.file_bytes = o->limits.memory_bytes;
    return ERR_OK;
}

static bool is_shared_object(const char *path)
{
    size_t n = strlen(path);
    return n > 3 && strcmp(path + n - 3, ".so") == 0;
}

static enum err_code read_all(const char *name, int fd, char **text, size_t *len, struct err *e)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return err_set(e, ERR_IO, "%s: %s", name, strerror(errno));
    size_t capacity = st.st_size > 0 ? (size_t)st.st_size + 1 : 65536, n = 0;
    char *buffer = malloc(capacity);
    while (buffer != NULL) {
        if (n == capacity) {
            char *bigger = realloc(buffer, capacity * 2);
            if (bigger == NULL)
                break;
            buffer = bigger;
            capacity *= 2;
        }
        ssize_t got = read(fd, buffer + n, capacity - n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            free(buffer);
            return err_set(e, ERR_IO, "%s: %s", name, strerror(errno));
        }
        if (got == 0) {
            *text = buffer;
            *len = n;
            return ERR_OK;
        }
        n += (size_t)got;
    }
    free(buffer);
    return err_set(e, ERR_MEMORY, "%s: no memory to read it", name);
}

static enum err_code load(const char *path, const struct program_abi **out, struct err *e)
{
    void *so = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (so == NULL)
        return err_set(e, ERR_IO, "%s: cannot be loaded: %s", path, dlerror());
    const struct program_abi *p = dlsym(so, "millrace_program");
    if (p == NULL || p->version != PROGRAM_ABI_VERSION)
        return err_set(e, ERR_FORMAT,
                       "%s: not a program of this version of Millrace; build it again", path);
    *out = p;
    return ERR_OK;
}

static enum err_code open_program(const struct program_abi *p, const char *path,
                                  struct program_facts *facts, struct err *e)
{
    int status = p->open(facts);
    if (status != 0)
        return program_error(p, status, path, e);
    if (facts->field_words != 8)
        return err_set(e, ERR_UNSUPPORTED, "%s: its field has %u words of 32 bits, 8 are expected",
                       path, facts->field_words);
    return ERR_OK;
}

static enum err_code describe(const struct options *o, struct err *e)
{
    const struct program_abi *p = NULL;
    struct program_facts f;
    enum err_code rc = confine_process(&o->limits, e);
    if (rc == ERR_OK)
        rc = load(o->program, &p, e);
    if (rc == ERR_OK)
        rc = confine_calls(CONFINE_COMPUTE, e);
    if (rc == ERR_OK)
        rc = open_program(p, o->program, &f, e);
    if (rc != ERR_OK)
        return rc;
    char prime[65], line[256];
    for (int i = 0; i < 32; i++)
        snprintf(prime + 2 * i, 3, "%02x", f.prime[31 - i]);
    int n = snprintf(line, sizeof line, "circom=%u.%u.%u inputs=%u witness=%u prime=%s\n",
                     f.circom_version[0], f.circom_version[1], f.circom_version[2], f.n_inputs,
                     f.n_witness, prime);
    /* not through stdio: the filter leaves no ioctl for it to ask about a terminal */
    return write(1, line, (size_t)n) == n ? ERR_OK : err_set(e, ERR_IO, "%s", strerror(errno));
}

static enum err_code compute(const struct options *o, int input, int output, struct err *e)
{
    char *text = NULL;
    size_t len = 0;
    const struct program_abi *p = NULL;
    struct program_facts facts;
    struct input in;
    input_init();
    enum err_code rc = load(o->program, &p, e);
    if (rc == ERR_OK)
        rc = confine_calls(CONFINE_COMPUTE, e);
    if (rc == ERR_OK)
        rc = open_program(p, o->program, &facts, e);
    if (rc != ERR_OK)
        return rc;
    rc = read_all("input.json", input, &text, &len, e);
    if (rc != ERR_OK)
        return rc;
    rc = input_parse("input.json", text, len, facts.prime, &in, e);
    explicit_bzero(text, len);
    free(text);
    if (rc != ERR_OK)
        return rc;
    rc = program_feed(p, &facts, "input.json", &in, e);
    input_wipe(&in);
    return rc == ERR_OK ? program_write(p, &facts, output, e) : rc;
}

static enum err_code exec_native(const struct options *o, int input, int output, struct err *e)
{
    char *const argv[] = {(char *)o->program, (char *)o->input, (char *)o->output, NULL};
    char *const envp[] = {NULL};
    confine_files(o->program, input, output);
    enum err_code rc = confine_calls(CONFINE_NATIVE, e);
    if (rc != ERR_OK)
        return rc;
    execve(o->program, argv, envp);
    return err_set(e, ERR_IO, "%s: cannot be run: %s", o->program, strerror(errno));
}

static enum err_code make_witness(const struct options *o, struct err *e)
{
    enum err_code rc = confine_process(&o->limits, e);
    if (rc != ERR_OK)
        return rc;
    int input = open(o->input, O_RDONLY | O_CLOEXEC);
    if (input < 0)
        return err_set(e, ERR_IO, "%s: %s", o->input, strerror(errno));
    int output = open(o->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (output < 0)
        return err_set(e, ERR_IO, "%s: %s", o->output, strerror(errno));
    return is_shared_object(o->program) ? compute(o, input, output, e)
                                        : exec_native(o, input, output, e);
}

int main(int argc, char **argv)
{
    struct options o;
    struct err e = {0};
    enum err_code rc = parse(argc, argv, &o, &e);
    if (rc == ERR_OK)
        rc = o.describe ? describe(&o, &e) : make_witness(&o, &e);
    if (rc != ERR_OK)
        fprintf(stderr, "millrace-wasm: %s\n", e.text);
    return (int)rc;
}
