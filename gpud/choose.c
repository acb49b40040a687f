/* choose: the backend that was asked for, or the best that can be had here. */
#include <string.h>

#include "gpud.h"
#include "log.h"

static enum err_code open_cpu(struct gpud *g, struct err *e)
{
    g->ops = &backend_cpu;
    return g->ops->open(&g->backend, 0, 0, g->settings.threads, e);
}

static enum err_code open_cuda(struct gpud *g, struct err *e)
{
#ifdef MILLRACE_CUDA
    g->ops = &backend_cuda;
    return g->ops->open(&g->backend, (int)g->options.device, g->settings.memory_bytes,
                        g->settings.threads, e);
#else
    (void)g;
    return err_set(e, ERR_UNSUPPORTED, "this gpud was built without the CUDA backend");
#endif
}

enum err_code choose_backend(struct gpud *g, struct err *e)
{
    const char *asked = g->options.backend;
    enum err_code rc;
    if (asked != NULL && strcmp(asked, "cpu") == 0) {
        rc = open_cpu(g, e);
    } else {
        rc = open_cuda(g, e);
        if (rc != ERR_OK && asked == NULL) {
            log_warn("no-cuda", NULL, "reason=%s instead=%s", e->text, "cpu");
            rc = open_cpu(g, e);
        }
    }
    if (rc != ERR_OK)
        return rc;
    g->ops->caps(g->backend, &g->caps);
    if (g->caps.max_in_flight > FLIGHTS_MAX)
        g->caps.max_in_flight = FLIGHTS_MAX;
    INVARIANT(g->caps.max_in_flight >= 1);
    log_info("backend", NULL, "backend=%s device=%s in_flight=%u memory_bytes=%llu", g->caps.name,
             g->caps.device, g->caps.max_in_flight, (unsigned long long)g->caps.memory_bytes);
    return ERR_OK;
}
