/* A thread of a made-up Python: its state and its frames in a fake memory. */
#ifndef PYROMETER_TESTS_FAKE_THREAD_H
#define PYROMETER_TESTS_FAKE_THREAD_H

#include "fake_memory.h"
#include "python/python.h"

struct fake_thread {
	struct fake_memory *memory; /* not owned */
	const struct layout *layout;
	uint64_t tstate;
	uint64_t cframe; /* 3.11, 3.12 */
	uint64_t chunk;	 /* the youngest; 0: none, or none of this version */
	uint64_t top;	 /* where the next frame of the chunk goes */
};

/* What `struct stack` wants to know of a Python that is all in the memory. */
struct python fake_python_over(struct fake_memory *memory,
			       const struct layout *layout);

/* A thread without frames, with one chunk where the version has them. */
struct fake_thread fake_thread_new(struct fake_memory *memory,
				   const struct layout *layout);
/* Give it another chunk, from which frames are taken from now on. */
void fake_thread_grow(struct fake_thread *t, size_t size);

/* A frame in the youngest chunk (to 3.10: an object). Returns its address. */
uint64_t fake_frame(struct fake_thread *t, uint64_t previous, uint64_t code);
/* One outside the chunks, with this owner. */
uint64_t fake_loose_frame(struct fake_thread *t, uint64_t previous,
			  uint64_t code, unsigned char owner);
/* An entry into the interpreter, on the C stack. */
uint64_t fake_shim(struct fake_thread *t, uint64_t previous);

void fake_frame_code(struct fake_thread *t, uint64_t frame, uint64_t code);
void fake_frame_instruction(struct fake_thread *t, uint64_t frame,
			    uint32_t instruction);
void fake_frame_previous(struct fake_thread *t, uint64_t frame,
			 uint64_t previous);

/* Let the thread run this frame. */
void fake_thread_run(struct fake_thread *t, uint64_t frame);

#endif
