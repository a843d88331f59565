/* The build id of an object file: what tells two builds of a file apart. */
#ifndef PYROMETER_ELF_BUILD_ID_H
#define PYROMETER_ELF_BUILD_ID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BUILD_ID_MAX 64 /* bytes; 20 are usual */

struct build_id {
	unsigned char bytes[BUILD_ID_MAX];
	size_t size; /* 0: the file has none, or it cannot be read */
};

/* Reads `size` bytes at an offset in the file; false when it cannot. */
typedef bool build_id_reader(void *context, uint64_t offset, void *into,
			     size_t size);

/* The build id of a file of which parts can be read. */
struct build_id build_id_read(build_id_reader *read, void *context);
/* The same of an open file. */
struct build_id build_id_of_file(int fd);

/* Whether both are known and differ. */
bool build_id_differs(const struct build_id *a, const struct build_id *b);

#endif
