/* The dashboard's three files, compiled in. They hold no data; what the page shows comes from
 * /events, with the caller's token where there are tokens. */
#include "page_data.h"
#include "routes.h"

static void serve(struct request *r, const char *type, const unsigned char *data, size_t n)
{
    reply_static(r, type, data, n);
    /* Nothing from elsewhere, no frame around it, no inline script. */
    reply_header(r, "Content-Security-Policy",
                 "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
                 "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
}

void page_index(struct request *r)
{
    serve(r, "text/html; charset=utf-8", page_index_html, page_index_html_bytes);
}

void page_style(struct request *r)
{
    serve(r, "text/css; charset=utf-8", page_page_css, page_page_css_bytes);
}

void page_script(struct request *r)
{
    serve(r, "text/javascript; charset=utf-8", page_page_js, page_page_js_bytes);
}
