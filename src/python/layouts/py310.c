/* CPython 3.10: f_lasti counts code units, lines come in pairs. */
#include "python/layouts/layouts.h"

const struct layout layout_3_10 = {
	.major = 3,
	.minor = 10,
	.frames = FRAME_OBJECTS,
	.lines = LINES_PAIRS,
	.dicts = DICT_COMPACT,
	.text = TEXT_UNICODE,
	.gil_style = GIL_RUNTIME,
	.code_unit = 2,
	.object_tag_bits = 0,
	.runtime = {
		.interpreters_head = 32, .main_interpreter = 40,
		.finalizing = 16, .current = 568 + LAYOUT_TWO_MUTEXES, .gil_locked = 368,
		.gc_collecting = LAYOUT_RUNTIME_NONE,
	},
	.interpreter = {
		.size = 113528, .next = 0, .id = 24, .threads_head = 8,
		.threads_main = LAYOUT_RUNTIME_NONE, .modules = 856,
		.gil = LAYOUT_RUNTIME_NONE, .gc_collecting = 816,
		.code_generation = LAYOUT_RUNTIME_NONE,
		.gc = LAYOUT_RUNTIME_NONE, .gil_state = LAYOUT_RUNTIME_NONE,
	},
	.gil = {
		.locked = LAYOUT_NONE, .holder = LAYOUT_NONE,
	},
	.thread = {
		.size = 280, .previous = 0, .next = 8, .interpreter = 16,
		.frame = 24, .thread_id = 176, .dict = 152, .id = 256,
		.native_thread_id = LAYOUT_NONE, .datastack_chunk = LAYOUT_NONE,
		.datastack_top = LAYOUT_NONE, .status = LAYOUT_NONE,
		.state = LAYOUT_NONE, .holds_gil = LAYOUT_NONE,
		.gil_requested = LAYOUT_NONE, .base_frame = LAYOUT_NONE,
	},
	.cframe = {
		.current_frame = LAYOUT_NONE,
	},
	.frame = {
		.size = 352, .previous = 24, .code = 32, .instruction = 96,
		.localsplus = 352, .locals = 56, .owner = LAYOUT_NONE,
		.is_entry = LAYOUT_NONE, .stacktop = LAYOUT_NONE,
		.tlbc_index = LAYOUT_NONE, .frame_object = LAYOUT_NONE,
		.function = LAYOUT_NONE, .owner_cstack = 255,
		.owner_interpreter = 255, .owner_generator = 255,
	},
	.code = {
		.size = 176, .qualname = LAYOUT_NONE, .code = 48,
		.version = LAYOUT_NONE, .filename = 104, .name = 112,
		.linetable = 120, .firstlineno = 40, .argcount = 16,
		.kwonlyargcount = 24, .posonlyargcount = 20, .flags = 36,
		.nlocals = 28, .localsplusnames = LAYOUT_NONE,
		.localspluskinds = LAYOUT_NONE, .varnames = 72, .cellvars = 88,
		.freevars = 80, .tlbc = LAYOUT_NONE,
	},
	.object = {
		.type = 8, .refcount = 0, .size = 16, .var_size = 16,
	},
	.type = {
		.name = 24, .basicsize = 32, .itemsize = 40, .dictoffset = 288,
		.flags = 168, .base = 256, .mro = 344, .cache = 352,
	},
	.unicode = {
		.length = 16, .state = 32, .kind_bit = 2, .ascii_data = 48,
		.compact_data = 72, .utf8 = 56, .utf8_length = 48, .data = 72,
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
		.keys_index_bytes = LAYOUT_NONE, .keys_kind = LAYOUT_NONE,
		.keys_size = 8, .keys_count = 32, .keys_indices = 40,
		.values_data = 0,
	},
	.set = {
		.used = 24, .mask = 32, .table = 40,
	},
	.generator = {
		.iframe = LAYOUT_NONE, .frame = 16, .state = LAYOUT_NONE,
	},
};
