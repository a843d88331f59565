/* A flame graph: one SVG file that needs nothing else, to be opened in any
 * browser, mailed, or shown as a picture.
 *
 * Callers are above what they call, the widest to the left. Places and widths
 * are percentages, so that the picture is as wide as its window; the script
 * (flamegraph.js) only moves what is there. Frames too narrow to be seen are
 * left out, and more of them when there would be too many for a browser. Names
 * are hostile: they are written as escaped text and nothing else. */
#include "format/format.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/origin.h"
#include "base/alloc.h"
#include "base/text.h"
#include "base/unicode.h"
#include "format/boxes.h"
#include "format/flamegraph_page.h"
#include "format/function_tree.h"
#include "format/label.h"

#define WIDTH	   1200	 /* px, where no script sets another */
#define ROW	   20	 /* px from one frame to what it calls */
#define HEAD	   76	 /* px above the first frame */
#define LETTER	   7.25	 /* px, about, of the monospaced font */
#define PADDING	   4	 /* px between the edge of a frame and its text */
#define THIN	   3	 /* px: narrower frames have no line around them */
#define NARROWEST  0.1	 /* px: what is narrower is left out */
#define BOXES_MAX  20000 /* that a browser moves smoothly */
#define ROWS_MAX   2000
#define SHADES	   8  /* in flamegraph.css */
#define TITLE_ROOM 80 /* letters */

struct flamegraph {
	struct profile *profile;
	struct function_tree tree;
	struct boxes boxes;
	struct sink *sink;
	struct buffer name; /* of the box at hand */
	size_t base;	    /* see origin_base() */
};

/* Text as XML: no markup, no characters that XML or a reader's eye forbids. */
static void add_xml(struct buffer *out, const char *s)
{
	size_t n = strlen(s), size;
	uint32_t c;

	for (; n; s += size, n -= size) {
		size = unicode_decode(s, n, &c);
		if (c == UNICODE_BAD || unicode_is_control(c) ||
		    (c & 0xfffe) == 0xfffe)
			buffer_add_string(out, UNICODE_BAD_UTF8);
		else if (c < 0x80 && strchr("&<>\"'", (int)c))
			buffer_printf(out, "&#%u;", c);
		else
			buffer_add(out, s, size);
	}
}

static uint32_t hash(const char *s)
{
	uint32_t h = 2166136261u;

	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 16777619u;
	return h ^ (h >> 15);
}

/* Own functions differ by name; of libraries each package has its shade, of
 * native code each library. */
static void add_class(struct flamegraph *g, uint32_t node, struct buffer *out)
{
	const struct function_info *f = function_tree_function(&g->tree, node);
	struct buffer package = BUFFER_INIT;

	if (!f || f->kind == FUNCTION_MARK) {
		buffer_add_string(out, "other");
	} else if (f->kind == FUNCTION_KERNEL) {
		buffer_add_string(out, "kernel");
	} else if (f->kind == FUNCTION_NATIVE) {
		buffer_printf(out, "%s%u",
			      origin_is_library(f) ? "native" : "fast",
			      hash(f->module) % SHADES);
	} else if (origin_is_library(f)) {
		origin_package(f, &package);
		buffer_printf(out, "lib%u",
			      hash(buffer_text(&package)) % SHADES);
	} else {
		buffer_printf(out, "own%u", hash(f->name) % SHADES);
	}
	buffer_release(&package);
}

static double percent(const struct flamegraph *g, uint64_t samples)
{
	uint64_t all = g->tree.nodes[0].total;

	return all ? (double)samples * 100 / (double)all : 0;
}

/* What is shown of a box, three lines: name, place, cost. */
static void add_title(struct flamegraph *g, uint32_t node)
{
	const struct function_info *f = function_tree_function(&g->tree, node);
	const struct tree_node *n = &g->tree.nodes[node];
	struct buffer *out = &g->sink->out;

	add_xml(out, buffer_text(&g->name));
	buffer_add_byte(out, '\n');
	if (f) {
		add_xml(out, *f->file ? origin_short_file(f, g->base)
				      : origin_short_module(f->module));
		if (f->line)
			buffer_printf(out, ":%u", f->line);
	}
	buffer_add_byte(out, '\n');
	text_add_seconds(out,
			 (double)n->total * g->profile->seconds_per_sample);
	buffer_printf(out, ", %.2f%% (", percent(g, n->total));
	text_add_count(out, n->total);
	buffer_printf(out, " sample%s)", n->total == 1 ? "" : "s");
	if (n->self && n->self != n->total)
		buffer_printf(out, ", %.2f%% in itself", percent(g, n->self));
}

static double pixels(const struct flamegraph *g, const struct box *box)
{
	return percent(g, g->tree.nodes[box->node].total) * WIDTH / 100;
}

static void add_box(struct flamegraph *g, const struct box *box)
{
	struct buffer *out = &g->sink->out;

	buffer_add_string(out, "<rect class=\"");
	add_class(g, box->node, out);
	if (pixels(g, box) < THIN)
		buffer_add_string(out, " thin");
	buffer_printf(out,
		      "\" x=\"%.9g%%\" y=\"%u\" width=\"%.9g%%\" "
		      "height=\"%d\"><title>",
		      percent(g, box->start), HEAD + box->row * ROW,
		      percent(g, g->tree.nodes[box->node].total), ROW - 1);
	add_title(g, box->node);
	buffer_add_string(out, "</title></rect>\n");
}

/* The name on a box that is wide enough for some of it. */
static void add_text(struct flamegraph *g, const struct box *box,
		     uint32_t number)
{
	const struct function_info *f =
		function_tree_function(&g->tree, box->node);
	bool own = f && f->kind != FUNCTION_MARK && !origin_is_library(f);
	int room = (int)((pixels(g, box) - 2 * PADDING) / LETTER);
	struct buffer cut = BUFFER_INIT;

	if (room < 3)
		return;
	text_add_cut(&cut, buffer_text(&g->name), room, false);
	buffer_printf(&g->sink->out,
		      "<text data-of=\"%u\"%s x=\"%.9g%%\" y=\"%u\" "
		      "dx=\"%d\">",
		      number, own ? "" : " class=\"pale\"",
		      percent(g, box->start), HEAD + box->row * ROW + 14,
		      PADDING);
	add_xml(&g->sink->out, buffer_text(&cut));
	buffer_add_string(&g->sink->out, "</text>\n");
	buffer_release(&cut);
}

static int add_frames(struct flamegraph *g)
{
	int status = 0;

	buffer_add_string(&g->sink->out, "<g id=\"frames\">\n");
	for (uint32_t i = 0; i < g->boxes.count && !status; i++) {
		const struct box *box = &g->boxes.items[i];

		buffer_reset(&g->name);
		function_tree_add_name(&g->tree, box->node, &g->name);
		add_box(g, box);
		add_text(g, box, i);
		status = sink_drain(g->sink);
	}
	buffer_add_string(&g->sink->out, "</g>\n");
	return status;
}

/* "1,234 samples, 12.3 s, 4 threads, Python 3.12.1" */
static void add_facts(const struct flamegraph *g, struct buffer *out)
{
	static const char *const modes[] = {
		[MODE_WALL] = "wall time",
		[MODE_CPU] = "CPU time",
		[MODE_GIL] = "time with the GIL",
	};
	const struct profile *p = g->profile;
	const struct reader *r = p->reader;
	uint32_t threads = 0;

	for (uint32_t i = 0; i < p->n_threads; i++)
		threads += p->threads[i].samples > 0;
	text_add_seconds(out, p->seconds);
	buffer_printf(out, " of %s, ", modes[p->filter.mode]);
	text_add_count(out, p->samples);
	buffer_printf(out, " samples, %u thread%s", threads,
		      threads == 1 ? "" : "s");
	if (reader_processes(r) && *reader_process(r, 0)->python)
		buffer_printf(out, ", Python %s", reader_process(r, 0)->python);
	if (!g->boxes.left_out)
		return;
	buffer_add_string(out, "; ");
	text_add_count(out, g->boxes.left_out);
	buffer_add_string(out, " frames too small to be seen are left out");
}

static void add_line(struct buffer *out, const char *class, int y,
		     const char *text)
{
	buffer_printf(out, "<text class=\"%s\" x=\"12\" y=\"%d\">", class, y);
	add_xml(out, text);
	buffer_add_string(out, "</text>\n");
}

/* What the colours mean, and what can be done. */
static void add_legend(struct buffer *out)
{
	static const struct {
		const char *class, *text;
		int x;
	} items[] = {
		{ "own2", "your code", 12 },
		{ "lib1", "libraries", 104 },
		{ "fast1", "your native code", 196 },
		{ "native1", "native libraries", 340 },
		{ "kernel", "kernel", 484 },
	};

	for (size_t i = 0; i < sizeof(items) / sizeof(items[0]); i++)
		buffer_printf(out,
			      "<rect class=\"%s\" x=\"%d\" y=\"57\" "
			      "width=\"11\" height=\"11\" rx=\"2\"/>"
			      "<text class=\"hint\" x=\"%d\" y=\"67\">%s"
			      "</text>\n",
			      items[i].class, items[i].x, items[i].x + 16,
			      items[i].text);
	buffer_add_string(out, "<text class=\"hint\" x=\"560\" y=\"67\">click: "
			       "zoom, /: search, Esc: back</text>\n");
}

static void add_head(struct flamegraph *g, const char *title)
{
	struct buffer *out = &g->sink->out;
	struct buffer cut = BUFFER_INIT, facts = BUFFER_INIT;

	text_add_cut(&cut, title, TITLE_ROOM, false);
	add_facts(g, &facts);
	buffer_printf(out,
		      "<g id=\"head\"><rect class=\"page\" width=\"100%%\" "
		      "height=\"%d\"/>\n",
		      HEAD - 4);
	add_line(out, "title", 28, buffer_text(&cut));
	add_line(out, "facts", 48, buffer_text(&facts));
	add_legend(out);
	buffer_add_string(out, "</g>\n");
	buffer_release(&cut);
	buffer_release(&facts);
}

static int add_page(struct flamegraph *g)
{
	struct buffer *out = &g->sink->out, title = BUFFER_INIT;
	int status;

	label_add_title(&title, g->profile);
	buffer_printf(out,
		      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" "
		      "height=\"%u\">\n<title>",
		      WIDTH, HEAD + g->boxes.rows * ROW + 12);
	add_xml(out, buffer_text(&title));
	buffer_printf(out,
		      "</title>\n<style><![CDATA[\n%s]]></style>\n"
		      "<rect class=\"page\" width=\"100%%\" "
		      "height=\"100%%\"/>\n",
		      flamegraph_css);
	status = add_frames(g);
	add_head(g, buffer_text(&title));
	buffer_printf(out, "<script><![CDATA[\n%s]]></script>\n</svg>\n",
		      flamegraph_js);
	buffer_release(&title);
	return status;
}

static int write_flamegraph(struct profile *p,
			    const struct format_options *options,
			    struct sink *sink, struct error *err)
{
	struct flamegraph g = {
		.profile = p,
		.sink = sink,
		.base = origin_base(p->reader),
	};
	struct boxes_limits limits = {
		.narrowest = (uint64_t)((double)p->samples * NARROWEST / WIDTH),
		.most = BOXES_MAX,
		.rows = ROWS_MAX,
	};
	int status;

	function_tree_init(&g.tree, p);
	status = function_tree_fill(&g.tree, options->threads, err);
	if (!status) {
		boxes_arrange(&g.boxes, &g.tree, &limits);
		status = add_page(&g);
	}
	boxes_release(&g.boxes);
	function_tree_release(&g.tree);
	buffer_release(&g.name);
	return status;
}

const struct format_ops format_flamegraph = {
	.name = "flamegraph",
	.prefix = "",
	.suffix = ".svg",
	.summary = "any browser",
	.write = write_flamegraph,
};
