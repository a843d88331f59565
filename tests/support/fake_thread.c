#include "fake_thread.h"

#define CHUNK_HEAD 24 /* previous, size, top */
#define CHUNK_SIZE 16384
#define STATE_SIZE 1024
#define LOCALS	   24 /* bytes of variables of a frame */
#define FRAME_SIZE 256

struct python fake_python_over(struct fake_memory *memory,
			       const struct layout *layout)
{
	return (struct python){
		.memory = fake_memory_reader(memory),
		.layout = *layout,
		.pthread_tid = LAYOUT_NONE,
		.knows_libc = true,
	};
}

static void put(struct fake_thread *t, uint64_t object, uint16_t field,
		uint64_t word)
{
	fake_memory_put_word(t->memory, object + field, word);
}

void fake_thread_grow(struct fake_thread *t, size_t size)
{
	uint64_t chunk = fake_memory_map(t->memory, size);

	put(t, chunk, 0, t->chunk);
	put(t, chunk, 8, size);
	put(t, t->tstate, t->layout->thread.datastack_chunk, chunk);
	t->chunk = chunk;
	t->top = chunk + CHUNK_HEAD;
}

struct fake_thread fake_thread_new(struct fake_memory *memory,
				   const struct layout *layout)
{
	struct fake_thread t = { .memory = memory, .layout = layout };

	t.tstate = fake_memory_map(memory, STATE_SIZE);
	if (layout->frames == FRAME_CFRAME) {
		t.cframe = fake_memory_map(memory, 64);
		put(&t, t.tstate, layout->thread.frame, t.cframe);
	}
	if (layout->thread.datastack_chunk != LAYOUT_NONE)
		fake_thread_grow(&t, CHUNK_SIZE);
	return t;
}

void fake_frame_code(struct fake_thread *t, uint64_t frame, uint64_t code)
{
	put(t, frame, t->layout->frame.code, code);
}

void fake_frame_instruction(struct fake_thread *t, uint64_t frame,
			    uint32_t instruction)
{
	fake_memory_put_int(t->memory, frame + t->layout->frame.instruction,
			    instruction);
}

void fake_frame_previous(struct fake_thread *t, uint64_t frame,
			 uint64_t previous)
{
	put(t, frame, t->layout->frame.previous, previous);
}

static void set_owner(struct fake_thread *t, uint64_t frame,
		      unsigned char owner)
{
	if (t->layout->frame.owner != LAYOUT_NONE)
		fake_memory_put(t->memory, frame + t->layout->frame.owner,
				&owner, 1);
}

uint64_t fake_loose_frame(struct fake_thread *t, uint64_t previous,
			  uint64_t code, unsigned char owner)
{
	uint64_t frame = fake_memory_map(t->memory, FRAME_SIZE);

	fake_frame_code(t, frame, code);
	fake_frame_previous(t, frame, previous);
	set_owner(t, frame, owner);
	return frame;
}

uint64_t fake_frame(struct fake_thread *t, uint64_t previous, uint64_t code)
{
	uint64_t frame = t->top;

	if (!t->chunk)
		return fake_loose_frame(t, previous, code, 0);
	fake_frame_code(t, frame, code);
	fake_frame_previous(t, frame, previous);
	set_owner(t, frame, 0);
	t->top += t->layout->frame.size + LOCALS;
	return frame;
}

uint64_t fake_shim(struct fake_thread *t, uint64_t previous)
{
	const struct layout *l = t->layout;

	return fake_loose_frame(t, previous, 0,
				l->frame.owner_cstack != 0xff
					? l->frame.owner_cstack
					: l->frame.owner_interpreter);
}

void fake_thread_run(struct fake_thread *t, uint64_t frame)
{
	if (t->cframe)
		put(t, t->cframe, t->layout->cframe.current_frame, frame);
	else
		put(t, t->tstate, t->layout->thread.frame, frame);
}
