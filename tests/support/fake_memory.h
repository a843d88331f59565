/* Memory made of regions that a test fills, and objects of CPython in it. */
#ifndef PYROMETER_TESTS_FAKE_MEMORY_H
#define PYROMETER_TESTS_FAKE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "os/memory.h"
#include "python/layout.h"

struct fake_memory;

struct fake_memory *fake_memory_new(void);
void fake_memory_free(struct fake_memory *f);
/* To read it; owned by the fake. */
struct memory *fake_memory_reader(struct fake_memory *f);

/* Make `size` zeroed bytes readable at an address of the fake's choice, far
 * from every other region. Returns the address. */
uint64_t fake_memory_map(struct fake_memory *f, size_t size);
/* Make the region that begins at the address unreadable for good. */
void fake_memory_unmap(struct fake_memory *f, uint64_t address);
/* Have `hook` called before each piece of a read, with its address: to change
 * what the pieces behind it will find. NULL: no more. */
void fake_memory_hook(struct fake_memory *f,
		      void (*hook)(void *context, uint64_t address),
		      void *context);
/* Change bytes; they must be mapped. */
void fake_memory_put(struct fake_memory *f, uint64_t address, const void *data,
		     size_t size);
void fake_memory_put_word(struct fake_memory *f, uint64_t address,
			  uint64_t word);
void fake_memory_put_int(struct fake_memory *f, uint64_t address, uint32_t v);

/* Objects as the layout has them. Each returns its address. */
struct fake_python {
	struct fake_memory *memory;
	const struct layout *layout;
};

/* A type; built in unless TYPE_HEAP is among the flags. `base` may be 0. */
uint64_t fake_type(struct fake_python *p, const char *name, uint64_t flags,
		   uint64_t base);
/* An object of `size` zeroed bytes. */
uint64_t fake_object(struct fake_python *p, uint64_t type, size_t size);
/* A str of n characters of `width` (1, 2 or 4) bytes; compact. Width 1 is
 * latin-1. 2.7: a unicode object of `width` 2 or 4. */
uint64_t fake_text(struct fake_python *p, const void *data, size_t n,
		   unsigned width);
/* An ASCII str; 2.7: a str. */
uint64_t fake_ascii(struct fake_python *p, const char *text);
uint64_t fake_bytes(struct fake_python *p, const void *data, size_t n);
uint64_t fake_tuple(struct fake_python *p, const uint64_t *items, size_t n);
uint64_t fake_list(struct fake_python *p, const uint64_t *items, size_t n);
/* An int of digits (30 bits each, lowest first). */
uint64_t fake_int(struct fake_python *p, const uint32_t *digits, size_t n,
		  int sign);

#endif
