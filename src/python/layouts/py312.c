/* CPython 3.12: one GIL per interpreter, shims below each entry from C. */
#include "python/layouts/layouts.h"

const struct layout layout_3_12 = {
	.major = 3,
	.minor = 12,
	.frames = FRAME_CFRAME,
	.lines = LINES_LOCATIONS,
	.dicts = DICT_KINDS,
	.text = TEXT_UNICODE,
	.gil_style = GIL_INTERPRETER,
	.code_unit = 2,
	.object_tag_bits = 0,
	.runtime = {
		.interpreters_head = 40, .main_interpreter = 48,
		.finalizing = 24, .current = LAYOUT_RUNTIME_NONE,
		.gil_locked = LAYOUT_RUNTIME_NONE,
		.gc_collecting = LAYOUT_RUNTIME_NONE,
	},
	.interpreter = {
		.size = 383552, .next = 0, .id = 8, .threads_head = 72,
		.threads_main = LAYOUT_RUNTIME_NONE, .modules = 944, .gil = 384,
		.gc_collecting = 312, .code_generation = LAYOUT_RUNTIME_NONE,
		.gc = LAYOUT_RUNTIME_NONE, .gil_state = LAYOUT_RUNTIME_NONE,
	},
	.gil = {
		.locked = 16, .holder = 8,
	},
	.thread = {
		.size = 288, .previous = 0, .next = 8, .interpreter = 16,
		.frame = 56, .thread_id = 136, .dict = 112, .id = 224,
		.native_thread_id = 144, .datastack_chunk = 232,
		.datastack_top = 240, .status = 24, .state = LAYOUT_NONE,
		.holds_gil = LAYOUT_NONE, .gil_requested = LAYOUT_NONE,
		.base_frame = LAYOUT_NONE,
	},
	.cframe = {
		.current_frame = 0,
	},
	.frame = {
		.size = 72, .previous = 8, .localsplus = 72, .frame_object = 48,
		.locals = 40, .owner = 70, .owner_generator = 1,
		.owner_cstack = 3, .owner_interpreter = 255, .code = 0,
		.instruction = 56, .function = 16, .is_entry = LAYOUT_NONE,
		.stacktop = 64, .tlbc_index = LAYOUT_NONE,
	},
	.code = {
		.size = 192, .qualname = 128, .code = 192, .version = 92,
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
		.keys_count = 24, .keys_indices = 32, .values_data = 0,
	},
	.set = {
		.used = 24, .mask = 32, .table = 40,
	},
	.generator = {
		.iframe = 72, .frame = LAYOUT_NONE, .state = 67,
	},
};
