/* Forgetting a circuit: the desk drops it, or says that open jobs use it; then its files go. The
 * library deletes them because it made them (circuit_add.c); a daemon that still maps the file
 * keeps what it maps. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>
#include "connection.h"
#include "store.h"

int client_store_lock(struct millrace *m, bool exclusive, struct millrace_error *e)
{
    int fd = openat(m->in.dir_fd, "store", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int rc = fd < 0 ? -1 : 0;
    while (fd >= 0 && (rc = flock(fd, exclusive ? LOCK_EX : LOCK_SH)) != 0 && errno == EINTR)
        ;
    if (rc == 0)
        return fd;
    client_error(e, ERR_IO, "%s/store: cannot be locked: %s", m->in.dir, strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}

/* The desk looks for an alias first, then for a digest; so does this. */
static int digest_of(struct millrace *m, const char *circuit, uint8_t digest[DIGEST_BYTES],
                     struct millrace_error *e)
{
    char *text = NULL;
    int rc = millrace_report(m, MILLRACE_CIRCUITS, 0, NULL, &text, e);
    if (rc)
        return rc;
    json_t *root = json_loads(text, 0, NULL), *o;
    free(text);
    const char *hex = NULL;
    size_t i;
    json_array_foreach(json_object_get(root, "circuits"), i, o)
    {
        const char *alias = json_string_value(json_object_get(o, "alias"));
        const char *name = json_string_value(json_object_get(o, "circuit"));
        if (name && alias && alias[0] && !strcmp(alias, circuit)) {
            hex = name;
            break;
        }
        if (name && !strcmp(name, circuit))
            hex = name;
    }
    bool found = hex && digest_from_hex(digest, hex);
    json_decref(root);
    return found
               ? 0
               : client_error(e, ERR_REFUSED, "there is no circuit '%s' in this instance", circuit);
}

int millrace_circuit_remove(struct millrace *m, const char *circuit, struct millrace_error *e)
{
    struct message q = {.kind = MSG_CIRCUIT_REMOVE};
    uint8_t digest[DIGEST_BYTES];
    int rc = client_name_circuit(q.circuit_remove.circuit, circuit, e);
    int lock = rc ? -1 : client_store_lock(m, true, e);
    if (rc || lock < 0)
        return rc ? rc : ERR_IO;
    rc = digest_of(m, circuit, digest, e);
    if (!rc) /* under the lock no addition moves the alias between the two questions */
        rc = client_ask_ok(m, &q, -1, e);
    struct err why = {0};
    if (!rc && store_remove(m->in.dir_fd, digest, &why))
        rc = client_fail(e, &why);
    close(lock);
    return rc;
}
