/* The numbers and pointers of DWARF and of .eh_frame. A cursor that runs out
 * is `failed` and gives 0 from then on (base/buffer.h). */
#ifndef PYROMETER_ELF_EH_FRAME_READ_H
#define PYROMETER_ELF_EH_FRAME_READ_H

#include "base/buffer.h"

#define EH_OMIT 0xff /* encoding: there is no pointer */

/* What pointers are counted from, as addresses in the file. */
struct eh_bases {
	const unsigned char *bytes; /* where the section's first byte is */
	uint64_t address;	    /* and what its address is */
	uint64_t data;		    /* of .eh_frame_hdr */
	uint64_t function;
};

uint16_t eh_u16(struct cursor *c);
uint64_t eh_uleb(struct cursor *c);
int64_t eh_sleb(struct cursor *c);
/* A pointer in an encoding (DW_EH_PE_*). An encoding that is not known, or that
 * says where the pointer is and not what it is, makes the cursor fail. */
uint64_t eh_pointer(struct cursor *c, uint8_t encoding,
		    const struct eh_bases *bases);
/* A pointer's number alone, as the size of a function is given. */
uint64_t eh_number(struct cursor *c, uint8_t encoding);
/* Step over a pointer of any encoding. */
void eh_skip_pointer(struct cursor *c, uint8_t encoding,
		     const struct eh_bases *bases);

#endif
