/* One page with everything in it: the viewer, the engine as WebAssembly and
 * the recordings. It works from a disk, without a network, for years.
 *
 * Engine and recordings are deflated and written in base64 into elements that
 * browsers do not interpret. A recording's own zstd is undone first: browsers
 * inflate by themselves, and so no second unpacker has to be carried along and
 * trusted with hostile bytes. What was recorded thus never meets the parser of
 * HTML; the names of the files are the only text, and are escaped. */
#include "format/html.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/alloc.h"
#include "format/format.h"
#include "record/unpack.h"
#include "format/viewer_page.h"

#define CHUNK (1 << 15)

void html_add_policy(struct buffer *out, bool server)
{
	buffer_printf(out,
		      "default-src 'none'; script-src '%s' "
		      "'wasm-unsafe-eval'; style-src '%s'; img-src data:; %s; "
		      "base-uri 'none'; form-action 'none'",
		      viewer_script_hash, viewer_style_hash,
		      server ? "connect-src 'self'"
			     : "connect-src 'none'; worker-src blob:");
}

void html_add_page(struct buffer *out)
{
	buffer_add_string(out, viewer_head);
	buffer_add_string(out, viewer_body);
	buffer_add_string(out, viewer_tail);
}

static void add_attribute(struct buffer *out, const char *text)
{
	for (; *text; text++)
		if (strchr("&<>\"'", *text))
			buffer_printf(out, "&#%d;", *text);
		else
			buffer_add_byte(out, (unsigned char)*text);
}

/* Bytes on their way: deflated, then in base64. */
struct packing {
	struct sink *sink;
	z_stream stream;
	unsigned char chunk[CHUNK];
	unsigned char rest[3]; /* that do not fill three bytes yet */
	size_t n_rest;
};

static void add_four(struct buffer *out, const unsigned char three[3], size_t n)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "abcdefghijklmnopqrstuvwxyz0123456789+/";
	uint32_t v =
		(uint32_t)three[0] << 16 | (uint32_t)three[1] << 8 | three[2];
	unsigned char four[4];

	for (size_t i = 0; i < 4; i++)
		four[i] = i > n ? '='
				: (unsigned char)digits[v >> (18 - 6 * i) & 63];
	buffer_add(out, four, 4);
}

static void add_base64(struct packing *p, const unsigned char *data, size_t n)
{
	for (; n; n--) {
		p->rest[p->n_rest++] = *data++;
		if (p->n_rest < 3)
			continue;
		add_four(&p->sink->out, p->rest, 3);
		p->n_rest = 0;
	}
}

static void end_base64(struct packing *p)
{
	memset(p->rest + p->n_rest, 0, 3 - p->n_rest);
	if (p->n_rest)
		add_four(&p->sink->out, p->rest, p->n_rest);
}

static int pack(struct packing *p, const void *data, size_t size, int flush)
{
	z_stream *z = &p->stream;

	z->next_in = (unsigned char *)data;
	z->avail_in = (uInt)size;
	do {
		z->next_out = p->chunk;
		z->avail_out = CHUNK;
		deflate(z, flush);
		add_base64(p, p->chunk, CHUNK - z->avail_out);
		if (sink_drain(p->sink))
			return p->sink->status;
	} while (!z->avail_out);
	return 0;
}

static int take_bytes(void *context, const void *data, size_t size)
{
	return pack(context, data, size, Z_NO_FLUSH);
}

static int add_recording(struct sink *sink, struct reader *reader,
			 const char *name, struct error *err)
{
	struct packing *p = xcalloc(1, sizeof(*p));
	int status;

	p->sink = sink;
	if (deflateInit(&p->stream, Z_DEFAULT_COMPRESSION) != Z_OK) {
		free(p);
		return fail(err, ERR_IO, "zlib has no memory");
	}
	buffer_add_string(&sink->out, "<script type=\"application/octet-stream"
				      "\" class=\"recording\" data-name=\"");
	add_attribute(&sink->out, name);
	buffer_add_string(&sink->out, "\">");
	status = reader_unpack(reader, take_bytes, p);
	if (!status)
		status = pack(p, NULL, 0, Z_FINISH);
	end_base64(p);
	buffer_add_string(&sink->out, "</script>\n");
	deflateEnd(&p->stream);
	free(p);
	return status;
}

static void add_head(struct buffer *out)
{
	struct buffer policy = BUFFER_INIT;

	html_add_policy(&policy, false);
	buffer_add_string(out, viewer_head);
	buffer_printf(out,
		      "<meta http-equiv=\"Content-Security-Policy\" "
		      "content=\"%s\">\n",
		      buffer_text(&policy));
	buffer_add_string(out, viewer_body);
	buffer_add_string(out, "<script type=\"application/octet-stream\" "
			       "id=\"engine\">");
	buffer_add_string(out, viewer_engine);
	buffer_add_string(out, "</script>\n");
	buffer_release(&policy);
}

static int write_html(struct profile *p, const struct format_options *options,
		      struct sink *sink, struct error *err)
{
	int status;

	if (!viewer_engine[0])
		return fail(err, ERR_UNSUPPORTED,
			    "this pyrometer was built without its WebAssembly "
			    "engine, which a page needs; install clang, lld, "
			    "wasi-libc and libclang-rt-dev-wasm32 and build it "
			    "again, or use pyrometer view without --html");
	add_head(&sink->out);
	status = add_recording(sink, p->reader,
			       options->recording ? options->recording
						  : "recording",
			       err);
	for (size_t i = 0; i < options->n_others && !status; i++)
		status = add_recording(sink, options->others[i],
				       options->other_names[i], err);
	buffer_add_string(&sink->out, viewer_tail);
	return status ? status : sink_drain(sink);
}

const struct format_ops format_html = {
	.name = "html",
	.prefix = "",
	.suffix = ".html",
	.summary = "any browser: the viewer with the recording inside",
	.write = write_html,
};
