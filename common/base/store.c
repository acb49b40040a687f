#include "store.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void digest_to_hex(const uint8_t digest[DIGEST_BYTES], char hex[DIGEST_HEX + 1])
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < DIGEST_BYTES; i++) {
        hex[2 * i] = digits[digest[i] >> 4];
        hex[2 * i + 1] = digits[digest[i] & 15];
    }
    hex[DIGEST_HEX] = '\0';
}

static int nibble(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool digest_from_hex(uint8_t digest[DIGEST_BYTES], const char *hex)
{
    if (strnlen(hex, DIGEST_HEX + 1) != DIGEST_HEX)
        return false;
    for (size_t i = 0; i < DIGEST_BYTES; i++) {
        int high = nibble(hex[2 * i]), low = nibble(hex[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        digest[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

static const char *name_of(const uint8_t digest[DIGEST_BYTES], const char *ending,
                           char out[STORE_NAME_MAX])
{
    char hex[DIGEST_HEX + 1];
    digest_to_hex(digest, hex);
    snprintf(out, STORE_NAME_MAX, "store/%s.%s", hex, ending);
    return out;
}

const char *store_circuit_name(const uint8_t digest[DIGEST_BYTES], char out[STORE_NAME_MAX])
{
    return name_of(digest, "circuit", out);
}

const char *store_program_name(const uint8_t digest[DIGEST_BYTES], char out[STORE_NAME_MAX])
{
    return name_of(digest, "program", out);
}

static int append_stat(char *out, size_t room, const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return -1;
    return snprintf(out, room, "%llx-%llx-%llx-%llx.%lx-%llx.%lx", (unsigned long long)st.st_dev,
                    (unsigned long long)st.st_ino, (unsigned long long)st.st_size,
                    (unsigned long long)st.st_mtim.tv_sec, (unsigned long)st.st_mtim.tv_nsec,
                    (unsigned long long)st.st_ctim.tv_sec, (unsigned long)st.st_ctim.tv_nsec);
}

enum err_code store_source_id(const char *key_path, const char *r1cs_path, char out[STORE_NAME_MAX],
                              struct err *e)
{
    int n = append_stat(out, STORE_NAME_MAX, key_path);
    if (n < 0)
        return err_set(e, ERR_IO, "%s: %s", key_path, strerror(errno));
    if (!r1cs_path)
        return ERR_OK;
    out[n++] = '+';
    if (append_stat(out + n, STORE_NAME_MAX - (size_t)n, r1cs_path) < 0)
        return err_set(e, ERR_IO, "%s: %s", r1cs_path, strerror(errno));
    return ERR_OK;
}

static void source_path(const char *id, char out[2 * STORE_NAME_MAX])
{
    snprintf(out, 2 * STORE_NAME_MAX, "store/sources/%s", id);
}

bool store_find_source(int dir_fd, const char *key_path, const char *r1cs_path,
                       uint8_t digest[DIGEST_BYTES])
{
    char id[STORE_NAME_MAX], link[2 * STORE_NAME_MAX], target[DIGEST_HEX + 1], name[STORE_NAME_MAX];
    if (store_source_id(key_path, r1cs_path, id, NULL) != ERR_OK)
        return false;
    source_path(id, link);
    ssize_t n = readlinkat(dir_fd, link, target, sizeof target - 1);
    if (n != DIGEST_HEX)
        return false;
    target[n] = '\0';
    return digest_from_hex(digest, target) &&
           faccessat(dir_fd, store_circuit_name(digest, name), R_OK, 0) == 0;
}

/* A symbolic link that appears complete or not at all, and replaces what had its name. */
static enum err_code link_into_place(int dir_fd, const char *target, const char *link,
                                     struct err *e)
{
    char beside[2 * STORE_NAME_MAX + 32];
    snprintf(beside, sizeof beside, "%s.%ld.new", link, (long)getpid());
    unlinkat(dir_fd, beside, 0);
    if (symlinkat(target, dir_fd, beside) != 0)
        return err_set(e, ERR_IO, "%s: %s", beside, strerror(errno));
    if (renameat(dir_fd, beside, dir_fd, link) != 0) {
        int why = errno;
        unlinkat(dir_fd, beside, 0);
        return err_set(e, ERR_IO, "%s: %s", link, strerror(why));
    }
    return ERR_OK;
}

enum err_code store_add_source(int dir_fd, const char *source_id,
                               const uint8_t digest[DIGEST_BYTES], struct err *e)
{
    char link[2 * STORE_NAME_MAX], hex[DIGEST_HEX + 1];
    if (mkdirat(dir_fd, "store/sources", 0700) != 0 && errno != EEXIST)
        return err_set(e, ERR_IO, "store/sources: %s", strerror(errno));
    source_path(source_id, link);
    digest_to_hex(digest, hex);
    return link_into_place(dir_fd, hex, link, e);
}

enum err_code store_set_program(int dir_fd, const uint8_t digest[DIGEST_BYTES],
                                const char *program_file, struct err *e)
{
    char link[STORE_NAME_MAX], target[512];
    const char *base = strrchr(program_file, '/');
    base = base ? base + 1 : program_file;
    if ((size_t)snprintf(target, sizeof target, "programs/%s", base) >= sizeof target)
        return err_set(e, ERR_USAGE, "%s: the program's name is too long", program_file);
    return link_into_place(dir_fd, target, store_program_name(digest, link), e);
}

enum err_code store_remove(int dir_fd, const uint8_t digest[DIGEST_BYTES], struct err *e)
{
    char name[STORE_NAME_MAX], hex[DIGEST_HEX + 1];
    if (unlinkat(dir_fd, store_program_name(digest, name), 0) != 0 && errno != ENOENT)
        return err_set(e, ERR_IO, "%s: %s", name, strerror(errno));
    digest_to_hex(digest, hex);
    int fd = openat(dir_fd, "store/sources", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *sources = fd >= 0 ? fdopendir(fd) : NULL;
    for (struct dirent *d; sources && (d = readdir(sources));) {
        char target[DIGEST_HEX + 1] = {0};
        if (readlinkat(fd, d->d_name, target, DIGEST_HEX) == DIGEST_HEX && !strcmp(target, hex))
            unlinkat(fd, d->d_name, 0);
    }
    if (sources)
        closedir(sources);
    else if (fd >= 0)
        close(fd);
    if (unlinkat(dir_fd, store_circuit_name(digest, name), 0) != 0 && errno != ENOENT)
        return err_set(e, ERR_IO, "%s: %s", name, strerror(errno));
    return ERR_OK;
}
