/* probe PID VERSION RUNTIME: reads objects of a live interpreter as Pyrometer
 * does, for tests that know from the interpreter itself what is right.
 *
 * VERSION is PY_VERSION_HEX, RUNTIME the address of _PyRuntime (0 before 3.13).
 * Each line of standard input is a question, each answer one line of JSON:
 *
 *   code ADDRESS    name, file, first line, units, CRC-32 of the lines
 *   line FRAME      name and line of a frame
 *   value ADDRESS   the value's text
 *   locals FRAME    name, whether an argument, text of each
 *   layout          the bytes of struct layout, in hexadecimal */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "python/code.h"

#define LOCALS_MAX 200

struct probe {
	struct memory *memory;
	struct layout layout;
	struct arena arena;
	struct json json;
};

static uint32_t crc32_of(const void *data, size_t size)
{
	const unsigned char *p = data;
	uint32_t crc = UINT32_MAX;

	for (size_t i = 0; i < size; i++) {
		crc ^= p[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
	}
	return ~crc;
}

static uint64_t word_of_frame(struct probe *p, uint64_t frame, uint16_t field)
{
	uint64_t word = 0;

	memory_read_u64(p->memory, frame + field, &word);
	return word;
}

static uint64_t code_of_frame(struct probe *p, uint64_t frame)
{
	return word_of_frame(p, frame, p->layout.frame.code) &
	       ~(uint64_t)p->layout.object_tag_bits;
}

static int read_code(struct probe *p, struct code *code, uint64_t address)
{
	int rc = code_read(code, p->memory, &p->layout, address, 0, &p->arena);

	if (rc)
		json_string(&p->json, "error", error_name(rc));
	else
		json_string(&p->json, "name", code->name);
	return rc;
}

static void answer_code(struct probe *p, uint64_t address)
{
	struct code code;

	if (read_code(p, &code, address))
		return;
	json_string(&p->json, "file", code.file);
	json_int(&p->json, "first", code.first_line);
	json_int(&p->json, "units", code.n_units);
	json_int(&p->json, "crc",
		 crc32_of(code.lines, code.n_units * sizeof(code.lines[0])));
}

static void answer_line(struct probe *p, uint64_t frame)
{
	uint64_t at = word_of_frame(p, frame, p->layout.frame.instruction);
	struct code code;

	if (read_code(p, &code, code_of_frame(p, frame)))
		return;
	if (p->layout.frames == FRAME_OBJECTS)
		at = (uint32_t)at;
	json_int(&p->json, "line", code_line(&code, &p->layout, at, 0));
}

static void add_value(struct probe *p, const char *key, uint64_t address)
{
	struct buffer text = BUFFER_INIT;

	value_render(&text, p->memory, &p->layout, address, 4, 400);
	json_string(&p->json, key, buffer_text(&text));
	buffer_release(&text);
}

static void answer_locals(struct probe *p, uint64_t frame)
{
	static struct local locals[LOCALS_MAX];
	int n = frame_locals(locals, LOCALS_MAX, p->memory, &p->layout, frame,
			     code_of_frame(p, frame));

	json_int(&p->json, "count", n);
	json_open(&p->json, "locals", '[');
	for (int i = 0; i < n; i++) {
		json_open(&p->json, NULL, '{');
		json_string(&p->json, "name", locals[i].name);
		json_bool(&p->json, "argument", locals[i].argument);
		if (locals[i].value)
			add_value(p, "value", locals[i].value);
		else
			json_null(&p->json, "value");
		json_close(&p->json);
	}
	json_close(&p->json);
}

static void answer_layout(struct probe *p)
{
	struct buffer hex = BUFFER_INIT;

	for (size_t i = 0; i < sizeof(p->layout); i++)
		buffer_printf(&hex, "%02x", ((unsigned char *)&p->layout)[i]);
	json_string(&p->json, "layout", buffer_text(&hex));
	buffer_release(&hex);
}

static void answer(struct probe *p, const char *question, uint64_t address)
{
	json_open(&p->json, NULL, '{');
	if (!strcmp(question, "code"))
		answer_code(p, address);
	else if (!strcmp(question, "line"))
		answer_line(p, address);
	else if (!strcmp(question, "value"))
		add_value(p, "value", address);
	else if (!strcmp(question, "locals"))
		answer_locals(p, address);
	else if (!strcmp(question, "layout"))
		answer_layout(p);
	json_close(&p->json);
	puts(buffer_text(p->json.out));
	fflush(stdout);
	buffer_reset(p->json.out);
	p->json.comma = false;
	arena_release(&p->arena);
}

static int open_layout(struct probe *p, uint32_t version, uint64_t runtime,
		       struct error *err)
{
	const struct layout *known = layout_for_version(version, false, false);

	if (!known)
		return layout_from_debug_offsets(&p->layout, p->memory, runtime,
						 err);
	p->layout = *known;
	return 0;
}

int main(int argc, char **argv)
{
	struct buffer out = BUFFER_INIT;
	struct probe p = { .json = JSON_OVER(&out), .arena = ARENA_INIT };
	struct error err = ERROR_INIT;
	char line[256], question[16];
	uint64_t address;

	if (argc != 4)
		return 2;
	if (memory_open_process(&p.memory, atoi(argv[1]), &err) ||
	    open_layout(&p, (uint32_t)strtoul(argv[2], NULL, 0),
			strtoull(argv[3], NULL, 0), &err)) {
		fprintf(stderr, "probe: %s\n", err.text);
		return 1;
	}
	while (fgets(line, sizeof(line), stdin)) {
		address = 0;
		if (sscanf(line, "%15s %" SCNi64, question,
			   (int64_t *)&address) >= 1)
			answer(&p, question, address);
	}
	memory_free(p.memory);
	buffer_release(&out);
	return 0;
}
