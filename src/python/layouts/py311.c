/* CPython 3.11: frames on a data stack, found through tstate->cframe. */
#include "python/layouts/layouts.h"

const struct layout layout_3_11 = {
	.major = 3,
	.minor = 11,
	.frames = FRAME_CFRAME,
	.lines = LINES_LOCATIONS,
	.dicts = DICT_KINDS,
	.text = TEXT_UNICODE,
	.gil_style = GIL_RUNTIME,
	.code_unit = 2,
	.object_tag_bits = 0,
	.runtime = {
		.interpreters_head = 40, .main_interpreter = 48,
		.finalizing = 24, .current = 576 + LAYOUT_TWO_MUTEXES, .gil_locked = 376,
		.gc_collecting = LAYOUT_RUNTIME_NONE,
	},
	.interpreter = {
		.size = 107752, .next = 0, .id = 48, .threads_head = 16,
		.threads_main = LAYOUT_RUNTIME_NONE, .modules = 888,
		.gil = LAYOUT_RUNTIME_NONE, .gc_collecting = 848,
		.code_generation = LAYOUT_RUNTIME_NONE,
		.gc = LAYOUT_RUNTIME_NONE, .gil_state = LAYOUT_RUNTIME_NONE,
	},
	.gil = {
		.locked = LAYOUT_NONE, .holder = LAYOUT_NONE,
	},
	.thread = {
		.size = 360, .previous = 0, .next = 8, .interpreter = 16,
		.frame = 56, .thread_id = 152, .dict = 128, .id = 240,
		.native_thread_id = 160, .datastack_chunk = 296,
		.datastack_top = 304, .status = LAYOUT_NONE,
		.state = LAYOUT_NONE, .holds_gil = LAYOUT_NONE,
		.gil_requested = LAYOUT_NONE, .base_frame = LAYOUT_NONE,
	},
	.cframe = {
		.current_frame = 8,
	},
	.frame = {
		.size = 72, .previous = 48, .localsplus = 72,
		.frame_object = 40, .locals = 24, .owner = 69,
		.owner_generator = 1, .owner_cstack = 255,
		.owner_interpreter = 255, .code = 32, .instruction = 56,
		.function = 0, .is_entry = 68, .stacktop = 64,
		.tlbc_index = LAYOUT_NONE,
	},
	.code = {
		.size = 184, .qualname = 128, .code = 184,
		.version = LAYOUT_NONE, .filename = 112, .name = 120,
		.linetable = 136, .firstlineno = 72, .argcount = 56,
		.kwonlyargcount = 64, .posonlyargcount = 60, .flags = 48,
		.nlocals = 80, .localsplusnames = 96, .localspluskinds = 104,
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
		.keys_size = 8, .keys_index_bytes = 9, .keys_kind = 10,
		.keys_count = 24, .keys_indices = 32, .values_data = 0,
	},
	.set = {
		.used = 24, .mask = 32, .table = 40,
	},
	.generator = {
		.iframe = 80, .frame = LAYOUT_NONE, .state = 75,
	},
};
