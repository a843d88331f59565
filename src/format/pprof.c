/* pprof: a gzip'd protocol buffer, github.com/google/pprof profile.proto.
 *
 * Messages are small but for the profile itself, whose fields may come in any
 * order, so each message is built in a scratch buffer and streamed out. Strings
 * are numbered as they are first used and follow at the end; 0 must be "".
 * Locations are the recording's frames, functions its functions, ids plus one
 * (0 means none). The last sample type is the one that pprof shows: wall.
 *
 * A frame with a site is a location with an address, whose lines are all the
 * functions there, so in a stack it stands for the frames that were inlined
 * around it too. Addresses are those of the process in which a module was first
 * seen. The first mapping is the program, the modules' follow, then those of
 * functions that only name a library. All are said to have their names, lest
 * pprof throws them away and looks for its own. */
#include "format/format.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/intern.h"
#include "format/census.h"
#include "format/label.h"

/* Field numbers of profile.proto. */
enum { /* Profile */
       PROFILE_SAMPLE_TYPE = 1,
       PROFILE_SAMPLE = 2,
       PROFILE_MAPPING = 3,
       PROFILE_LOCATION = 4,
       PROFILE_FUNCTION = 5,
       PROFILE_STRING = 6,
       PROFILE_TIME_NANOS = 9,
       PROFILE_DURATION_NANOS = 10,
       PROFILE_PERIOD_TYPE = 11,
       PROFILE_PERIOD = 12,
       PROFILE_COMMENT = 13,
       PROFILE_DEFAULT_SAMPLE_TYPE = 14,
};
enum { VALUE_TYPE = 1, VALUE_UNIT = 2 };
enum { SAMPLE_LOCATION = 1, SAMPLE_VALUE = 2, SAMPLE_LABEL = 3 };
enum { LABEL_KEY = 1, LABEL_STR = 2, LABEL_NUM = 3 };
enum { /* Mapping */
       MAPPING_ID = 1,
       MAPPING_START = 2,
       MAPPING_LIMIT = 3,
       MAPPING_OFFSET = 4,
       MAPPING_FILENAME = 5,
       MAPPING_BUILD_ID = 6,
       MAPPING_HAS_FUNCTIONS = 7,
       MAPPING_HAS_INLINED = 10,
};
enum { /* Location */
       LOCATION_ID = 1,
       LOCATION_MAPPING = 2,
       LOCATION_ADDRESS = 3,
       LOCATION_LINE = 4,
};
enum { LINE_FUNCTION = 1, LINE_LINE = 2 };
enum {
	FUNCTION_ID = 1,
	FUNCTION_NAME = 2,
	FUNCTION_FILENAME = 4,
	FUNCTION_START_LINE = 5,
};

enum { WIRE_VARINT = 0, WIRE_BYTES = 2 };

/* What is wrong with a stack. */
#define FLAWS                                                             \
	(STATE_TORN | STATE_UNREADABLE | STATE_TRUNCATED | STATE_BROKEN | \
	 STATE_UNMERGED)
/* States that are told apart; the rest is how the sample was taken. */
#define STATES (STATE_ON_CPU | STATE_GIL | STATE_GIL_WAIT | STATE_GC | FLAWS)

struct pprof {
	struct profile *profile;
	struct sink *sink;
	struct intern strings;
	struct intern mappings; /* that are no modules; the first: program */
	bool *used;		/* by frame: some sample has it */
	struct buffer message, inner; /* scratch: one level of nesting each */
	uint64_t sample_ns;
};

static void add_number(struct buffer *out, int field, uint64_t v)
{
	if (!v)
		return; /* the default */
	buffer_add_varint(out, (uint64_t)field << 3 | WIRE_VARINT);
	buffer_add_varint(out, v);
}

static void add_bytes(struct buffer *out, int field, const void *data,
		      size_t size)
{
	buffer_add_varint(out, (uint64_t)field << 3 | WIRE_BYTES);
	buffer_add_blob(out, data, size);
}

/* Append the message in `from` as a field and empty it. */
static void add_message(struct buffer *out, int field, struct buffer *from)
{
	add_bytes(out, field, from->data, from->size);
	buffer_reset(from);
}

/* A string, by its number. Bad UTF-8 would be refused: it is cleaned first. */
static uint64_t string(struct pprof *w, const char *s)
{
	struct buffer clean = BUFFER_INIT;
	uint64_t id;

	label_add_clean(&clean, s, "", ' ');
	id = intern_bytes(&w->strings, buffer_text(&clean), clean.size);
	buffer_release(&clean);
	return id;
}

static void add_value_type(struct pprof *w, int field, const char *type,
			   const char *unit)
{
	add_number(&w->message, VALUE_TYPE, string(w, type));
	add_number(&w->message, VALUE_UNIT, string(w, unit));
	add_message(&w->sink->out, field, &w->message);
}

static void add_header(struct pprof *w)
{
	const struct profile *p = w->profile;
	const struct recording_info *info = reader_info(p->reader);
	struct buffer *out = &w->sink->out;

	string(w, "");
	add_value_type(w, PROFILE_SAMPLE_TYPE, "samples", "count");
	add_value_type(w, PROFILE_SAMPLE_TYPE, "cpu", "nanoseconds");
	add_value_type(w, PROFILE_SAMPLE_TYPE, "wall", "nanoseconds");
	add_value_type(w, PROFILE_PERIOD_TYPE, "wall", "nanoseconds");
	add_number(out, PROFILE_PERIOD, w->sample_ns);
	add_number(out, PROFILE_TIME_NANOS, info->wall_start + p->filter.from);
	add_number(out, PROFILE_DURATION_NANOS,
		   (uint64_t)(p->duration * NS_PER_SECOND));
	add_number(out, PROFILE_DEFAULT_SAMPLE_TYPE, string(w, "wall"));
	add_number(out, PROFILE_COMMENT, string(w, label_program(p)));
	if (reader_notice(p->reader))
		add_number(out, PROFILE_COMMENT,
			   string(w, reader_notice(p->reader)));
}

static void add_label(struct pprof *w, const char *key, const char *text,
		      uint64_t number)
{
	add_number(&w->inner, LABEL_KEY, string(w, key));
	if (text)
		add_number(&w->inner, LABEL_STR, string(w, text));
	else
		add_number(&w->inner, LABEL_NUM, number);
	add_message(&w->message, SAMPLE_LABEL, &w->inner);
}

static const char *flaw(uint32_t state)
{
	if (state & STATE_TORN)
		return "torn";
	if (state & STATE_UNREADABLE)
		return "unreadable";
	if (state & STATE_UNMERGED)
		return "unmerged";
	return state & STATE_BROKEN ? "broken" : "truncated";
}

static void add_labels(struct pprof *w, const struct census_entry *e)
{
	const struct reader *r = w->profile->reader;
	const struct thread_info *t = reader_thread(r, e->thread);

	add_label(w, "thread", label_thread(t), 0);
	add_label(w, "tid", NULL, t->tid);
	add_label(w, "pid", NULL, reader_process(r, t->process)->pid);
	add_label(w, "state", label_state_name(label_state(e->state)), 0);
	if (e->state & FLAWS)
		add_label(w, "stack", flaw(e->state), 0);
}

/* The node that called the code of this one: inlined calls are passed over. */
static uint32_t caller_of(const struct reader *r, uint32_t node)
{
	uint32_t site = reader_frame(r, reader_node(r, node).frame).site;
	uint32_t n = site == ID_NONE ? 1 : reader_site_depth(r, site);

	for (; n && node != ID_NONE; n--)
		node = reader_node(r, node).parent;
	return node;
}

/* Location ids, innermost first. The id behind the last frame's is that of the
 * location which stands for samples without a stack. */
static void add_locations(struct pprof *w, uint32_t node)
{
	const struct reader *r = w->profile->reader;

	if (node == ID_NONE)
		buffer_add_varint(&w->inner, (uint64_t)reader_frames(r) + 1);
	for (; node != ID_NONE; node = caller_of(r, node)) {
		uint32_t frame = reader_node(r, node).frame;

		w->used[frame] = true;
		buffer_add_varint(&w->inner, (uint64_t)frame + 1);
	}
	add_message(&w->message, SAMPLE_LOCATION, &w->inner);
}

static void add_sample(struct pprof *w, const struct census_entry *e)
{
	uint64_t ns = e->samples * w->sample_ns;

	add_locations(w, e->node);
	buffer_add_varint(&w->inner, e->samples);
	buffer_add_varint(&w->inner, e->state & STATE_ON_CPU ? ns : 0);
	buffer_add_varint(&w->inner, ns);
	add_message(&w->message, SAMPLE_VALUE, &w->inner);
	add_labels(w, e);
	add_message(&w->sink->out, PROFILE_SAMPLE, &w->message);
}

static int add_samples(struct pprof *w, struct error *err)
{
	struct census census = CENSUS_INIT;
	int status = census_fill(&census, w->profile, STATES, err);

	for (uint32_t i = 0; i < census.count && !status; i++) {
		add_sample(w, &census.entries[i]);
		status = sink_drain(w->sink);
	}
	census_release(&census);
	return status;
}

static void add_line(struct pprof *w, uint64_t function, uint32_t line)
{
	add_number(&w->inner, LINE_FUNCTION, function);
	add_number(&w->inner, LINE_LINE, line);
	add_message(&w->message, LOCATION_LINE, &w->inner);
}

static void add_location(struct pprof *w, uint64_t id, uint64_t mapping,
			 uint64_t function, uint32_t line)
{
	add_number(&w->message, LOCATION_ID, id);
	add_number(&w->message, LOCATION_MAPPING, mapping);
	add_line(w, function, line);
	add_message(&w->sink->out, PROFILE_LOCATION, &w->message);
}

/* No system name (field 3): where it is the same as the name, pprof takes it
 * for a mangled one and cuts everything in <> and (), as in "<listcomp>". */
static void add_function(struct pprof *w, uint64_t id,
			 const struct function_info *f)
{
	const char *file = *f->file ? f->file : f->module;

	add_number(&w->message, FUNCTION_ID, id);
	add_number(&w->message, FUNCTION_NAME, string(w, f->name));
	add_number(&w->message, FUNCTION_FILENAME, string(w, file));
	add_number(&w->message, FUNCTION_START_LINE, f->line);
	add_message(&w->sink->out, PROFILE_FUNCTION, &w->message);
}

/* Python code is mapped to the program that runs it, as pprof wants a name for
 * the whole profile; native code to its library. */
static uint64_t mapping_of(struct pprof *w, const struct function_info *f)
{
	const struct reader *r = w->profile->reader;
	uint32_t i;

	if (!*f->module)
		return 1;
	i = intern_string(&w->mappings, f->module);
	return i ? (uint64_t)reader_modules(r) + i + 1 : 1;
}

static uint64_t mapping_of_site(const struct site_info *site)
{
	return site->module == ID_NONE ? 0 : (uint64_t)site->module + 2;
}

static uint64_t address_of(const struct reader *r, const struct site_info *site)
{
	return site->module == ID_NONE
		       ? site->address
		       : site->address + reader_module(r, site->module)->bias;
}

static void add_site_location(struct pprof *w, uint64_t id,
			      const struct frame_info *frame)
{
	const struct reader *r = w->profile->reader;
	struct site_info site = reader_site(r, frame->site);
	uint32_t depth = reader_site_depth(r, frame->site);

	add_number(&w->message, LOCATION_ID, id);
	add_number(&w->message, LOCATION_MAPPING, mapping_of_site(&site));
	add_number(&w->message, LOCATION_ADDRESS, address_of(r, &site));
	add_line(w, (uint64_t)frame->function + 1, frame->line);
	for (uint32_t i = 1; i < depth; i++) {
		uint32_t line, function = reader_site_function(r, frame->site,
							       i, &line);

		add_line(w, (uint64_t)function + 1, line);
	}
	add_message(&w->sink->out, PROFILE_LOCATION, &w->message);
}

static void add_frame(struct pprof *w, uint32_t id)
{
	const struct reader *r = w->profile->reader;
	struct frame_info f = reader_frame(r, id);

	if (f.site != ID_NONE)
		add_site_location(w, (uint64_t)id + 1, &f);
	else
		add_location(w, (uint64_t)id + 1,
			     mapping_of(w, reader_function(r, f.function)),
			     (uint64_t)f.function + 1, f.line);
}

static int add_frames(struct pprof *w)
{
	static const struct function_info no_stack = { LABEL_NO_STACK, "", 0,
						       FUNCTION_MARK, "" };
	const struct reader *r = w->profile->reader;
	uint32_t n_functions = reader_functions(r), n_frames = reader_frames(r);
	int status = 0;

	for (uint32_t i = 0; i < n_functions && !status; i++) {
		add_function(w, (uint64_t)i + 1, reader_function(r, i));
		status = sink_drain(w->sink);
	}
	for (uint32_t i = 0; i < n_frames && !status; i++) {
		if (w->used[i])
			add_frame(w, i);
		status = sink_drain(w->sink);
	}
	if (w->profile->no_stack) {
		add_function(w, (uint64_t)n_functions + 1, &no_stack);
		add_location(w, (uint64_t)n_frames + 1,
			     mapping_of(w, &no_stack),
			     (uint64_t)n_functions + 1, 0);
	}
	return status;
}

/* The end of every mapping: its file, and that it is symbolised. */
static void end_mapping(struct pprof *w, const char *file)
{
	add_number(&w->message, MAPPING_FILENAME, string(w, file));
	for (int has = 0; has < 3; has++) /* functions, files, lines */
		add_number(&w->message, MAPPING_HAS_FUNCTIONS + has, 1);
	add_message(&w->sink->out, PROFILE_MAPPING, &w->message);
}

static void add_name_mapping(struct pprof *w, uint32_t i)
{
	uint64_t before = i ? reader_modules(w->profile->reader) : 0;

	add_number(&w->message, MAPPING_ID, before + i + 1);
	end_mapping(w, intern_text(&w->mappings, i));
}

static void add_module_mapping(struct pprof *w, uint32_t i)
{
	const struct module_info *m = reader_module(w->profile->reader, i);

	add_number(&w->message, MAPPING_ID, (uint64_t)i + 2);
	add_number(&w->message, MAPPING_START, m->start);
	add_number(&w->message, MAPPING_LIMIT, m->end);
	add_number(&w->message, MAPPING_OFFSET, m->start - m->bias);
	add_number(&w->message, MAPPING_BUILD_ID, string(w, m->build_id));
	add_number(&w->message, MAPPING_HAS_INLINED, 1);
	end_mapping(w, m->path);
}

static void add_mappings(struct pprof *w)
{
	add_name_mapping(w, 0);
	for (uint32_t i = 0; i < reader_modules(w->profile->reader); i++)
		add_module_mapping(w, i);
	for (uint32_t i = 1; i < w->mappings.count; i++)
		add_name_mapping(w, i);
}

static int add_strings(struct pprof *w)
{
	int status = 0;

	for (uint32_t i = 0; i < w->strings.count && !status; i++) {
		const struct interned *s = &w->strings.strings[i];

		add_bytes(&w->sink->out, PROFILE_STRING, s->text, s->size);
		status = sink_drain(w->sink);
	}
	return status;
}

static const char *program_of(const struct reader *r)
{
	return reader_processes(r) ? reader_process(r, 0)->exe : "";
}

static int write_pprof(struct profile *p, const struct format_options *options,
		       struct sink *sink, struct error *err)
{
	struct pprof w = {
		.profile = p,
		.sink = sink,
		.sample_ns = label_sample_ns(p),
	};
	int status;

	(void)options;
	sink_compress(sink);
	intern_string(&w.mappings, program_of(p->reader));
	w.used = xcalloc((size_t)reader_frames(p->reader) + 1, sizeof(bool));
	add_header(&w);
	status = add_samples(&w, err);
	if (!status)
		status = add_frames(&w);
	add_mappings(&w);
	if (!status)
		status = add_strings(&w);
	intern_release(&w.strings);
	intern_release(&w.mappings);
	free(w.used);
	buffer_release(&w.message);
	buffer_release(&w.inner);
	return status;
}

const struct format_ops format_pprof = {
	.name = "pprof",
	.prefix = "",
	.suffix = ".pb.gz",
	.summary = "pprof and what speaks its format",
	.write = write_pprof,
};
