#include "python/eval.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "elf/cold.h"
#include "elf/module.h"

#define HANDLERS_BELOW                                        \
	8192u /* bytes: the function is no interpreter itself \
	       */

/* Beginnings of the names of functions through which the interpreter calls. */
static const char *const call_names[] = {
	"_PyEval_",
	"PyEval_",
	"_PyFunction_",
	"PyObject_Call",
	"_PyObject_Call",
	"_PyObject_FastCall",
	"_PyObject_MakeTpCall",
	"PyObject_Vectorcall",
	"_PyObject_Vectorcall",
	"PyVectorcall_",
	"_PyVectorcall_",
	"PyCFunction_Call",
	"_PyCFunction_",
	"_PyMethodDef_",
	"_PyStack_",
	"_Py_VectorCall",
	"_Py_BuiltinCall",
	"_PyCallMethodDescriptor",
	"_Py_EnterRecursiveCall",
	"_Py_LeaveRecursiveCall",
	"cfunction_",
	"method_vectorcall",
	"method_call",
	"vectorcall_",
	"object_vacall",
	"function_code_fastcall",
	"function_call",
	"instancemethod_call",
	"call_maybe",
	"call_method",
	"call_unbound",
	"type_call",
	"fast_function",
	"call_function",
	"do_call",
	"ext_do_call",
	"slot_tp_",
	"gen_send_ex",
	"wrap_",
	"wrapperdescr_",
	"_TAIL_CALL_",
};

void address_ranges_add(struct address_ranges *r, uint64_t start, uint64_t end)
{
	ALLOC_GROW(r->items, r->count + 1, r->capacity);
	r->items[r->count++] = (struct address_range){ start, end };
}

static int by_start(const void *a, const void *b)
{
	const struct address_range *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

void address_ranges_sort(struct address_ranges *r)
{
	size_t kept = 0;

	if (!r->count)
		return;
	qsort(r->items, r->count, sizeof(*r->items), by_start);
	for (size_t i = 1; i < r->count; i++) {
		struct address_range *last = &r->items[kept];

		if (r->items[i].start > last->end)
			r->items[++kept] = r->items[i];
		else if (r->items[i].end > last->end)
			last->end = r->items[i].end;
	}
	r->count = kept + 1;
}

bool address_ranges_have(const struct address_ranges *r, uint64_t address)
{
	size_t low = 0, high = r->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (address >= r->items[middle].end)
			low = middle + 1;
		else
			high = middle;
	}
	return low < r->count && address >= r->items[low].start;
}

/* The search for the names. */
struct search {
	struct python_eval *out;
	const char *entry;
	uint64_t bias;
};

static bool begins(const char *name, const char *beginning)
{
	return !strncmp(name, beginning, strlen(beginning));
}

static bool is_pythons(const char *name)
{
	return begins(name, "Py") || begins(name, "_Py");
}

bool python_calls_by(const char *name, bool interpreter)
{
	for (size_t i = 0; i < sizeof(call_names) / sizeof(*call_names); i++)
		if (begins(name, call_names[i]))
			return interpreter || is_pythons(name);
	return false;
}

/* The function itself, or a part or copy that the compiler made. */
static bool is_entry(const char *name, const char *entry)
{
	size_t n = strlen(entry);

	return !strncmp(name, entry, n) && (!name[n] || name[n] == '.');
}

static void visit(void *context, const char *name, uint64_t address,
		  uint64_t size)
{
	struct search *s = context;
	uint64_t start = address + s->bias, end = start + size;

	if (end < start)
		return;
	if (is_entry(name, s->entry)) {
		address_ranges_add(&s->out->entries, start, end);
		return;
	}
	if (!python_calls_by(name, true))
		return;
	address_ranges_add(&s->out->calls, start, end);
	/* What is exported has Python's prefix. */
	if (!is_pythons(name))
		s->out->named = true;
}

/* The parts that a stripped file does not name. */
static void add_cold_parts(struct python_eval *out, const struct module *m,
			   uint64_t bias)
{
	size_t named = out->entries.count;

	for (size_t i = 0; i < named; i++) {
		const struct address_range *r = &out->entries.items[i];
		uint64_t start, end;

		if (cold_part(m, r->start - bias, r->end - r->start, &start,
			      &end))
			address_ranges_add(&out->entries, start + bias,
					   end + bias);
	}
	address_ranges_sort(&out->entries);
}

/* The mapping of the beginning of the interpreter's file. */
static const struct mapping *find_file(const struct python *p,
				       const struct maps *maps)
{
	for (size_t i = 0; i < maps->count; i++) {
		const struct mapping *m = &maps->items[i];
		const char *slash = strrchr(m->path, '/');

		if (m->inode && slash && !strcmp(slash + 1, p->module))
			return m;
	}
	return NULL;
}

static void find_extent(struct python_eval *out, const struct maps *maps,
			const struct mapping *file)
{
	out->start = file->start;
	out->end = file->end;
	for (const struct mapping *m = file; m < maps->items + maps->count; m++)
		if (m->inode == file->inode && m->device == file->device)
			out->end = m->end;
}

static uint64_t total(const struct address_ranges *r)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < r->count; i++)
		sum += r->items[i].end - r->items[i].start;
	return sum;
}

int python_eval_find(struct python_eval *out, const struct python *p,
		     const struct maps *maps, const struct opener *opener)
{
	const struct mapping *file = find_file(p, maps);
	struct search s = { .out = out,
			    .entry = p->version < 0x03060000
					     ? "PyEval_EvalFrameEx"
					     : "_PyEval_EvalFrameDefault" };
	struct module *module;

	memset(out, 0, sizeof(*out));
	if (!file || module_open_by(&module, opener, file) < 0)
		return -ERR_NOT_FOUND;
	s.bias = module_bias(module, file);
	module_each_symbol(module, visit, &s);
	address_ranges_sort(&out->entries);
	add_cold_parts(out, module, s.bias);
	module_free(module);
	if (!out->entries.count) {
		python_eval_release(out);
		return -ERR_NOT_FOUND;
	}
	find_extent(out, maps, file);
	address_ranges_sort(&out->calls);
	out->handlers = p->version >= 0x030e0000 &&
			total(&out->entries) < HANDLERS_BELOW;
	return 0;
}

void python_eval_release(struct python_eval *e)
{
	free(e->entries.items);
	free(e->calls.items);
	memset(e, 0, sizeof(*e));
}
