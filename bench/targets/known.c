/* An extension whose native stacks are known.
 *
 *   spend(seconds)          10, 30 and 60% of the time in tenth(), third() and
 *                           most(), each on the line that says so
 *   call(function, n)       function(n) through re_enter(): Python, C, Python
 *   burn(seconds)           in burn_here()
 *   start_burner()          a thread that never runs Python, in burn_alone()
 *   stop_burner()
 *   wait_read(fd), wait_poll(fd), wait_futex()
 *                           block without the GIL, in read, poll and futex; the
 *                           last until wake_futex()
 *
 * To be built with -O2 -fomit-frame-pointer and without libpython. Each of
 * tenth, third and most has an account, into which every round pays its share;
 * it works until the account is empty, so that what it overdraws is paid back
 * in the next rounds (see shares.py). */
#define _GNU_SOURCE
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))
#define INLINE	 inline __attribute__((always_inline))
#define CHUNK	 4000 /* turns between two looks at the clock */
#define STEP(x)	 ((x)*6364136223846793005u + 1442695040888963407u)

struct account {
	double share, left;
};

static struct account accounts[3] = { { 0.1, 0 }, { 0.3, 0 }, { 0.6, 0 } };
static uint64_t seed = 11, waste;
static volatile int burning;
static volatile uint32_t word;
static volatile uint64_t returns;
static pthread_t burner;

static INLINE double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static INLINE uint64_t churn(uint64_t x)
{
	for (int i = 0; i < CHUNK; i++)
		x = STEP(x); /* line: churn */
	return x;
}

static NOINLINE uint64_t tenth(uint64_t x, double until)
{
	do {
		for (int i = 0; i < CHUNK; i++)
			x = STEP(x); /* line: tenth */
	} while (now() < until);
	return x;
}

static NOINLINE uint64_t third(uint64_t x, double until)
{
	do {
		for (int i = 0; i < CHUNK; i++)
			x = STEP(x); /* line: third */
	} while (now() < until);
	return x;
}

/* Its work is in a function that is inlined into it. */
static NOINLINE uint64_t most(uint64_t x, double until)
{
	do {
		x = churn(x); /* line: most */
	} while (now() < until);
	return x;
}

static uint64_t (*const spenders[3])(uint64_t, double) = { tenth, third, most };

static NOINLINE void work_off(void)
{
	for (int i = 0; i < 3; i++) {
		double began = now();

		if (accounts[i].left <= 0)
			continue;
		waste += spenders[i](waste, began + accounts[i].left);
		accounts[i].left -= now() - began;
	}
}

static NOINLINE void spend_rounds(double until)
{
	while (now() < until) {
		double length;

		seed = STEP(seed);
		length = 0.004 + 0.008 * (double)(seed >> 40) / (1 << 24);
		for (int i = 0; i < 3; i++)
			accounts[i].left += accounts[i].share * length;
		work_off();
	}
}

static NOINLINE void burn_here(double until)
{
	while (now() < until)
		waste = churn(waste);
}

static NOINLINE void *burn_alone(void *argument)
{
	uint64_t x = 1;

	while (burning)
		x = churn(x);
	waste += x;
	return argument;
}

/* What follows the call keeps it from being a jump. */
static NOINLINE PyObject *re_enter(PyObject *function, long n)
{
	PyObject *result = PyObject_CallFunction(function, (char *)"l", n);

	returns++;
	return result;
}

static NOINLINE void in_read(int fd)
{
	char byte;

	while (read(fd, &byte, 1) < 0 && errno == EINTR)
		returns++;
	returns++;
}

static NOINLINE void in_poll(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	while (poll(&p, 1, -1) < 0 && errno == EINTR)
		returns++;
	returns++;
}

static NOINLINE void in_futex(void)
{
	while (!word)
		syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL, NULL, 0);
	returns++;
}

/* ---- what Python sees ---- */

static PyObject *nothing(void)
{
	Py_INCREF(Py_None);
	return Py_None;
}

static PyObject *known_spend(PyObject *self, PyObject *args)
{
	double seconds;

	(void)self;
	if (!PyArg_ParseTuple(args, "d", &seconds))
		return NULL;
	spend_rounds(now() + seconds);
	return nothing();
}

static PyObject *known_burn(PyObject *self, PyObject *args)
{
	double seconds;

	(void)self;
	if (!PyArg_ParseTuple(args, "d", &seconds))
		return NULL;
	burn_here(now() + seconds);
	return nothing();
}

static PyObject *known_call(PyObject *self, PyObject *args)
{
	PyObject *function;
	long n;

	(void)self;
	if (!PyArg_ParseTuple(args, "Ol", &function, &n))
		return NULL;
	return re_enter(function, n);
}

static PyObject *known_start_burner(PyObject *self, PyObject *args)
{
	(void)self;
	(void)args;
	burning = 1;
	if (pthread_create(&burner, NULL, burn_alone, NULL))
		return PyErr_SetFromErrno(PyExc_OSError);
	pthread_setname_np(burner, "burner");
	return nothing();
}

static PyObject *known_stop_burner(PyObject *self, PyObject *args)
{
	(void)self;
	(void)args;
	burning = 0;
	pthread_join(burner, NULL);
	return nothing();
}

static PyObject *known_wait_read(PyObject *self, PyObject *args)
{
	int fd;

	(void)self;
	if (!PyArg_ParseTuple(args, "i", &fd))
		return NULL;
	Py_BEGIN_ALLOW_THREADS;
	in_read(fd);
	Py_END_ALLOW_THREADS;
	return nothing();
}

static PyObject *known_wait_poll(PyObject *self, PyObject *args)
{
	int fd;

	(void)self;
	if (!PyArg_ParseTuple(args, "i", &fd))
		return NULL;
	Py_BEGIN_ALLOW_THREADS;
	in_poll(fd);
	Py_END_ALLOW_THREADS;
	return nothing();
}

static PyObject *known_wait_futex(PyObject *self, PyObject *args)
{
	(void)self;
	(void)args;
	Py_BEGIN_ALLOW_THREADS;
	in_futex();
	Py_END_ALLOW_THREADS;
	return nothing();
}

static PyObject *known_wake_futex(PyObject *self, PyObject *args)
{
	(void)self;
	(void)args;
	word = 1;
	syscall(SYS_futex, &word, FUTEX_WAKE, 1000, NULL, NULL, 0);
	return nothing();
}

static PyMethodDef methods[] = {
	{ "spend", known_spend, METH_VARARGS, NULL },
	{ "burn", known_burn, METH_VARARGS, NULL },
	{ "call", known_call, METH_VARARGS, NULL },
	{ "start_burner", known_start_burner, METH_NOARGS, NULL },
	{ "stop_burner", known_stop_burner, METH_NOARGS, NULL },
	{ "wait_read", known_wait_read, METH_VARARGS, NULL },
	{ "wait_poll", known_wait_poll, METH_VARARGS, NULL },
	{ "wait_futex", known_wait_futex, METH_NOARGS, NULL },
	{ "wake_futex", known_wake_futex, METH_NOARGS, NULL },
	{ NULL, NULL, 0, NULL },
};

#if PY_MAJOR_VERSION >= 3
static struct PyModuleDef module = { PyModuleDef_HEAD_INIT, .m_name = "known",
				     .m_size = -1, .m_methods = methods };

PyMODINIT_FUNC PyInit_known(void)
{
	PyObject *m = PyModule_Create(&module);

#ifdef Py_GIL_DISABLED
	PyUnstable_Module_SetGIL(m, Py_MOD_GIL_NOT_USED);
#endif
	return m;
}
#else
PyMODINIT_FUNC initknown(void);
PyMODINIT_FUNC initknown(void)
{
	Py_InitModule("known", methods);
}
#endif
