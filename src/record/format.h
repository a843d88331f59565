/* The numbers of the file format; docs/format.md tells the story. Private to
 * this layer. */
#ifndef PYROMETER_RECORD_FORMAT_H
#define PYROMETER_RECORD_FORMAT_H

/* The file begins with this mark (a byte that is not text and both line ends,
 * so that a transfer "in text mode" is noticed), then u16 major, u16 minor and
 * the hash of these twelve bytes. */
#define FILE_MARK	 "\x89PYRO\r\n\x1a"
#define FILE_MARK_SIZE	 8
#define FILE_HEADER_SIZE 16
#define FORMAT_MAJOR	 1
#define FORMAT_MINOR	 0

#define BLOCK_HEADER_SIZE 36
#define END_SIZE	  8 /* payload of the END block, never compressed */

enum block_kind {
	BLOCK_INFO = 1,	       /* changed fields of struct recording_info */
	BLOCK_DEFINITIONS = 2, /* tables of strings, threads, nodes and so on */
	BLOCK_SAMPLES = 3,     /* ticks and runs */
	BLOCK_MARKERS = 4,     /* a table of markers */
	BLOCK_SOURCE = 5,      /* the text of one source file */
	BLOCK_INDEX = 6,       /* one row per block before it */
	BLOCK_END = 7, /* where the index is; the last bytes of a file */
	/* 16 to 19 are reserved for allocations, calls, line times, counters */
};

enum block_flag {
	BLOCK_ZSTD = 1 << 0, /* the payload is one zstd frame */
};
#define BLOCK_FLAGS BLOCK_ZSTD /* all that this version knows */

/* What a reader accepts, and a writer keeps to. */
#define LIMIT_RAW	  (64u << 20)  /* one block, unpacked */
#define LIMIT_DEFINITIONS (256u << 20) /* all of them, unpacked */
#define LIMIT_SOURCES	  (256u << 20) /* all source text, unpacked */
#define LIMIT_STRING	  (1u << 20)   /* longer ones are cut */
#define LIMIT_TICKS	  (1u << 20)   /* in one block */
#define LIMIT_RUNS	  (1u << 22)   /* in one block */
#define LIMIT_SHIFT	  40	       /* log2 of the unit of ticks, ns */
#define LIMIT_STATE	  0xffffu
#define LIMIT_INLINED	  32	     /* functions of one site */
#define LIMIT_NODES	  (1u << 26) /* beyond, calls are not unfolded */

#endif
