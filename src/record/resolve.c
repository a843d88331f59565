/* A site may be in the middle of calls that the compiler inlined. Its frame
 * then becomes several: the function that has code of its own, and below it
 * each inlined one, the innermost last. So nodes get other numbers:
 *
 *   in the file       shown
 *   0 main.py:3       0 main.py:3
 *   1 0 > site 7      1 0 > sum (a.c:10)         no site
 *                     2 1 > add (a.c:4)          site 7
 *   2 0 > site 8      3 1 > mul (a.c:6)          site 8, also inlined into sum
 *
 * Only the innermost frame keeps the site. Those around it are looked for
 * before they are made, so that sites with the same surroundings share them.
 * Frames of the file keep their numbers, new ones follow.
 *
 * Parents stay before their children because nodes are made in the order of the
 * file. However many symbols a file promises, a node becomes at most
 * LIMIT_INLINED, and beyond LIMIT_NODES it remains one. */
#include "record/resolve.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/text.h"
#include "record/format.h"

#define LONGEST_BASE 255 /* of a file that an address is shown in */

struct resolver {
	struct resolved *out;
	struct tables *tables;
	struct map outer_frames; /* (function, line) to frame without a site */
	struct map outer_nodes;	 /* (parent, such a frame) to node */
};

static uint32_t add_function(struct tables *t, const struct function_info *f)
{
	ALLOC_GROW(t->functions, t->n_functions + 1, t->functions_capacity);
	t->functions[t->n_functions] = *f;
	return t->n_functions++;
}

/* A function for a site of which nothing but the address is known. */
static uint32_t made_up(struct resolver *r, const struct site_info *site)
{
	struct function_info f = { .file = "", .kind = site->kind };
	const char *base = site->kind == FUNCTION_KERNEL ? "[kernel]" : "";
	size_t room;
	char *name;

	f.module = "";
	if (site->module != ID_NONE) {
		f.module = r->tables->modules[site->module].path;
		base = path_base(f.module);
	}
	room = strnlen(base, LONGEST_BASE) + sizeof("+0x0123456789abcdef");
	f.name = name = arena_alloc(&r->out->arena, room);
	snprintf(name, room, "%.*s%s0x%" PRIx64, LONGEST_BASE, base,
		 *base ? "+" : "", site->address);
	return add_function(r->tables, &f);
}

/* Name the frame of a site by the innermost function there. */
static struct frame_info name_frame(struct resolver *r, struct frame_info frame)
{
	struct tables *t = r->tables;
	const struct site_symbols *s = &t->site_symbols[frame.site];

	if (!s->count) {
		frame.function = made_up(r, &t->sites[frame.site]);
		frame.line = 0;
		return frame;
	}
	frame.function = t->symbols[s->first].function;
	frame.line = t->symbols[s->first].line;
	return frame;
}

static uint32_t outer_frame(struct resolver *r, const struct site_symbol *s)
{
	struct resolved *out = r->out;
	uint32_t id = map_get(&r->outer_frames, s->function, s->line);

	if (id != MAP_NONE)
		return id;
	id = out->n_frames;
	map_put(&r->outer_frames, s->function, s->line, id);
	ALLOC_GROW(out->frames, (size_t)id + 1, out->frames_capacity);
	out->frames[out->n_frames++] =
		(struct frame_info){ s->function, s->line, ID_NONE };
	return id;
}

static uint32_t add_node(struct resolver *r, uint32_t parent, uint32_t frame)
{
	struct resolved *out = r->out;

	ALLOC_GROW(out->nodes, (size_t)out->n_nodes + 1, out->nodes_capacity);
	out->nodes[out->n_nodes] = (struct node_info){ parent, frame };
	return out->n_nodes++;
}

static uint32_t outer_node(struct resolver *r, uint32_t parent, uint32_t frame)
{
	uint32_t id = map_get(&r->outer_nodes, parent, frame);

	if (id != MAP_NONE)
		return id;
	id = add_node(r, parent, frame);
	map_put(&r->outer_nodes, parent, frame, id);
	return id;
}

static uint32_t resolve_node(struct resolver *r, struct node_info node)
{
	const struct tables *t = r->tables;
	uint32_t site = t->frames[node.frame].site;
	uint32_t parent = node.parent == ID_NONE
				  ? ID_NONE
				  : r->out->node_ids[node.parent];
	struct site_symbols s = { 0, 0 };

	if (site != ID_NONE && r->out->n_nodes < LIMIT_NODES)
		s = t->site_symbols[site];
	for (uint32_t i = s.count; i > 1; i--)
		parent = outer_node(r, parent,
				    outer_frame(r,
						&t->symbols[s.first + i - 1]));
	return add_node(r, parent, node.frame);
}

static void resolve_frames(struct resolver *r)
{
	struct resolved *out = r->out;
	uint32_t n = r->tables->n_frames;

	ALLOC_GROW(out->frames, n, out->frames_capacity);
	for (uint32_t i = 0; i < n; i++) {
		struct frame_info frame = r->tables->frames[i];

		out->frames[i] =
			frame.site == ID_NONE ? frame : name_frame(r, frame);
	}
	out->n_frames = n;
}

void resolve(struct resolved *out, struct tables *t)
{
	struct resolver r = { .out = out, .tables = t };

	if (!t->n_sites)
		return;
	out->own_functions = t->n_functions;
	resolve_frames(&r);
	out->node_ids = xcalloc(t->n_nodes, sizeof(*out->node_ids));
	for (uint32_t i = 0; i < t->n_nodes; i++)
		out->node_ids[i] = resolve_node(&r, t->nodes[i]);
	map_release(&r.outer_frames);
	map_release(&r.outer_nodes);
}

void unresolve(struct resolved *r, struct tables *t)
{
	if (resolved_any(r))
		t->n_functions = r->own_functions;
	resolved_release(r);
}

void resolved_release(struct resolved *r)
{
	free(r->frames);
	free(r->nodes);
	free(r->node_ids);
	arena_release(&r->arena);
	memset(r, 0, sizeof(*r));
}
