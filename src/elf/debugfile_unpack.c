/* MiniDebugInfo: .gnu_debugdata holds an object file with the symbol table that
 * was stripped, packed by xz. libdwfl could unpack it, but without any limit on
 * what a small section may grow to; liblzma takes one. */
#include <libelf.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "elf/debugfile.h"

#define PACKED_MAX   (64u << 20)
#define UNPACKED_MAX (256u << 20)
#define MEMORY_MAX   (256u << 20) /* of the unpacker itself */

/* Unpack all of it into *out, which grows. */
static bool unpack(lzma_stream *stream, unsigned char **out)
{
	size_t capacity = 0, used = 0;
	lzma_ret status = LZMA_OK;

	while (status == LZMA_OK && used < UNPACKED_MAX) {
		ALLOC_GROW(*out, used + 65536, capacity);
		stream->next_out = *out + used;
		stream->avail_out = capacity - used;
		status = lzma_code(stream, LZMA_FINISH);
		used = capacity - stream->avail_out;
	}
	return status == LZMA_STREAM_END;
}

unsigned char *debugfile_unpack(struct Elf *elf, size_t *size)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	unsigned char *out = NULL;
	size_t packed = 0;

	stream.next_in = debugfile_section(elf, ".gnu_debugdata", &packed);
	stream.avail_in = packed;
	if (!stream.next_in || packed > PACKED_MAX)
		return NULL;
	if (lzma_stream_decoder(&stream, MEMORY_MAX, 0) != LZMA_OK ||
	    !unpack(&stream, &out)) {
		free(out);
		out = NULL;
	}
	*size = (size_t)stream.total_out;
	lzma_end(&stream);
	return out;
}
