/* The tables that all threads of a Firefox profile share.
 *
 * They are columns side by side. Stacks, frames and functions are the
 * recording's own nodes, frames and functions. A category, which colours the
 * timeline and tells the idle apart, belongs to a frame there, but to a sample
 * here: a stack that was seen idle, collecting garbage or waiting gets a twin
 * that ends in a twin of its last frame, with the same function and the other
 * category. Twins are numbered behind the recording's nodes and frames as they
 * come up. The function behind the last one stands for samples without a
 * stack. */
#include "format/firefox.h"

#include "base/alloc.h"
#include "base/text.h"
#include "format/label.h"

#define RESOURCE_LIBRARY 1 /* the type of a resource that is one */

static uint32_t find_twin(struct twins *t, uint32_t of,
			  enum firefox_category category)
{
	uint32_t found = map_get(&t->index, of, category);

	if (found != MAP_NONE)
		return found;
	ALLOC_GROW(t->items, t->count + 1, t->capacity);
	t->items[t->count] = (struct twin){ .of = of, .category = category };
	map_put(&t->index, of, category, t->count);
	return t->count++;
}

static enum firefox_category function_category(const struct function_info *f)
{
	static const enum firefox_category of_kind[] = {
		[FUNCTION_PYTHON] = CATEGORY_PYTHON,
		[FUNCTION_NATIVE] = CATEGORY_NATIVE,
		[FUNCTION_KERNEL] = CATEGORY_KERNEL,
		[FUNCTION_MARK] = CATEGORY_OTHER,
	};

	return of_kind[f->kind];
}

/* What the state of a sample says, over the kind of code it ends in. That
 * native code runs without the GIL is no news. */
static enum firefox_category state_category(uint32_t state,
					    enum firefox_category code)
{
	static const enum firefox_category of_state[LABEL_STATES] = {
		[LABEL_IDLE] = CATEGORY_IDLE,
		[LABEL_GIL_WAIT] = CATEGORY_GIL_WAIT,
		[LABEL_GC] = CATEGORY_GC,
		[LABEL_NATIVE] = CATEGORY_UNLOCKED,
	};
	enum label_state label = label_state(state);

	if (label == LABEL_NATIVE &&
	    (code == CATEGORY_NATIVE || code == CATEGORY_KERNEL))
		return code;
	return label == LABEL_PYTHON ? code : of_state[label];
}

uint32_t firefox_stack(struct firefox *w, uint32_t node, uint32_t state)
{
	const struct reader *r = w->profile->reader;
	enum firefox_category code = CATEGORY_OTHER, category;
	uint32_t frame = ID_NONE, twin;

	if (node != ID_NONE) {
		frame = reader_node(r, node).frame;
		code = function_category(
			reader_function(r, reader_frame(r, frame).function));
	}
	category = state_category(state, code);
	if (node != ID_NONE && category == code)
		return node;
	twin = find_twin(&w->stacks, node, category);
	w->stacks.items[twin].frame = find_twin(&w->frames, frame, category);
	return reader_nodes(r) + twin;
}

/* The rows of the shared tables, each a value per row and column. `row` counts
 * the recording's things first and the twins after them. */
typedef void add_cell(struct firefox *w, uint32_t row);

struct column {
	const char *name;
	add_cell *add; /* NULL: null in every row */
};

static void add_zero(struct firefox *w, uint32_t row)
{
	(void)row;
	json_int(&w->json, NULL, 0);
}

static void add_false(struct firefox *w, uint32_t row)
{
	(void)row;
	json_bool(&w->json, NULL, false);
}

static void add_stack_frame(struct firefox *w, uint32_t row)
{
	const struct reader *r = w->profile->reader;
	uint32_t n = reader_nodes(r);

	json_int(&w->json, NULL,
		 row < n ? reader_node(r, row).frame
			 : (int64_t)reader_frames(r) +
				   w->stacks.items[row - n].frame);
}

static void add_stack_prefix(struct firefox *w, uint32_t row)
{
	const struct reader *r = w->profile->reader;
	uint32_t n = reader_nodes(r), parent = ID_NONE;

	if (row >= n)
		row = w->stacks.items[row - n].of;
	if (row != ID_NONE)
		parent = reader_node(r, row).parent;
	if (parent == ID_NONE)
		json_null(&w->json, NULL);
	else
		json_int(&w->json, NULL, parent);
}

/* The recording's frame behind a row; ID_NONE: none. */
static uint32_t frame_of_row(const struct firefox *w, uint32_t row)
{
	uint32_t n = reader_frames(w->profile->reader);

	return row < n ? row : w->frames.items[row - n].of;
}

/* Its function; the one behind the last stands for no stack. */
static uint32_t function_of_row(const struct firefox *w, uint32_t row)
{
	const struct reader *r = w->profile->reader;
	uint32_t frame = frame_of_row(w, row);

	return frame == ID_NONE ? reader_functions(r)
				: reader_frame(r, frame).function;
}

static void add_frame_function(struct firefox *w, uint32_t row)
{
	json_int(&w->json, NULL, function_of_row(w, row));
}

static void add_frame_category(struct firefox *w, uint32_t row)
{
	const struct reader *r = w->profile->reader;
	uint32_t n = reader_frames(r);

	json_int(&w->json, NULL,
		 row < n ? function_category(
				   reader_function(r, function_of_row(w, row)))
			 : w->frames.items[row - n].category);
}

static void add_line(struct firefox *w, uint32_t line)
{
	if (line)
		json_int(&w->json, NULL, line);
	else
		json_null(&w->json, NULL);
}

static void add_frame_line(struct firefox *w, uint32_t row)
{
	uint32_t frame = frame_of_row(w, row);

	add_line(w, frame == ID_NONE
			    ? 0
			    : reader_frame(w->profile->reader, frame).line);
}

/* The site of a row; ID_NONE: none. */
static uint32_t site_of_row(const struct firefox *w, uint32_t row)
{
	uint32_t frame = frame_of_row(w, row);

	return frame == ID_NONE ? ID_NONE
				: reader_frame(w->profile->reader, frame).site;
}

static void add_frame_address(struct firefox *w, uint32_t row)
{
	const struct reader *r = w->profile->reader;
	uint32_t site = site_of_row(w, row);

	if (site == ID_NONE || reader_site(r, site).module == ID_NONE)
		json_int(&w->json, NULL, -1);
	else
		json_int(&w->json, NULL, (int64_t)reader_site(r, site).address);
}

static void add_frame_depth(struct firefox *w, uint32_t row)
{
	uint32_t site = site_of_row(w, row);

	json_int(&w->json, NULL,
		 site == ID_NONE
			 ? 0
			 : reader_site_depth(w->profile->reader, site) - 1);
}

/* A row of another table, or null. */
static void add_row(struct firefox *w, uint32_t row)
{
	if (row == ID_NONE)
		json_null(&w->json, NULL);
	else
		json_int(&w->json, NULL, row);
}

static void add_frame_symbol(struct firefox *w, uint32_t row)
{
	uint32_t frame = frame_of_row(w, row);

	add_row(w, frame == ID_NONE ? ID_NONE : firefox_symbol(w, frame));
}

static const struct function_info *function_at(const struct firefox *w,
					       uint32_t row)
{
	static const struct function_info none = { LABEL_NO_STACK, "", 0,
						   FUNCTION_MARK, "" };
	const struct reader *r = w->profile->reader;

	return row < reader_functions(r) ? reader_function(r, row) : &none;
}

static void add_function_name(struct firefox *w, uint32_t row)
{
	json_int(&w->json, NULL,
		 intern_string(&w->strings, function_at(w, row)->name));
}

static void add_function_source(struct firefox *w, uint32_t row)
{
	const struct function_info *f = function_at(w, row);
	bool in_lib = row < reader_functions(w->profile->reader) &&
		      w->native.lib_of[row] != ID_NONE;
	const char *file = *f->file || in_lib ? f->file : f->module;

	if (*file)
		json_int(&w->json, NULL, intern_string(&w->sources, file));
	else
		json_null(&w->json, NULL);
}

static void add_function_line(struct firefox *w, uint32_t row)
{
	add_line(w, function_at(w, row)->line);
}

static void add_function_resource(struct firefox *w, uint32_t row)
{
	uint32_t n = reader_functions(w->profile->reader);
	uint32_t lib = row < n ? w->native.lib_of[row] : ID_NONE;

	json_int(&w->json, NULL, lib == ID_NONE ? -1 : (int64_t)lib);
}

static void add_itself(struct firefox *w, uint32_t row)
{
	json_int(&w->json, NULL, row);
}

static void add_resource_name(struct firefox *w, uint32_t row)
{
	const struct module_info *m = reader_module(w->profile->reader, row);

	json_int(&w->json, NULL,
		 intern_string(&w->strings, path_base(m->path)));
}

static void add_resource_type(struct firefox *w, uint32_t row)
{
	(void)row;
	json_int(&w->json, NULL, RESOURCE_LIBRARY);
}

static void add_symbol_lib(struct firefox *w, uint32_t row)
{
	json_int(&w->json, NULL, w->native.symbols[row].lib);
}

static void add_symbol_address(struct firefox *w, uint32_t row)
{
	json_int(&w->json, NULL, (int64_t)w->native.symbols[row].address);
}

static void add_symbol_name(struct firefox *w, uint32_t row)
{
	add_function_name(w, w->native.symbols[row].function);
}

static void add_source_name(struct firefox *w, uint32_t row)
{
	json_int(&w->json, NULL,
		 intern_string(&w->strings, intern_text(&w->sources, row)));
}

static const struct column stack_columns[] = {
	{ "frame", add_stack_frame },
	{ "prefix", add_stack_prefix },
	{ 0 },
};
static const struct column frame_columns[] = {
	{ "address", add_frame_address },
	{ "inlineDepth", add_frame_depth },
	{ "category", add_frame_category },
	{ "subcategory", add_zero },
	{ "func", add_frame_function },
	{ "nativeSymbol", add_frame_symbol },
	{ "innerWindowID", add_zero },
	{ "line", add_frame_line },
	{ "column", NULL },
	{ 0 },
};
static const struct column function_columns[] = {
	{ "name", add_function_name },
	{ "isJS", add_false },
	{ "relevantForJS", add_false },
	{ "resource", add_function_resource },
	{ "source", add_function_source },
	{ "lineNumber", add_function_line },
	{ "columnNumber", NULL },
	{ 0 },
};
static const struct column resource_columns[] = {
	{ "lib", add_itself },
	{ "name", add_resource_name },
	{ "host", NULL },
	{ "type", add_resource_type },
	{ 0 },
};
static const struct column symbol_columns[] = {
	{ "libIndex", add_symbol_lib },
	{ "address", add_symbol_address },
	{ "name", add_symbol_name },
	{ "functionSize", NULL },
	{ 0 },
};
static const struct column source_columns[] = {
	{ "id", NULL },
	{ "filename", add_source_name },
	{ 0 },
};

static void add_table(struct firefox *w, const char *name,
		      const struct column *columns, uint32_t rows)
{
	json_open(&w->json, name, '{');
	for (; columns->name; columns++) {
		json_open(&w->json, columns->name, '[');
		for (uint32_t i = 0; i < rows && !sink_drain(w->sink); i++) {
			if (columns->add)
				columns->add(w, i);
			else
				json_null(&w->json, NULL);
		}
		json_close(&w->json);
	}
	json_int(&w->json, "length", rows);
	json_close(&w->json);
}

void firefox_add_shared(struct firefox *w)
{
	const struct reader *r = w->profile->reader;

	json_open(&w->json, "shared", '{');
	add_table(w, "stackTable", stack_columns,
		  reader_nodes(r) + w->stacks.count);
	add_table(w, "frameTable", frame_columns,
		  reader_frames(r) + w->frames.count);
	add_table(w, "funcTable", function_columns, reader_functions(r) + 1);
	add_table(w, "resourceTable", resource_columns, reader_modules(r));
	add_table(w, "nativeSymbols", symbol_columns, w->native.n_symbols);
	add_table(w, "sources", source_columns, w->sources.count);
	json_open(&w->json, "stringArray", '[');
	for (uint32_t i = 0; i < w->strings.count && !sink_drain(w->sink); i++)
		json_string(&w->json, NULL, intern_text(&w->strings, i));
	json_close(&w->json);
	json_close(&w->json);
}
