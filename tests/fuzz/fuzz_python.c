/* The input is the memory of a target that lies (see liar.h).
 *
 * Byte 0 chooses the layout, the rest is the memory; layouts come from the
 * input too (as a target of 3.13 or later tells them). */
#include <string.h>

#include "liar.h"
#include "python/code.h"
#include "python/layouts/layouts.h"
#include "python/names.h"
#include "python/object.h"

#define READS_MAX 200000 /* of one question: more is a hang in the making */
#define VALUE_MAX 300
#define LOCALS	  40
#define NAMES	  8

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct layout *const layouts[] = {
	&layout_2_7,  &layout_3_6,   &layout_3_7,  &layout_3_8,	  &layout_3_9,
	&layout_3_10, &layout_3_11,  &layout_3_12, &layout_3_13,  &layout_3_13t,
	&layout_3_14, &layout_3_14t, &layout_3_15, &layout_3_15t,
};

static void check_code(struct liar *liar, const struct layout *layout,
		       uint64_t address)
{
	struct arena arena = ARENA_INIT;
	struct code code;
	uint64_t type = 0;

	liar->reads = 0;
	memory_read_u64(&liar->memory, address + layout->object.type, &type);
	if (!code_read(&code, &liar->memory, layout, address, type, &arena)) {
		require(code.name && code.file && code.lines);
		require(strlen(code.name) <= CODE_NAME_MAX);
		require(code.n_units <= CODE_UNITS_MAX);
		for (int i = -3; i < 20; i++)
			code_line(&code, layout,
				  code.first_instruction + (uint64_t)i, 0);
		code_line(&code, layout, address, address + 1);
	}
	code_read(&code, &liar->memory, layout, address, 0, &arena);
	arena_release(&arena);
}

static void check_value(struct liar *liar, const struct layout *layout,
			uint64_t address)
{
	struct buffer out = BUFFER_INIT;

	liar->reads = 0;
	value_render(&out, &liar->memory, layout, address, 4, VALUE_MAX);
	require(out.size && out.size <= 10 * VALUE_MAX + 4096);
	buffer_release(&out);
}

static void check_locals(struct liar *liar, const struct layout *layout,
			 uint64_t frame, uint64_t code)
{
	static struct local locals[LOCALS];
	int n;

	liar->reads = 0;
	n = frame_locals(locals, LOCALS, &liar->memory, layout, frame, code);
	require(n <= LOCALS);
	for (int i = 0; i < n; i++)
		require(strnlen(locals[i].name, sizeof(locals[i].name)) <
			sizeof(locals[i].name));
}

static void check_names(struct liar *liar, const struct layout *layout,
			uint64_t interpreter)
{
	struct python_thread_name names[NAMES];
	int n;

	liar->reads = 0;
	n = names_read(names, NAMES, &liar->memory, layout, interpreter);
	require(n <= NAMES);
	for (int i = 0; i < n; i++)
		require(strnlen(names[i].name, THREAD_NAME_SIZE) <
			THREAD_NAME_SIZE);
}

static void check_all(struct liar *liar, const struct layout *layout)
{
	for (uint64_t address = 0; address < 32; address += 16) {
		check_code(liar, layout, address);
		check_value(liar, layout, address);
		check_locals(liar, layout, address, address + 8);
	}
	check_names(liar, layout, 8);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct liar liar;
	struct error err = ERROR_INIT;
	struct layout told;

	if (size < 2)
		return 0;
	liar_init(&liar, data + 1, size - 1, READS_MAX);
	if (!layout_from_debug_offsets(&told, &liar.memory, 0, &err)) {
		require(told.thread.size <= 0x4000 &&
			told.frame.size <= 0x4000);
		check_all(&liar, &told);
	} else
		require(err.code && err.text[0]);
	check_all(&liar,
		  layouts[data[0] % (sizeof(layouts) / sizeof(layouts[0]))]);
	return 0;
}
