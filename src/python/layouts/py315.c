/* CPython 3.15: the bottom of each thread's frames is in its state. */
#include "python/layouts/layouts.h"

const struct layout layout_3_15 = {
	.major = 3,
	.minor = 15,
	.frames = FRAME_CURRENT,
	.lines = LINES_LOCATIONS,
	.dicts = DICT_KINDS,
	.text = TEXT_UNICODE,
	.gil_style = GIL_INTERPRETER,
	.code_unit = 2,
	.object_tag_bits = 3,
	.runtime = {
		.interpreters_head = 936, .main_interpreter = 944,
		.finalizing = 912, .current = LAYOUT_RUNTIME_NONE,
		.gil_locked = LAYOUT_RUNTIME_NONE,
		.gc_collecting = LAYOUT_RUNTIME_NONE,
	},
	.interpreter = {
		.size = 226232, .next = 7264, .id = 7272, .threads_head = 7336,
		.threads_main = 7352, .modules = 7592, .gil = 16,
		.gc_collecting = 7512, .code_generation = 7944, .gc = 7400,
		.gil_state = 7736,
	},
	.gil = {
		.locked = 16, .holder = 8,
	},
	.thread = {
		.size = 888, .previous = 0, .next = 8, .interpreter = 16,
		.frame = 72, .thread_id = 176, .dict = 152, .id = 248,
		.native_thread_id = 184, .datastack_chunk = 256,
		.datastack_top = 264, .status = 32, .state = 48,
		.holds_gil = 36, .gil_requested = 40, .base_frame = 80,
	},
	.cframe = {
		.current_frame = LAYOUT_NONE,
	},
	.frame = {
		.size = 80, .previous = 8, .localsplus = 80, .frame_object = 48,
		.locals = 40, .owner = 74, .owner_generator = 1,
		.owner_cstack = 255, .owner_interpreter = 3, .code = 0,
		.instruction = 56, .function = 16, .is_entry = LAYOUT_NONE,
		.stacktop = 64, .tlbc_index = LAYOUT_NONE,
	},
	.code = {
		.size = 208, .qualname = 128, .code = 208, .version = 92,
		.filename = 112, .name = 120, .linetable = 136,
		.firstlineno = 68, .argcount = 52, .kwonlyargcount = 60,
		.posonlyargcount = 56, .flags = 48, .nlocals = 80,
		.localsplusnames = 96, .localspluskinds = 104,
		.varnames = LAYOUT_NONE, .cellvars = LAYOUT_NONE,
		.freevars = LAYOUT_NONE, .tlbc = LAYOUT_NONE,
	},
	.object = {
		.type = 8, .refcount = 0, .size = 16, .var_size = 16,
	},
	.type = {
		.name = 24, .basicsize = 32, .itemsize = 40, .dictoffset = 288,
		.flags = 168, .base = 256, .mro = 344, .cache = 352,
	},
	.unicode = {
		.length = 16, .state = 32, .kind_bit = 2, .ascii_data = 40,
		.compact_data = 56, .utf8 = 48, .utf8_length = 40, .data = 56,
	},
	.bytes = {
		.size = 16, .data = 32,
	},
	.floating = {
		.value = 16,
	},
	.integer = {
		.lv_tag = 16, .digits = 24,
	},
	.tuple = {
		.items = 32, .size = 16,
	},
	.list = {
		.items = 24, .size = 16,
	},
	.dict = {
		.used = 16, .keys = 32, .values = 40, .mask = LAYOUT_NONE,
		.keys_size = 8, .keys_index_bytes = 9, .keys_kind = 10,
		.keys_count = 24, .keys_indices = 32, .values_data = 8,
	},
	.set = {
		.used = 24, .mask = 32, .table = 40,
	},
	.generator = {
		.iframe = 72, .frame = LAYOUT_NONE, .state = 67,
	},
};

const struct layout layout_3_15t = {
	.major = 3,
	.minor = 15,
	.free_threaded = true,
	.frames = FRAME_CURRENT,
	.lines = LINES_LOCATIONS,
	.dicts = DICT_KINDS,
	.text = TEXT_UNICODE,
	.gil_style = GIL_INTERPRETER,
	.code_unit = 2,
	.object_tag_bits = 3,
	.runtime = {
		.interpreters_head = 936, .main_interpreter = 944,
		.finalizing = 912, .current = LAYOUT_RUNTIME_NONE,
		.gil_locked = LAYOUT_RUNTIME_NONE,
		.gc_collecting = LAYOUT_RUNTIME_NONE,
	},
	.interpreter = {
		.size = 250328, .next = 7264, .id = 7272, .threads_head = 7336,
		.threads_main = 7352, .modules = 7592, .gil = 16,
		.gc_collecting = 7512, .code_generation = 7952, .gc = 7400,
		.gil_state = 7736,
	},
	.gil = {
		.locked = 24, .holder = 16,
	},
	.thread = {
		.size = 888, .previous = 0, .next = 8, .interpreter = 16,
		.frame = 72, .thread_id = 176, .dict = 152, .id = 248,
		.native_thread_id = 184, .datastack_chunk = 256,
		.datastack_top = 264, .status = 32, .state = 48,
		.holds_gil = 36, .gil_requested = 40, .base_frame = 80,
	},
	.cframe = {
		.current_frame = LAYOUT_NONE,
	},
	.frame = {
		.size = 80, .previous = 8, .localsplus = 80, .frame_object = 48,
		.locals = 40, .owner = 78, .owner_generator = 1,
		.owner_cstack = 255, .owner_interpreter = 3, .code = 0,
		.instruction = 56, .function = 16, .is_entry = LAYOUT_NONE,
		.stacktop = 64, .tlbc_index = 72,
	},
	.code = {
		.size = 232, .qualname = 144, .code = 232, .version = 108,
		.filename = 128, .name = 136, .linetable = 152,
		.firstlineno = 84, .argcount = 68, .kwonlyargcount = 76,
		.posonlyargcount = 72, .flags = 64, .nlocals = 96,
		.localsplusnames = 112, .localspluskinds = 120,
		.varnames = LAYOUT_NONE, .cellvars = LAYOUT_NONE,
		.freevars = LAYOUT_NONE, .tlbc = 224,
	},
	.object = {
		.type = 24, .refcount = 12, .size = 32, .var_size = 32,
	},
	.type = {
		.name = 40, .basicsize = 48, .itemsize = 56, .dictoffset = 304,
		.flags = 184, .base = 272, .mro = 360, .cache = 368,
	},
	.unicode = {
		.length = 32, .state = 48, .kind_bit = 8, .ascii_data = 56,
		.compact_data = 72, .utf8 = 64, .utf8_length = 56, .data = 72,
	},
	.bytes = {
		.size = 32, .data = 48,
	},
	.floating = {
		.value = 32,
	},
	.integer = {
		.lv_tag = 32, .digits = 40,
	},
	.tuple = {
		.items = 48, .size = 32,
	},
	.list = {
		.items = 40, .size = 32,
	},
	.dict = {
		.used = 32, .keys = 48, .values = 56, .mask = LAYOUT_NONE,
		.keys_size = 8, .keys_index_bytes = 9, .keys_kind = 10,
		.keys_count = 24, .keys_indices = 32, .values_data = 8,
	},
	.set = {
		.used = 40, .mask = 48, .table = 56,
	},
	.generator = {
		.iframe = 88, .frame = LAYOUT_NONE, .state = 83,
	},
};

/* _Py_DebugOffsets after cookie, version and free_threaded. */
const struct layout_told layout_told_3_15[] = {
	SIZE,
	POINTER(runtime.finalizing),
	POINTER(runtime.interpreters_head),

	SIZE_OF(interpreter.size),
	POINTER(interpreter.id),
	POINTER(interpreter.next),
	POINTER(interpreter.threads_head),
	POINTER(interpreter.threads_main),
	POINTER(interpreter.gc),
	POINTER(interpreter.modules),
	UNUSED, /* sysdict */
	UNUSED, /* builtins */
	POINTER(interpreter.gil),
	POINTER(interpreter.gil_state),
	UNUSED, /* enabled */
	IN_GIL(gil.locked),
	IN_GIL(gil.holder),
	POINTER(interpreter.code_generation),
	UNUSED, /* tlbc_generation */

	SIZE_OF(thread.size),
	POINTER(thread.previous),
	POINTER(thread.next),
	POINTER(thread.interpreter),
	POINTER(thread.frame),
	POINTER(thread.base_frame),
	UNUSED, /* last_profiled_frame */
	UNUSED, /* last_profiled_frame_seq */
	POINTER(thread.thread_id),
	POINTER(thread.native_thread_id),
	POINTER(thread.datastack_chunk),
	INT(thread.status),
	INT(thread.holds_gil),
	INT(thread.gil_requested),
	UNUSED, /* current_exception */
	UNUSED, /* exc_state */

	UNUSED, /* exc_value of an exception stack item */

	SIZE, /* of a frame, with room for one local */
	POINTER(frame.previous),
	POINTER(frame.code),
	POINTER(frame.instruction),
	POINTER(frame.localsplus),
	BYTE(frame.owner),
	POINTER(frame.stacktop),
	INT(frame.tlbc_index),

	SIZE, /* of a code object */
	POINTER(code.filename),
	POINTER(code.name),
	POINTER(code.qualname),
	POINTER(code.linetable),
	INT(code.firstlineno),
	INT(code.argcount),
	POINTER(code.localsplusnames),
	POINTER(code.localspluskinds),
	POINTER(code.code),
	POINTER(code.tlbc),

	SIZE_OF(object.size),
	POINTER(object.type),

	SIZE, /* of a type */
	POINTER(type.name),
	UNUSED, /* tp_repr */
	POINTER(type.flags),
	POINTER(type.basicsize),
	POINTER(type.dictoffset),

	SIZE,	/* of a heap type */
	UNUSED, /* ht_cached_keys */

	SIZE,
	POINTER(tuple.items),
	POINTER(tuple.size),

	SIZE,
	POINTER(list.items),
	POINTER(list.size),

	SIZE,
	POINTER(set.used),
	POINTER(set.table),
	POINTER(set.mask),

	SIZE,
	POINTER(dict.keys),
	POINTER(dict.values),

	SIZE,
	POINTER(floating.value),

	SIZE,
	POINTER(integer.lv_tag),
	INT(integer.digits),

	SIZE,
	POINTER(bytes.size),
	BYTE(bytes.data),

	SIZE,
	INT(unicode.state),
	POINTER(unicode.length),
	POINTER(unicode.ascii_data),
	POINTER(unicode.compact_data),

	SIZE, /* of the collector */
	IN_GC(interpreter.gc_collecting),
	UNUSED, /* frame */
	UNUSED, /* generation_stats_size */
	UNUSED, /* generation_stats */

	SIZE,	/* of a generator */
	UNUSED, /* gi_name */
	POINTER(generator.iframe),
	BYTE(generator.state),
	TOLD_LAST,
};
