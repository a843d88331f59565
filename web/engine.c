/* The engine inside a page: src/analyze/engine.h for JavaScript.
 *
 * The page puts a recording or a request into memory that it gets here, and
 * reads the answer where this says it is. There is one engine, made when the
 * first recording is opened, and one answer, valid until the next request. */
#include <stdlib.h>

#include "analyze/engine.h"
#include "base/alloc.h"

#define EXPORT(name) __attribute__((export_name(name)))

static struct engine *engine;
static struct buffer answer;

EXPORT("alloc") void *web_alloc(size_t size);
EXPORT("release") void web_release(void *p);
EXPORT("open") int web_open(const void *data, size_t size, const char *name);
EXPORT("ask") const void *web_ask(const char *request);
EXPORT("answer") const void *web_answer(void);
EXPORT("size") size_t web_size(void);

void *web_alloc(size_t size)
{
	return xmalloc(size);
}

void web_release(void *p)
{
	free(p);
}

/* Add a recording, whose bytes stay where they are. On failure, the answer is
 * the sentence that says why. */
int web_open(const void *data, size_t size, const char *name)
{
	struct error err = ERROR_INIT;
	struct reader *reader;
	int status = reader_open_memory(&reader, data, size, &err);

	if (!engine)
		engine = engine_new(ENGINE_BUDGET);
	if (!status)
		status = engine_add(engine, reader, name, &err);
	buffer_reset(&answer);
	buffer_add_string(&answer, err.text);
	return status;
}

/* Answer a request; web_size() says how long the answer is. */
const void *web_ask(const char *request)
{
	buffer_reset(&answer);
	engine_answer(engine, request, &answer);
	return answer.data;
}

/* The last answer, or what went wrong in web_open(). */
const void *web_answer(void)
{
	return answer.data;
}

size_t web_size(void)
{
	return answer.size;
}
