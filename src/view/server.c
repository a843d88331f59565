#include "view/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/alloc.h"
#include "format/html.h"

#define TOKEN_BYTES   16
#define IDLE_SECONDS  60 /* then a connection is closed */
#define QUERY_PATH    "q?"
#define MEMORY_OF_ONE (128u << 10) /* bytes for one request's headers */

struct server {
	struct engine *engine;
	struct MHD_Daemon *daemon;
	uint16_t port;
	char token[2 * TOKEN_BYTES + 1];
	char *address;
	struct buffer page, policy;
};

/* How long it takes must not tell how much of it is right. */
static bool is_token(const struct server *s, const char *text)
{
	unsigned char difference = 0;

	for (size_t i = 0; i < sizeof(s->token) - 1; i++) {
		if (!text[i])
			return false;
		difference |= (unsigned char)(text[i] ^ s->token[i]);
	}
	return !difference;
}

/* "127.0.0.1:PORT" or "localhost:PORT", after `scheme`. */
static bool is_own(const struct server *s, const char *scheme, const char *text)
{
	static const char *const hosts[] = { "127.0.0.1", "localhost" };
	char own[64];

	for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
		snprintf(own, sizeof(own), "%s%s:%u", scheme, hosts[i],
			 s->port);
		if (!strcmp(own, text))
			return true;
	}
	return false;
}

/* Whether the page itself or the user's own navigation asks. */
static bool is_welcome(const struct server *s, struct MHD_Connection *c)
{
	const char *host = MHD_lookup_connection_value(c, MHD_HEADER_KIND,
						       MHD_HTTP_HEADER_HOST);
	const char *origin =
		MHD_lookup_connection_value(c, MHD_HEADER_KIND,
					    MHD_HTTP_HEADER_ORIGIN);
	const char *site = MHD_lookup_connection_value(c, MHD_HEADER_KIND,
						       "Sec-Fetch-Site");

	if (!host || !is_own(s, "", host))
		return false;
	if (origin && !is_own(s, "http://", origin))
		return false;
	return !site || !strcmp(site, "same-origin") || !strcmp(site, "none");
}

static void add_headers(const struct server *s, struct MHD_Response *response,
			const char *type)
{
	const char *const headers[][2] = {
		{ MHD_HTTP_HEADER_CONTENT_TYPE, type },
		{ "Content-Security-Policy", (const char *)s->policy.data },
		{ MHD_HTTP_HEADER_CACHE_CONTROL, "no-store" },
		{ "X-Content-Type-Options", "nosniff" },
		{ "X-Frame-Options", "DENY" },
		{ "Referrer-Policy", "no-referrer" },
		{ "Cross-Origin-Resource-Policy", "same-origin" },
		{ "Cross-Origin-Opener-Policy", "same-origin" },
	};

	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
		MHD_add_response_header(response, headers[i][0], headers[i][1]);
}

static enum MHD_Result reply(const struct server *s, struct MHD_Connection *c,
			     unsigned status, const char *type,
			     const struct buffer *body)
{
	struct MHD_Response *response =
		MHD_create_response_from_buffer(body->size, body->data,
						MHD_RESPMEM_MUST_COPY);
	enum MHD_Result result;

	if (!response)
		return MHD_NO;
	add_headers(s, response, type);
	result = MHD_queue_response(c, status, response);
	MHD_destroy_response(response);
	return result;
}

static enum MHD_Result refuse(const struct server *s, struct MHD_Connection *c,
			      unsigned status, const char *text)
{
	struct buffer body = BUFFER_INIT;
	enum MHD_Result result;

	buffer_add_string(&body, text);
	result = reply(s, c, status, "text/plain; charset=utf-8", &body);
	buffer_release(&body);
	return result;
}

static enum MHD_Result answer(struct server *s, struct MHD_Connection *c,
			      const char *request)
{
	struct buffer body = BUFFER_INIT;
	enum MHD_Result result;

	engine_answer(s->engine, request, &body);
	result = reply(s, c, MHD_HTTP_OK, "application/json; charset=utf-8",
		       &body);
	buffer_release(&body);
	return result;
}

/* `uri` is what was asked for, as remember_uri kept it: "/TOKEN/q?view=top". */
static enum MHD_Result handle(void *context, struct MHD_Connection *c,
			      const char *url, const char *method,
			      const char *version, const char *upload,
			      size_t *upload_size, void **uri)
{
	struct server *s = context;
	const char *asked = *uri, *rest;

	if (!is_welcome(s, c))
		return refuse(s, c, MHD_HTTP_FORBIDDEN,
			      "This server answers only its own page.\n");
	if (strcmp(method, MHD_HTTP_METHOD_GET) &&
	    strcmp(method, MHD_HTTP_METHOD_HEAD))
		return refuse(s, c, MHD_HTTP_METHOD_NOT_ALLOWED,
			      "There is nothing to change here.\n");
	if (!asked || asked[0] != '/' || !is_token(s, asked + 1))
		return refuse(s, c, MHD_HTTP_FORBIDDEN,
			      "The address lacks its token; use the one that "
			      "pyrometer view printed.\n");
	rest = asked + 1 + strlen(s->token);
	if (!strcmp(rest, "/"))
		return reply(s, c, MHD_HTTP_OK, "text/html; charset=utf-8",
			     &s->page);
	if (!strncmp(rest, "/" QUERY_PATH, strlen("/" QUERY_PATH)))
		return answer(s, c, rest + strlen("/" QUERY_PATH));
	return refuse(s, c, MHD_HTTP_NOT_FOUND, "There is nothing here.\n");
}

/* The library hands out paths and arguments already taken apart; the engine
 * wants the query as it is. */
static void *remember_uri(void *context, const char *uri,
			  struct MHD_Connection *c)
{
	return xstrdup(uri);
}

static void forget_uri(void *context, struct MHD_Connection *c, void **uri,
		       enum MHD_RequestTerminationCode why)
{
	free(*uri);
	*uri = NULL;
}

static int make_token(struct server *s, struct error *err)
{
	unsigned char random[TOKEN_BYTES];

	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return fail(err, ERR_IO, "no random numbers: %s",
			    strerror(errno));
	for (size_t i = 0; i < sizeof(random); i++)
		snprintf(s->token + 2 * i, 3, "%02x", random[i]);
	return 0;
}

static int listen_on(struct server *s, uint16_t port, struct error *err)
{
	struct sockaddr_in loopback = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr = { htonl(INADDR_LOOPBACK) },
	};
	const union MHD_DaemonInfo *info;

	s->daemon =
		MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD, port, NULL,
				 NULL, handle, s, MHD_OPTION_SOCK_ADDR,
				 (struct sockaddr *)&loopback,
				 MHD_OPTION_URI_LOG_CALLBACK, remember_uri,
				 NULL, MHD_OPTION_NOTIFY_COMPLETED, forget_uri,
				 NULL, MHD_OPTION_CONNECTION_TIMEOUT,
				 (unsigned)IDLE_SECONDS,
				 MHD_OPTION_CONNECTION_MEMORY_LIMIT,
				 (size_t)MEMORY_OF_ONE, MHD_OPTION_END);
	if (!s->daemon)
		return fail(err, ERR_IO,
			    "cannot listen on 127.0.0.1 port %u: %s", port,
			    strerror(errno));
	info = MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_BIND_PORT);
	s->port = info ? info->port : port;
	s->address = xasprintf("http://127.0.0.1:%u/%s/", s->port, s->token);
	return 0;
}

int server_start(struct server **out, struct engine *engine, uint16_t port,
		 struct error *err)
{
	struct server *s = xcalloc(1, sizeof(*s));
	int status = make_token(s, err);

	s->engine = engine;
	html_add_page(&s->page);
	html_add_policy(&s->policy, true);
	if (!status)
		status = listen_on(s, port, err);
	if (status < 0) {
		server_stop(s);
		return status;
	}
	*out = s;
	return 0;
}

const char *server_address(const struct server *s)
{
	return s->address;
}

void server_stop(struct server *s)
{
	if (!s)
		return;
	if (s->daemon)
		MHD_stop_daemon(s->daemon);
	buffer_release(&s->page);
	buffer_release(&s->policy);
	free(s->address);
	free(s);
}
