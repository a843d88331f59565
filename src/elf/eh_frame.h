/* .eh_frame, or .debug_frame: which function an address is in, and the program
 * that tells how its frame is laid out.
 *
 * Addresses are those of the file. The bytes are a copy that the caller owns;
 * they may be broken in any way. */
#ifndef PYROMETER_ELF_EH_FRAME_H
#define PYROMETER_ELF_EH_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elf/eh_frame_read.h"

struct eh_frame {
	const unsigned char *bytes;
	size_t size;
	uint64_t address; /* of the first byte */
	uint64_t hdr;	  /* address of .eh_frame_hdr, 0: none */
	bool is_debug;	  /* it is .debug_frame */
};

/* What functions have in common. */
struct eh_cie {
	uint64_t code_align;
	int64_t data_align;
	uint64_t ra; /* number of the return address's register */
	struct cursor program;
	uint8_t pointers; /* encoding of addresses */
	bool has_data;	  /* 'z': functions have data with a length */
	bool is_signal;	  /* 'S' */
};

/* One function (or the cold part of one). */
struct eh_fde {
	uint64_t start, end;
	struct cursor program;
	struct eh_cie cie;
};

/* The function described at an offset of the section. */
bool eh_frame_fde(const struct eh_frame *e, size_t offset, struct eh_fde *out);

/* Functions by address, each with the offset of its description. */
struct eh_entry {
	uint32_t start; /* address, counted from the index's base */
	uint32_t offset;
	uint32_t rows, row_count; /* for the user of the index; 0 */
};

struct eh_index {
	uint64_t base;
	struct eh_entry *entries; /* by start */
	size_t count, capacity;
};

/* From the table in .eh_frame_hdr, whose bytes are given. False when it has
 * none. `base` is an address that no function lies below. */
bool eh_index_from_hdr(struct eh_index *index, const struct eh_frame *e,
		       const unsigned char *hdr, size_t size, uint64_t base);
/* By a look at every description. */
void eh_index_from_scan(struct eh_index *index, const struct eh_frame *e,
			uint64_t base);
/* The last function that starts at or before the address; NULL: none. Whether
 * it reaches that far is for the caller to see. */
struct eh_entry *eh_index_find(const struct eh_index *index, uint64_t address);
void eh_index_release(struct eh_index *index);

/* Where .eh_frame is, as .eh_frame_hdr at `address` tells it; 0: it does not.
 */
uint64_t eh_hdr_frame(const unsigned char *hdr, size_t size, uint64_t address);

#endif
