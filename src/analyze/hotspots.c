#include "analyze/hotspots.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/origin.h"
#include "base/alloc.h"
#include "base/map.h"

/* Below this share of samples with user's code, library code is what counts. */
#define LEAST_USER_SHARE 0.1

/* Whose a stack is: the innermost user's frame and its library call. */
struct owner {
	uint32_t function, line;
	uint32_t call; /* function; ID_NONE: none */
};

/* Samples of a function on a line, or within a call. */
struct part {
	uint32_t function, what;
	uint64_t samples;
};

struct parts {
	struct map by_key; /* (function, what) */
	struct part *parts;
	uint32_t n_parts, capacity;
};

struct counting {
	const struct spread *spread;
	bool *library;	       /* by function */
	struct owner *owners;  /* by node */
	struct hotspot *spots; /* by function */
	uint64_t *elsewhere;   /* by function: innermost, without user's code */
	uint64_t user, all;    /* samples */
	struct parts lines, calls;
};

static struct frame_info frame_of(const struct spread *s, uint32_t node)
{
	return reader_frame(s->reader, reader_node(s->reader, node).frame);
}

static struct owner find_owner(struct counting *c, uint32_t node)
{
	struct frame_info frame = frame_of(c->spread, node);
	uint32_t parent = reader_node(c->spread->reader, node).parent;
	struct owner owner = { ID_NONE, 0, ID_NONE };

	if (!c->library[frame.function])
		return (struct owner){ frame.function, frame.line, ID_NONE };
	if (parent != ID_NONE)
		owner = c->owners[parent];
	if (owner.function != ID_NONE && owner.call == ID_NONE)
		owner.call = frame.function;
	return owner;
}

static void count_part(struct parts *p, uint32_t function, uint32_t what,
		       uint64_t samples)
{
	uint32_t i = map_get(&p->by_key, function, what);

	if (i == MAP_NONE) {
		i = p->n_parts++;
		ALLOC_GROW(p->parts, p->n_parts, p->capacity);
		p->parts[i] = (struct part){ function, what, 0 };
		map_put(&p->by_key, function, what, i);
	}
	p->parts[i].samples += samples;
}

static void release_parts(struct parts *p)
{
	free(p->parts);
	map_release(&p->by_key);
}

static void count_node(struct counting *c, uint32_t node)
{
	uint64_t samples = c->spread->self[node];
	struct owner owner = find_owner(c, node);

	c->owners[node] = owner;
	c->all += samples;
	if (!samples)
		return;
	if (owner.function == ID_NONE) {
		c->elsewhere[frame_of(c->spread, node).function] += samples;
		return;
	}
	c->user += samples;
	c->spots[owner.function].samples += samples;
	count_part(&c->lines, owner.function, owner.line, samples);
	if (owner.call != ID_NONE)
		count_part(&c->calls, owner.function, owner.call, samples);
}

static int heaviest_first(const void *a, const void *b)
{
	const struct hotspot *x = a, *y = b;

	if (x->samples != y->samples)
		return x->samples < y->samples ? 1 : -1;
	return x->function < y->function ? -1 : 1;
}

/* For each function, its heaviest line and its heaviest call. */
static void choose_parts(struct counting *c)
{
	for (uint32_t i = 0; i < c->lines.n_parts; i++) {
		const struct part *p = &c->lines.parts[i];
		struct hotspot *spot = &c->spots[p->function];

		if (p->samples > spot->line_samples) {
			spot->line = p->what;
			spot->line_samples = p->samples;
		}
	}
	for (uint32_t i = 0; i < c->calls.n_parts; i++) {
		const struct part *p = &c->calls.parts[i];
		struct hotspot *spot = &c->spots[p->function];

		if (p->samples > spot->call_samples) {
			spot->call = p->what;
			spot->call_samples = p->samples;
		}
	}
}

/* Decide what becomes of the samples without user's code. */
static void place_elsewhere(struct hotspots *out, struct counting *c,
			    uint32_t n)
{
	bool apart = (double)c->user >= LEAST_USER_SHARE * (double)c->all;
	uint64_t most = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (!apart)
			c->spots[i].samples += c->elsewhere[i];
		if (apart && c->elsewhere[i] > most) {
			most = c->elsewhere[i];
			out->elsewhere_in = i;
		}
	}
	out->elsewhere_in_samples = most;
	if (apart)
		out->elsewhere = c->all - c->user;
}

static void collect(struct hotspots *out, struct counting *c, uint32_t n,
		    struct arena *arena)
{
	*out = (struct hotspots){ .elsewhere_in = ID_NONE };
	place_elsewhere(out, c, n);
	out->spots = arena_calloc(arena, (size_t)n + 1, sizeof(*out->spots));
	for (uint32_t i = 0; i < n; i++) {
		out->samples += c->spots[i].samples;
		if (c->spots[i].samples)
			out->spots[out->n_spots++] = c->spots[i];
	}
	qsort(out->spots, out->n_spots, sizeof(*out->spots), heaviest_first);
}

void hotspots_count(struct hotspots *out, const struct spread *s,
		    struct arena *arena)
{
	uint32_t n = reader_functions(s->reader);
	struct counting c = {
		.spread = s,
		.library = xcalloc(n, sizeof(*c.library)),
		.owners = xcalloc(reader_nodes(s->reader), sizeof(*c.owners)),
		.spots = xcalloc(n, sizeof(*c.spots)),
		.elsewhere = xcalloc(n, sizeof(*c.elsewhere)),
	};

	for (uint32_t i = 0; i < n; i++) {
		c.library[i] = origin_is_library(reader_function(s->reader, i));
		c.spots[i].function = i;
		c.spots[i].call = ID_NONE;
	}
	for (uint32_t i = s->n_nodes; i-- > 0;)
		count_node(&c, s->nodes[i]);
	choose_parts(&c);
	collect(out, &c, n, arena);
	free(c.library);
	free(c.owners);
	free(c.spots);
	free(c.elsewhere);
	release_parts(&c.lines);
	release_parts(&c.calls);
}
