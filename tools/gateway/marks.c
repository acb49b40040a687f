#include "marks.h"
#include <string.h>

bool marks_begin(struct marks *m, const char *content_type)
{
    const char *at = strcasestr(content_type, "boundary=");
    *m = (struct marks){.mark = "\n--"};
    if (!at)
        return false;
    at += strlen("boundary=");
    bool quoted = *at == '"';
    at += quoted;
    size_t n = strcspn(at, quoted ? "\"" : "; \t");
    if (n == 0 || n > 70)
        return false;
    memcpy(m->mark + 3, at, n);
    m->n = n + 3;
    /* back[i]: how much of the mark's begin stands at the end of its first i bytes. */
    for (size_t i = 1, k = 0; i < m->n; i++) {
        while (k && m->mark[i] != m->mark[k])
            k = m->back[k];
        k += m->mark[i] == m->mark[k];
        m->back[i + 1] = (unsigned char)k;
    }
    m->matched = 1; /* the first boundary may stand at the very begin */
    return true;
}

void marks_take(struct marks *m, const char *data, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        while (m->matched && m->mark[m->matched] != data[i])
            m->matched = m->back[m->matched];
        m->matched += m->mark[m->matched] == data[i];
        if (m->matched == m->n) {
            m->count++;
            m->matched = m->back[m->n];
        }
    }
}
