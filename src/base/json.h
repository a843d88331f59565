/* A JSON writer: commas, nesting and escapes done once and right.
 *
 *   struct json j = JSON_OVER(&buffer);
 *   json_open(&j, NULL, '{');
 *   json_string(&j, "name", name);
 *   json_close(&j);
 *
 * The key is NULL inside an array and at the top. Text that is not valid UTF-8
 * is written with U+FFFD in place of each bad byte. Levels beyond JSON_DEPTH
 * are written as null: common readers give up at that depth. */
#ifndef PYROMETER_BASE_JSON_H
#define PYROMETER_BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"

#define JSON_DEPTH 960

struct json {
	struct buffer *out;
	int depth;
	bool comma;		 /* the next value needs one in front */
	char closer[JSON_DEPTH]; /* what closes each open level */
};

#define JSON_OVER(buffer)       \
	{                       \
		.out = (buffer) \
	}

void json_open(struct json *j, const char *key, char bracket); /* '{' or '[' */
void json_close(struct json *j);
void json_string(struct json *j, const char *key, const char *text);
void json_bytes(struct json *j, const char *key, const char *text, size_t n);
void json_int(struct json *j, const char *key, int64_t v);
void json_double(struct json *j, const char *key, double v); /* NaN: null */
void json_bool(struct json *j, const char *key, bool v);
void json_null(struct json *j, const char *key);

#endif
