/* The viewer's page: alone, as the local server hands it out, or with its
 * engine and its recordings inside (format_html). */
#ifndef PYROMETER_FORMAT_HTML_H
#define PYROMETER_FORMAT_HTML_H

#include <stdbool.h>

#include "base/buffer.h"

/* Append the page that asks the server it came from. */
void html_add_page(struct buffer *out);

/* Append its Content-Security-Policy: nothing but its own script and style
 * runs, and nothing is asked of anybody, except of the server when there is
 * one. */
void html_add_policy(struct buffer *out, bool server);

#endif
