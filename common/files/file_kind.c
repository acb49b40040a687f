/* What a file is, by its first bytes. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "inspect.h"
#include "proof_bytes.h"

enum { MAX_JSON_BYTES = 1 << 30 };

struct beginning { /* of a file */
    unsigned char bytes[1024];
    size_t n;
    uint64_t size;
};

static const struct {
    enum file_kind kind;
    const char *magic, *word, *tag;
} kinds[] = {
    {FILE_ZKEY, "zkey", "proving key (.zkey)", "zkey"},
    {FILE_WTNS, "wtns", "witness (.wtns)", "wtns"},
    {FILE_R1CS, "r1cs", "constraint system (.r1cs)", "r1cs"},
    {FILE_PTAU, "ptau", "powers of tau (.ptau)", "ptau"},
    {FILE_PREPARED, "MRPC", "prepared circuit", "prepared"},
    {FILE_PCE, "PCE\2", "pre-compiled circuit (PCE)", "pce"},
    {FILE_FR1C, "FR1C", "constraint system (r1cs.bin)", "r1cs-bin"},
    {FILE_PARAMS, NULL, "Groth16 parameters (.params)", "params"},
    {FILE_VK_BYTES, NULL, "verification key (.vk)", "vk"},
    {FILE_PROOF_BYTES, NULL, "proofs of 192 bytes", "proof-bytes"},
    {FILE_WASM, "\0asm", "WebAssembly module (a circuit's witness program, perhaps)", "wasm"},
    {FILE_VK_JSON, NULL, "verification key", "verification-key"},
    {FILE_PROOF_JSON, NULL, "proof", "proof"},
    {FILE_PUBLIC_JSON, NULL, "public values", "public"},
    {FILE_OTHER_JSON, NULL, "JSON (a circuit's input, perhaps)", "json"},
};

const char *file_kind_word(enum file_kind k)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].kind == k)
            return kinds[i].word;
    return "unknown";
}

const char *file_kind_tag(enum file_kind k)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].kind == k)
            return kinds[i].tag;
    return "unknown";
}

static enum file_kind json_kind(const json_t *json)
{
    if (json_is_object(json) && json_object_get(json, "pi_a"))
        return FILE_PROOF_JSON;
    if (json_is_object(json) && json_object_get(json, "IC"))
        return FILE_VK_JSON;
    if (json_is_array(json)) {
        bool strings = true;
        for (size_t i = 0; i < json_array_size(json); i++)
            strings = strings && json_is_string(json_array_get(json, i));
        if (strings)
            return FILE_PUBLIC_JSON;
    }
    return FILE_OTHER_JSON;
}

static enum err_code first_bytes(const char *path, struct beginning *b, struct err *e)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return err_set(e, ERR_IO, "%s: cannot open: %s", path, strerror(errno));
    struct stat st;
    ssize_t got = fstat(fd, &st) == 0 ? pread(fd, b->bytes, sizeof b->bytes, 0) : -1;
    int why = errno;
    close(fd);
    if (got < 0)
        return err_set(e, ERR_IO, "%s: cannot read: %s", path, strerror(why));
    b->n = (size_t)got;
    b->size = (uint64_t)st.st_size;
    return ERR_OK;
}

static uint32_t big_endian(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* bellperson's files have no magic: what they are is told by the flags of their first points and
 * by counts that fit the size. No JSON passes for one. */
static enum file_kind bellperson_kind(const struct beginning *b)
{
    enum { FLAGS = 0xe0, COMPRESSED = 0x80, COUNT_AT = 864, POINT = 96 };
    const unsigned char *p = b->bytes;
    if (b->n >= PROOF_BYTES && b->size % PROOF_BYTES == 0 && p[0] & COMPRESSED &&
        p[48] & COMPRESSED && p[144] & COMPRESSED)
        return FILE_PROOF_BYTES;
    if (b->n < COUNT_AT + 4 || p[0] & FLAGS || p[96] & FLAGS || p[192] & FLAGS)
        return FILE_UNKNOWN;
    uint64_t vk_bytes = COUNT_AT + 4 + (uint64_t)POINT * big_endian(p + COUNT_AT);
    return b->size == vk_bytes ? FILE_VK_BYTES : b->size > vk_bytes ? FILE_PARAMS : FILE_UNKNOWN;
}

enum err_code file_kind_of(const char *path, enum file_kind *out, struct err *e)
{
    struct beginning b = {0};
    enum err_code code = first_bytes(path, &b, e);
    if (code)
        return code;
    const unsigned char *head = b.bytes;
    *out = FILE_UNKNOWN;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && b.n >= 4; i++)
        if (kinds[i].magic && !memcmp(head, kinds[i].magic, 4))
            *out = kinds[i].kind;
    if (*out == FILE_UNKNOWN)
        *out = bellperson_kind(&b);
    size_t blank = 0;
    while (blank < b.n && head[blank] && strchr(" \t\r\n", head[blank]))
        blank++;
    if (*out != FILE_UNKNOWN || blank == b.n || !head[blank] ||
        !strchr("{[n\"-0123456789", head[blank]))
        return ERR_OK;
    json_t *json = json_read(path, MAX_JSON_BYTES, JSON_KEEP_BIG_INTEGERS, NULL);
    if (json)
        *out = json_kind(json);
    json_decref(json);
    return ERR_OK;
}
