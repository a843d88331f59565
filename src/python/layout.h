/* Where CPython keeps things, as data: one table per version.
 *
 * 3.13 and later describe themselves (_Py_DebugOffsets at the start of
 * _PyRuntime); what they do not say, and all older versions, come from constant
 * tables, one file per minor version in layouts/. An offset that a version does
 * not have is LAYOUT_NONE. Offsets are for 64-bit Linux, the same on x86-64 and
 * aarch64 unless a table says otherwise. Offsets read from a target are
 * untrusted and validated once, in layout_from_debug_offsets(). */
#ifndef PYROMETER_PYTHON_LAYOUT_H
#define PYROMETER_PYTHON_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "os/memory.h"

#define LAYOUT_NONE	    UINT16_MAX
#define LAYOUT_RUNTIME_NONE UINT32_MAX

/* How a version keeps the frames of a thread. */
enum frame_style {
	FRAME_OBJECTS, /* <= 3.10: tstate->frame, a list of PyFrameObject */
	FRAME_CFRAME,  /* 3.11, 3.12: tstate->cframe->current_frame */
	FRAME_CURRENT, /* 3.13+: tstate->current_frame */
};

/* How a code object tells lines. */
enum line_style {
	LINES_LNOTAB_UNSIGNED, /* 2.7: co_lnotab, unsigned line deltas */
	LINES_LNOTAB,	       /* 3.6 to 3.9: signed line deltas */
	LINES_PAIRS,	       /* 3.10: co_linetable, (sdelta, ldelta) */
	LINES_LOCATIONS,       /* 3.11+: location entries */
};

/* How strings are stored. */
enum text_style {
	TEXT_BYTES,   /* 2.7: PyStringObject */
	TEXT_UNICODE, /* 3.3+: compact PyUnicodeObject */
};

/* How a dict keeps its items. */
enum dict_style {
	DICT_OPEN,    /* 2.7: one open hash table of (hash, key, value) */
	DICT_COMPACT, /* 3.6 to 3.10: indices, then (hash, key, value) */
	DICT_KINDS,   /* 3.11+: the same, and (key, value) for str keys */
};

/* How the GIL is found. 2.7 and 3.6 keep it in static variables: the holder in
 * the exported _PyThreadState_Current, 3.6 also has gil_locked, 2.7 the opaque
 * interpreter_lock. */
enum gil_style {
	GIL_NONE,	 /* 2.7: only the holder can be known */
	GIL_RUNTIME,	 /* 3.7 to 3.11: one, in _PyRuntime (3.6: in .bss) */
	GIL_INTERPRETER, /* 3.12+: interp->ceval.gil points at it */
};

/* Bits of thread.status (an int): THREAD_HOLDS_GIL only in 3.13, which has no
 * field of its own for it. */
#define THREAD_ACTIVE	 0x10
#define THREAD_HOLDS_GIL 0x20

struct layout {
	uint8_t major, minor;
	bool free_threaded, debug;
	enum frame_style frames;
	enum line_style lines;
	enum dict_style dicts;
	enum text_style text;
	enum gil_style gil_style;
	/* Bytes per instruction index: lasti * code_unit is the byte offset.
	 * 1 for 2.7 to 3.9, 2 from 3.10 on. */
	uint8_t code_unit;
	/* Mask of the low bits of object pointers in frames that are tags:
	 * 3.14+, "stackrefs". */
	uint8_t object_tag_bits;

	/* From the start of _PyRuntime; LAYOUT_RUNTIME_NONE: not there. */
	struct {
		uint32_t interpreters_head;
		uint32_t main_interpreter;
		uint32_t finalizing;
		uint32_t current;	/* 3.7 to 3.11: who holds the GIL */
		uint32_t gil_locked;	/* 3.7 to 3.11: int */
		uint32_t gc_collecting; /* 3.7, 3.8: int; static before */
	} runtime;
	struct {
		uint32_t size, next, id, threads_head, threads_main, modules;
		uint32_t gil;		  /* 3.12+: pointer to the GIL */
		uint32_t gc_collecting;	  /* 3.9+: int */
		uint32_t code_generation; /* 3.14+ */
		/* 3.13+: where the two structs lie that the target tells. */
		uint32_t gc, gil_state;
	} interpreter;
	struct {
		uint16_t locked, holder; /* in struct _gil_runtime_state */
	} gil;
	struct {
		uint16_t size, previous, next, interpreter;
		/* By frame_style: frame, cframe or current_frame. */
		uint16_t frame;
		uint16_t base_frame;	   /* 3.15 */
		uint16_t thread_id;	   /* pthread_t */
		uint16_t native_thread_id; /* 3.11+ */
		uint16_t datastack_chunk;  /* 3.11+ */
		uint16_t datastack_top;	   /* 3.11+ */
		uint16_t status;	   /* 3.12+: bits, see above */
		/* 3.13+, int: 0 detached, 1 attached, 2 suspended; 3.15: also
		 * 3 shutting down, 4 suspended and 5 detached and waiting. */
		uint16_t state;
		uint16_t holds_gil;	/* 3.14+: int */
		uint16_t gil_requested; /* 3.15: int */
		uint16_t dict;		/* thread state dict */
		uint16_t id;		/* 3.7+ */
	} thread;
	struct {
		uint16_t current_frame; /* in _PyCFrame, FRAME_CFRAME */
	} cframe;
	struct {
		uint16_t size;	      /* of the fixed part */
		uint16_t previous;    /* f_back for FRAME_OBJECTS */
		uint16_t code;	      /* f_code, f_executable */
		uint16_t instruction; /* f_lasti (int), prev_instr, instr_ptr */
		uint16_t localsplus;
		uint16_t owner;	     /* 3.11+: char */
		uint16_t is_entry;   /* 3.11: bool */
		uint16_t stacktop;   /* int; 3.14+: the stack pointer */
		uint16_t tlbc_index; /* free-threaded 3.14+: int */
		uint16_t frame_object;
		uint16_t locals;   /* f_locals, a dict or NULL */
		uint16_t function; /* 3.11+: f_func, f_funcobj */
		/* Values of owner; 0xff: none. Both first ones are shims. */
		uint8_t owner_cstack;	   /* 3.12, 3.13: 3; 3.14: 4 */
		uint8_t owner_interpreter; /* 3.14, 3.15: 3 */
		uint8_t owner_generator;   /* 1 */
	} frame;
	struct {
		uint16_t size, filename, name, qualname, linetable, firstlineno;
		uint16_t argcount, kwonlyargcount, posonlyargcount, flags;
		uint16_t nlocals;
		uint16_t localsplusnames, localspluskinds; /* 3.11+ */
		uint16_t varnames, cellvars, freevars;	   /* <= 3.10 */
		uint16_t code;	  /* co_code; 3.11+: the bytecode in place */
		uint16_t tlbc;	  /* free-threaded 3.14+ */
		uint16_t version; /* 3.12+: co_version */
	} code;
	struct {
		uint16_t type; /* ob_type */
		uint16_t refcount;
		uint16_t size;	   /* sizeof(PyObject) */
		uint16_t var_size; /* ob_size */
	} object;
	struct {
		uint16_t name, basicsize, itemsize, dictoffset, flags, base;
		uint16_t mro, cache;
	} type;
	struct {
		uint16_t length, state, ascii_data, compact_data, utf8;
		uint16_t utf8_length, data;
		uint16_t kind_bit; /* of state: 3 bits kind, compact, ascii */
	} unicode;
	struct {
		uint16_t size, data;
	} bytes;
	struct {
		uint16_t items, size;
	} tuple, list; /* list.items is a pointer, tuple.items in place */
	struct {
		uint16_t lv_tag; /* 3.12+: lv_tag; before: ob_size */
		uint16_t digits;
	} integer;
	struct {
		uint16_t value;
	} floating;
	struct {
		uint16_t used, keys, values; /* DICT_OPEN: keys is ma_table */
		uint16_t mask;		     /* DICT_OPEN */
		/* In the keys object; in DICT_KINDS the size is a log2 and,
		 * like the next two, a byte. */
		uint16_t keys_size, keys_index_bytes, keys_kind;
		uint16_t keys_count, keys_indices;
		uint16_t values_data; /* of split values, from dict.values */
	} dict;
	struct {
		uint16_t used, mask, table;
	} set;
	struct {
		uint16_t iframe; /* gi_iframe in a generator object, 3.11+ */
		uint16_t frame;	 /* gi_frame, <= 3.10 */
		uint16_t state;
	} generator;
};

/* The constant table for a version, or NULL when there is none (unknown or, for
 * 3.13+, when it describes itself). `hex` is PY_VERSION_HEX. */
const struct layout *layout_for_version(uint32_t hex, bool free_threaded,
					bool debug);

/* Build a layout from the _Py_DebugOffsets of a 3.13+ target at `runtime`. The
 * table of the minor version fills what the target does not tell. Offsets that
 * are absurd are an error. */
int layout_from_debug_offsets(struct layout *out, struct memory *memory,
			      uint64_t runtime, struct error *err);

#endif
