#include "sample/merge.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "record/model.h"

static struct merged_frame *push(struct merged *m)
{
	ALLOC_GROW(m->frames, m->count + 1, m->capacity);
	return &m->frames[m->count++];
}

void merged_push(struct merged *m, enum merged_kind kind, uint64_t address,
		 uint32_t module)
{
	struct merged_frame *f = push(m);

	f->kind = kind;
	f->address = address;
	f->module = module;
}

void merged_release(struct merged *m)
{
	free(m->frames);
	*m = (struct merged)MERGED_INIT;
}

/* The merge that is going on. */
struct merging {
	const struct merge_input *in;
	struct merged *out;
	uint32_t python; /* frames not yet put out, counted from the leaf */
	uint32_t empty;	 /* runs of the eval function at the leaf that have no
			  * Python frame */
	uint32_t other;	 /* the innermost frame of an extension, if Python
			  * called it; UINT32_MAX: none */
};

static uint64_t code_of(const struct native_frame *f)
{
	return f->pc - f->is_return;
}

static bool is_eval(const struct merge_input *in, uint32_t i)
{
	return in->eval &&
	       address_ranges_have(&in->eval->entries, code_of(&in->native[i]));
}

static enum module_class class_of(const struct merge_input *in, uint32_t i)
{
	uint32_t module = in->native[i].module;

	return module < in->n_classes ? in->classes[module] : MODULE_OTHER;
}

static uint32_t count_evals(const struct merge_input *in)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < in->n_native; i++)
		n += is_eval(in, i);
	return n;
}

/* The outermost frame begins a run, whatever was cut off below it. */
static bool begins_run(const struct merge_input *in, uint32_t i)
{
	return in->python[i].entry || i + 1 == in->n_python;
}

static uint32_t count_runs(const struct merge_input *in)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < in->n_python; i++)
		n += begins_run(in, i);
	return n;
}

static void put_python(struct merging *m)
{
	struct merged_frame *f = push(m->out);

	f->kind = MERGED_PYTHON;
	f->python = m->in->python[--m->python];
}

/* The Python frames of the outermost run that is left. */
static void put_run(struct merging *m)
{
	if (!m->python)
		return;
	do
		put_python(m);
	while (m->python && !m->in->python[m->python - 1].entry);
}

static void put_native(struct merging *m, uint32_t i)
{
	const struct native_frame *f = &m->in->native[i];

	merged_push(m->out, MERGED_NATIVE, code_of(f), f->module);
}

/* How a thread starts: up to the last of the C library's frames at the root,
 * and of the interpreter's behind them. Returns the first frame to keep. */
static uint32_t skip_start(const struct merge_input *in, uint32_t end)
{
	uint32_t at = in->n_native, kept;

	if (!in->complete)
		return at;
	if (at > end + 1 && class_of(in, at - 2) == MODULE_START)
		at--; /* _start */
	while (at > end && class_of(in, at - 1) == MODULE_START)
		at--;
	for (kept = at; kept > end; kept--)
		if (class_of(in, kept - 1) != MODULE_INTERPRETER)
			break;
	return kept;
}

/* Whether a frame is how the interpreter runs or calls something. */
static bool is_machinery(const struct merge_input *in, uint32_t i)
{
	if (in->eval->handlers && i + 1 < in->n_native && is_eval(in, i + 1))
		return true;
	return address_ranges_have(&in->eval->calls, code_of(&in->native[i]));
}

/* `leaf`: nothing but the interpreter's own code is above the frame. There it
 * is where the time goes; below others' code it is shown only where it can be
 * told from machinery. */
static bool is_shown(const struct merge_input *in, uint32_t i, bool leaf)
{
	if (class_of(in, i) != MODULE_INTERPRETER)
		return true;
	if (!in->eval)
		return leaf;
	return (leaf || in->eval->named) && !is_machinery(in, i);
}

/* Native frames [start, end) counted from the leaf, put out root first. `leaf`:
 * no Python frame is above them. */
static void put_part(struct merging *m, uint32_t start, uint32_t end, bool leaf)
{
	const struct merge_input *in = m->in;

	for (uint32_t i = end; i-- > start;)
		if (in->internals || is_shown(in, i, leaf && i <= m->other))
			put_native(m, i);
}

/* The frames from the leaf up to the first of the eval function; where none is
 * to be found, to the first of the interpreter. */
static uint32_t leaf_part(const struct merge_input *in)
{
	uint32_t i = 0;

	while (i < in->n_native && !is_eval(in, i))
		i++;
	if (i < in->n_native || !in->n_python)
		return i;
	for (i = 0; i < in->n_native; i++)
		if (class_of(in, i) == MODULE_INTERPRETER)
			break;
	return i;
}

static uint32_t find_other(const struct merge_input *in)
{
	uint32_t leaf = leaf_part(in);

	for (uint32_t i = 0; in->n_python && i < leaf; i++)
		if (class_of(in, i) == MODULE_OTHER)
			return i;
	return UINT32_MAX;
}

static void put_apart(struct merging *m)
{
	uint32_t leaf = leaf_part(m->in);

	while (m->python)
		put_python(m);
	put_part(m, 0, leaf, true);
}

/* `evals` runs of the eval function are on the native stack. */
static void put_together(struct merging *m, uint32_t evals)
{
	const struct merge_input *in = m->in;
	uint32_t end = in->n_native, i = end;
	bool first = true;

	while (evals) {
		do
			i--;
		while (!is_eval(in, i));
		if (first && !in->internals && in->n_python)
			end = skip_start(in, i + 1);
		put_part(m, i + 1, end, evals == m->empty);
		if (in->internals)
			put_native(m, i);
		if (evals > m->empty)
			put_run(m);
		end = i;
		first = false;
		evals--;
	}
	put_part(m, 0, end, true);
}

uint32_t merge_surplus(const struct merge_input *in)
{
	uint32_t evals = count_evals(in), runs = count_runs(in);

	return in->complete && runs > evals ? runs - evals : 0;
}

uint32_t merge_stacks(struct merged *out, const struct merge_input *in)
{
	struct merging m = { .in = in, .out = out, .python = in->n_python };
	uint32_t evals = count_evals(in), runs = count_runs(in);
	uint32_t state = STATE_NATIVE | (in->complete ? 0 : STATE_BROKEN);

	out->count = 0;
	m.other = find_other(in);
	m.empty = in->complete ? evals - runs : in->entered;
	if (in->complete ? evals < runs || m.empty > 1
			 : evals > runs + m.empty) {
		put_apart(&m);
		return state | STATE_UNMERGED;
	}
	if (m.empty > evals)
		m.empty = evals;
	for (uint32_t alone = runs + m.empty - evals; alone; alone--)
		put_run(&m);
	put_together(&m, evals);
	return state;
}
