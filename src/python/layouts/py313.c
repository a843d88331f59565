/* CPython 3.13, the first that describes itself; the tables stand for what it
 * leaves out. Free-threaded objects have a larger header. */
#include "python/layouts/layouts.h"

const struct layout layout_3_13 = {
	.major = 3,
	.minor = 13,
	.frames = FRAME_CURRENT,
	.lines = LINES_LOCATIONS,
	.dicts = DICT_KINDS,
	.text = TEXT_UNICODE,
	.gil_style = GIL_INTERPRETER,
	.code_unit = 2,
	.object_tag_bits = 0,
	.runtime = {
		.interpreters_head = 632, .main_interpreter = 640,
		.finalizing = 608, .current = LAYOUT_RUNTIME_NONE,
		.gil_locked = LAYOUT_RUNTIME_NONE,
		.gc_collecting = LAYOUT_RUNTIME_NONE,
	},
	.interpreter = {
		.size = 194968, .next = 7264, .id = 7272, .threads_head = 7344,
		.threads_main = 7352, .modules = 7656, .gil = 16,
		.gc_collecting = 7600, .code_generation = LAYOUT_RUNTIME_NONE,
		.gc = 7400, .gil_state = 7752,
	},
	.gil = {
		.locked = 16, .holder = 8,
	},
	.thread = {
		.size = 304, .previous = 0, .next = 8, .interpreter = 16,
		.frame = 72, .thread_id = 152, .dict = 128, .id = 224,
		.native_thread_id = 160, .datastack_chunk = 232,
		.datastack_top = 240, .status = 32, .state = 40,
		.holds_gil = LAYOUT_NONE, .gil_requested = LAYOUT_NONE,
		.base_frame = LAYOUT_NONE,
	},
	.cframe = {
		.current_frame = LAYOUT_NONE,
	},
	.frame = {
		.size = 72, .previous = 8, .localsplus = 72, .frame_object = 48,
		.locals = 40, .owner = 70, .owner_generator = 1,
		.owner_cstack = 3, .owner_interpreter = 255, .code = 0,
		.instruction = 56, .function = 16, .is_entry = LAYOUT_NONE,
		.stacktop = 64, .tlbc_index = LAYOUT_NONE,
	},
	.code = {
		.size = 200, .qualname = 128, .code = 200, .version = 92,
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
		.items = 24, .size = 16,
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

const struct layout layout_3_13t = {
	.major = 3,
	.minor = 13,
	.free_threaded = true,
	.frames = FRAME_CURRENT,
	.lines = LINES_LOCATIONS,
	.dicts = DICT_KINDS,
	.text = TEXT_UNICODE,
	.gil_style = GIL_INTERPRETER,
	.code_unit = 2,
	.object_tag_bits = 0,
	.runtime = {
		.interpreters_head = 632, .main_interpreter = 640,
		.finalizing = 608, .current = LAYOUT_RUNTIME_NONE,
		.gil_locked = LAYOUT_RUNTIME_NONE,
		.gc_collecting = LAYOUT_RUNTIME_NONE,
	},
	.interpreter = {
		.size = 215616, .next = 7264, .id = 7272, .threads_head = 7344,
		.threads_main = 7352, .modules = 7664, .gil = 16,
		.gc_collecting = 7600, .code_generation = LAYOUT_RUNTIME_NONE,
		.gc = 7400, .gil_state = 7760,
	},
	.gil = {
		.locked = 24, .holder = 16,
	},
	.thread = {
		.size = 304, .previous = 0, .next = 8, .interpreter = 16,
		.frame = 72, .thread_id = 152, .dict = 128, .id = 224,
		.native_thread_id = 160, .datastack_chunk = 232,
		.datastack_top = 240, .status = 32, .state = 40,
		.holds_gil = LAYOUT_NONE, .gil_requested = LAYOUT_NONE,
		.base_frame = LAYOUT_NONE,
	},
	.cframe = {
		.current_frame = LAYOUT_NONE,
	},
	.frame = {
		.size = 72, .previous = 8, .localsplus = 72, .frame_object = 48,
		.locals = 40, .owner = 70, .owner_generator = 1,
		.owner_cstack = 3, .owner_interpreter = 255, .code = 0,
		.instruction = 56, .function = 16, .is_entry = LAYOUT_NONE,
		.stacktop = 64, .tlbc_index = LAYOUT_NONE,
	},
	.code = {
		.size = 216, .qualname = 144, .code = 216, .version = 108,
		.filename = 128, .name = 136, .linetable = 152,
		.firstlineno = 84, .argcount = 68, .kwonlyargcount = 76,
		.posonlyargcount = 72, .flags = 64, .nlocals = 96,
		.localsplusnames = 112, .localspluskinds = 120,
		.varnames = LAYOUT_NONE, .cellvars = LAYOUT_NONE,
		.freevars = LAYOUT_NONE, .tlbc = LAYOUT_NONE,
	},
	.object = {
		.type = 24, .refcount = 12, .size = 32, .var_size = 32,
	},
	.type = {
		.name = 40, .basicsize = 48, .itemsize = 56, .dictoffset = 304,
		.flags = 184, .base = 272, .mro = 360, .cache = 368,
	},
	.unicode = {
		.length = 32, .state = 48, .kind_bit = 2, .ascii_data = 56,
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
		.items = 40, .size = 32,
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
const struct layout_told layout_told_3_13[] = {
	SIZE,
	POINTER(runtime.finalizing),
	POINTER(runtime.interpreters_head),

	SIZE_OF(interpreter.size),
	POINTER(interpreter.id),
	POINTER(interpreter.next),
	POINTER(interpreter.threads_head),
	POINTER(interpreter.gc),
	POINTER(interpreter.modules),
	UNUSED, /* sysdict */
	UNUSED, /* builtins */
	POINTER(interpreter.gil),
	POINTER(interpreter.gil_state),
	UNUSED, /* enabled */
	IN_GIL(gil.locked),
	IN_GIL(gil.holder),

	SIZE_OF(thread.size),
	POINTER(thread.previous),
	POINTER(thread.next),
	POINTER(thread.interpreter),
	POINTER(thread.frame),
	POINTER(thread.thread_id),
	POINTER(thread.native_thread_id),
	POINTER(thread.datastack_chunk),
	INT(thread.status),

	SIZE, /* of a frame, with room for one local */
	POINTER(frame.previous),
	POINTER(frame.code),
	POINTER(frame.instruction),
	POINTER(frame.localsplus),
	BYTE(frame.owner),

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

	SIZE_OF(object.size),
	POINTER(object.type),

	SIZE, /* of a type */
	POINTER(type.name),
	UNUSED, /* tp_repr */
	POINTER(type.flags),

	SIZE,
	POINTER(tuple.items),
	POINTER(tuple.size),

	SIZE,
	POINTER(list.items),
	POINTER(list.size),

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

	SIZE, /* of the collector */
	IN_GC(interpreter.gc_collecting),
	TOLD_LAST,
};
