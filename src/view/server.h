/* The local server of the viewer: the page, and the engine's answers.
 *
 * Whoever can reach it could read the recording, source text included, so: it
 * listens on the loopback address only, every request must carry the random
 * token that is part of the address it gives out, and requests that a browser
 * makes for another site (a foreign Host, by DNS rebinding; a foreign Origin)
 * are refused. Nothing can be changed through it. */
#ifndef PYROMETER_VIEW_SERVER_H
#define PYROMETER_VIEW_SERVER_H

#include <stdint.h>

#include "analyze/engine.h"
#include "base/error.h"

struct server;

/* Serve the engine, from a thread of its own, until server_stop. Port 0: any.
 * The engine must not be used otherwise meanwhile. */
int server_start(struct server **out, struct engine *engine, uint16_t port,
		 struct error *err);
/* "http://127.0.0.1:PORT/TOKEN/"; valid until server_stop. */
const char *server_address(const struct server *s);
void server_stop(struct server *s); /* NULL-safe */

#endif
