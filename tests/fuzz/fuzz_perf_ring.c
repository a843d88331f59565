/* The input is a ring of perf records: two bytes that place the head, then the
 * ring's bytes. */
#include <stdlib.h>
#include <string.h>

#include "os/perf_event.h"

#define RING 4096u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned char *ring = calloc(1, RING); /* of its size, for sanitizers */
	struct perf_look look;
	uint16_t head = 0;

	if (size >= sizeof(head)) {
		memcpy(&head, data, sizeof(head));
		data += sizeof(head);
		size -= sizeof(head);
	}
	memcpy(ring, data, size < RING ? size : RING);
	for (int with = 0; with < 4; with++) {
		perf_records_parse(ring, RING, head, with & 1, with & 2, &look);
		if (look.n_kernel > PERF_KERNEL_MAX ||
		    look.n_stack > PERF_STACK_MAX ||
		    (look.running && look.preempted))
			abort();
	}
	free(ring);
	return 0;
}
