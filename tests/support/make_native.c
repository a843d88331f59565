#include "make_native.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define SPREAD	 4  /* addresses of a place */
#define DISTANCE 16 /* bytes between them */

enum library { FAST, NUMPY, OPENBLAS, PYTHON, LIBC, KERNEL, N_LIBRARIES };

static const struct module_info libraries[N_LIBRARIES] = {
	[FAST] = { "/srv/shop/app/fast.cpython-312-x86_64-linux-gnu.so",
		   "5f2d8c31a8e6b1c70f1be7d2d0a4a8f9f1b0c3d4", 0x7f1000000000,
		   0x7f1000000000, 0x7f1000020000 },
	[NUMPY] = { "/srv/shop/venv/lib/python3.12/site-packages/numpy/core/"
		    "_multiarray_umath.cpython-312-x86_64-linux-gnu.so",
		    "00aa11bb22cc33dd44ee55ff66778899aabbccdd", 0x7f2000000000,
		    0x7f2000000000, 0x7f2000900000 },
	[OPENBLAS] = { "/srv/shop/venv/lib/python3.12/site-packages/numpy.libs/"
		       "libopenblas64_p-r0.so",
		       "", 0x7f3000000000, 0x7f3000000000, 0x7f3002000000 },
	[PYTHON] = { "/usr/lib/x86_64-linux-gnu/libpython3.12.so.1.0",
		     "c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00", 0x7f4000000000,
		     0x7f4000000000, 0x7f4000800000 },
	[LIBC] = { "/usr/lib/x86_64-linux-gnu/libc.so.6",
		   "69389d485a9793dbe873f0ea2c93e02efaa9aa3d", 0x7f5000000000,
		   0x7f5000000000, 0x7f5000200000 },
	[KERNEL] = { "[kernel]", "", 0, 0, 0 },
};

/* What is at an address: up to three functions, innermost first. */
static const struct place {
	enum library library;
	uint64_t address;
	struct {
		const char *name, *file;
		uint32_t first, line;
	} at[3];
} places[] = {
	{ FAST, 0x1200, { { "score", "/srv/shop/native/fast.c", 10, 13 } } },
	{ FAST,
	  0x1280,
	  { { "square", "/srv/shop/native/fast.c", 3, 5 },
	    { "weigh", "/srv/shop/native/fast.c", 7, 8 },
	    { "score", "/srv/shop/native/fast.c", 10, 14 } } },
	{ FAST,
	  0x1300,
	  { { "square", "/srv/shop/native/fast.c", 3, 5 },
	    { "score", "/srv/shop/native/fast.c", 10, 16 } } },
	{ FAST, 0x1400, { { "apply", "/srv/shop/native/fast.c", 20, 23 } } },
	{ NUMPY,
	  0x51000,
	  { { "array_sum", "numpy/core/src/multiarray/methods.c", 2300,
	      2311 } } },
	{ NUMPY,
	  0x90000,
	  { { "pairwise_sum", "numpy/core/src/umath/loops_utils.h", 80, 101 },
	    { "DOUBLE_add", "numpy/core/src/umath/loops.c", 1500, 1522 } } },
	{ OPENBLAS, 0x40000, { { "blas_thread_server", "", 0, 0 } } },
	{ OPENBLAS, 0x50000, { { "dgemm_kernel_HASWELL", "", 0, 0 } } },
	{ PYTHON,
	  0x11000,
	  { { "list_sort_impl", "./Objects/listobject.c", 2200, 2401 } } },
	{ LIBC, 0x2b00, { { "clone3", "", 0, 0 } } },
	{ LIBC, 0x18e000, { { "__memcpy_avx_unaligned_erms", "", 0, 0 } } },
	{ LIBC, 0xf8000, { { "read", "", 0, 0 } } },
	{ KERNEL, 0xffffffff81300000, { { "vfs_read", "", 0, 0 } } },
	{ KERNEL, 0xffffffff81c00000, { { "copy_user", "", 0, 0 } } },
};

#define N_PLACES (sizeof(places) / sizeof(places[0]))
#define END	 -1
#define CALLBACK 3 /* apply() */

/* Places, outermost first. */
static const int stacks[][5] = {
	{ 0, END },	{ 1, END },	     { 2, END },     { 4, 5, END },
	{ 8, 10, END }, { 11, 12, 13, END }, { 4, 10, END },
};
static const int thread_stack[] = { 9, 6, 7, END };

#define N_STACKS (sizeof(stacks) / sizeof(stacks[0]))

static const char fast_source[] =
	"#include <Python.h>\n"
	"\n"
	"static double square(double x)\n"
	"{\n"
	"\treturn x * x;\n"
	"}\n"
	"static double weigh(double x)\n"
	"{ return square(x) / 2; }\n"
	"\n"
	"static double score(const double *v, long n)\n"
	"{\n"
	"\tdouble sum = 0;\n"
	"\tfor (long i = 0; i < n; i++)\n"
	"\t\tsum += weigh(v[i]);\n"
	"\tif (sum > 1)\n"
	"\t\tsum = square(sum);\n"
	"\treturn sum;\n"
	"}\n"
	"\n"
	"static PyObject *apply(PyObject *m, PyObject *f)\n"
	"{\n"
	"\t/* back into Python */\n"
	"\treturn PyObject_CallNoArgs(f);\n"
	"}\n";

struct native_code {
	struct writer *writer;
	uint32_t unnamed;
	uint32_t modules[N_LIBRARIES];
	uint32_t *place_of; /* by site */
	uint32_t n_sites, capacity;
};

struct native_code *native_code_new(struct writer *w, uint32_t unnamed)
{
	struct native_code *n = xcalloc(1, sizeof(*n));

	n->writer = w;
	n->unnamed = unnamed;
	for (int i = 0; i < N_LIBRARIES; i++)
		n->modules[i] = writer_module(w, &libraries[i]);
	return n;
}

void native_code_free(struct native_code *n)
{
	if (n)
		free(n->place_of);
	free(n);
}

static uint32_t add_frame(struct native_code *n, uint32_t parent,
			  uint32_t place, uint32_t which)
{
	const struct place *p = &places[place];
	struct site_info info = {
		.module = n->modules[p->library],
		.address = p->address + which % SPREAD * DISTANCE,
		.kind = p->library == KERNEL ? FUNCTION_KERNEL
					     : FUNCTION_NATIVE,
	};
	uint32_t site = writer_site(n->writer, &info);

	ALLOC_GROW(n->place_of, site + 1, n->capacity);
	n->place_of[site] = place;
	return writer_node(n->writer, parent,
			   writer_site_frame(n->writer, site));
}

static uint32_t add_stack(struct native_code *n, uint32_t parent,
			  const int *stack, uint32_t which)
{
	for (; *stack != END; stack++, which /= SPREAD)
		parent = add_frame(n, parent, (uint32_t)*stack, which);
	return parent;
}

uint32_t native_stack(struct native_code *n, uint32_t parent, uint32_t which)
{
	return add_stack(n, parent, stacks[which % N_STACKS],
			 which / (uint32_t)N_STACKS);
}

uint32_t native_callback(struct native_code *n, uint32_t parent, uint32_t which)
{
	return add_frame(n, parent, CALLBACK, which);
}

uint32_t native_thread(struct native_code *n, uint32_t which)
{
	return add_stack(n, ID_NONE, thread_stack, which);
}

static void name_site(void *context, uint32_t site,
		      const struct site_info *info,
		      const struct module_info *module)
{
	struct native_code *n = context;
	const struct place *p = &places[n->place_of[site]];
	struct function_info functions[3] = { 0 };
	uint32_t lines[3], count = 0;

	if (site * 37 % 100 < n->unnamed)
		return;
	for (; count < 3 && p->at[count].name; count++) {
		functions[count].name = p->at[count].name;
		functions[count].file = p->at[count].file;
		functions[count].line = p->at[count].first;
		lines[count] = p->at[count].line;
	}
	writer_symbol(n->writer, site, functions, lines, count);
}

void native_symbols(struct native_code *n)
{
	writer_each_site(n->writer, name_site, n);
	writer_source(n->writer, "/srv/shop/native/fast.c", fast_source,
		      strlen(fast_source));
}
