/* debuginfod: loaded when it is wanted, so that nobody else needs libcurl and
 * what comes with it. */
#include <dlfcn.h>
#include <stdlib.h>

#include "elf/debugfile.h"

#define SONAME "libdebuginfod.so.1"

struct debuginfod_client;

struct client {
	void *library;
	struct debuginfod_client *(*begin)(void);
	int (*find)(struct debuginfod_client *, const unsigned char *id,
		    int size, char **path);
	void (*end)(struct debuginfod_client *);
};

static bool load(struct client *c)
{
	c->library = dlopen(SONAME, RTLD_NOW | RTLD_LOCAL);
	if (!c->library)
		return false;
	*(void **)&c->begin = dlsym(c->library, "debuginfod_begin");
	*(void **)&c->find = dlsym(c->library, "debuginfod_find_debuginfo");
	*(void **)&c->end = dlsym(c->library, "debuginfod_end");
	return c->begin && c->find && c->end;
}

bool debugfile_may_download(void)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	return urls && urls[0];
}

bool debugfile_has_client(void)
{
	struct client c = { 0 };

	return load(&c);
}

/* The library stays loaded: libcurl does not like to be unloaded. */
int debugfile_download(const char *build_id)
{
	struct debuginfod_client *session;
	struct client c = { 0 };
	int fd = -1;

	if (!debugfile_may_download() || !build_id[0] || !load(&c))
		return -1;
	session = c.begin();
	if (session) {
		fd = c.find(session, (const unsigned char *)build_id, 0, NULL);
		c.end(session);
	}
	return fd;
}
