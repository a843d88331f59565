/* struct recording_info as bytes: a sequence of fields, each a varint tag and
 * a blob, so that a field may be added and an old reader passes over it. */
#ifndef PYROMETER_RECORD_INFO_H
#define PYROMETER_RECORD_INFO_H

#include "base/arena.h"
#include "base/buffer.h"
#include "record/model.h"

/* Give every text field a text, for an info that was zeroed. */
void info_init(struct recording_info *info);
/* Append the fields of `info` that differ from those of `old`. */
void info_encode(struct buffer *out, const struct recording_info *info,
		 const struct recording_info *old);
/* Overwrite what the bytes mention; texts are copied to the arena. False when
 * they are broken. */
bool info_decode(struct recording_info *info, struct arena *arena,
		 const void *data, size_t size);
/* A copy whose texts are owned by it. */
void info_copy(struct recording_info *to, const struct recording_info *from);
void info_release(struct recording_info *info);

#endif
