/* .eh_frame by way of .eh_frame_hdr is in every program that a compiler made
 * with its defaults, loaded with it, and found through the program headers, so
 * that it needs no sections. What has no .eh_frame_hdr is indexed by a scan.
 * .debug_frame is a section for debuggers, in what was built without tables for
 * exceptions (musl); a file can have both, each for other functions. */
#include "elf/unwind_table.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "elf/eh_frame_rows.h"

#define SECTION_MAX (128u << 20) /* bytes that are copied of a file */
#define ROWS_MAX    (8u << 20)	 /* kept of a module: 192 MB */

struct unwind_table {
	const struct unwind_machine *machine;
	unsigned char *copy;
	struct eh_frame frame;
	struct eh_index index;
	struct eh_rows rows;
};

static bool take(struct unwind_table *t, const struct module_bytes *b)
{
	if (!b->size || b->size > SECTION_MAX)
		return false;
	t->copy = xmalloc(b->size);
	memcpy(t->copy, b->bytes, b->size);
	t->frame.bytes = t->copy;
	t->frame.size = b->size;
	t->frame.address = b->address;
	return true;
}

/* The section that .eh_frame_hdr names, or as much as is loaded from there. */
static bool find_frame(const struct module *file, uint64_t address,
		       struct module_bytes *out)
{
	return (module_section_bytes(file, ".eh_frame", out) &&
		out->address == address) ||
	       module_loaded_bytes(file, address, out);
}

static bool load_by_hdr(struct unwind_table *t, const struct module *file)
{
	struct module_bytes hdr, frame;
	uint64_t address;

	if (!module_segment_bytes(file, PT_GNU_EH_FRAME, &hdr))
		return false;
	address = eh_hdr_frame(hdr.bytes, hdr.size, hdr.address);
	if (!address || !find_frame(file, address, &frame) || !take(t, &frame))
		return false;
	t->frame.hdr = hdr.address;
	if (!eh_index_from_hdr(&t->index, &t->frame, hdr.bytes, hdr.size,
			       module_lowest(file)))
		eh_index_from_scan(&t->index, &t->frame, module_lowest(file));
	return true;
}

static bool load_by_scan(struct unwind_table *t, const struct module *file,
			 const char *section)
{
	struct module_bytes frame;

	if (!module_section_bytes(file, section, &frame) || !take(t, &frame))
		return false;
	t->frame.is_debug = !strcmp(section, ".debug_frame");
	eh_index_from_scan(&t->index, &t->frame, module_lowest(file));
	return true;
}

static struct unwind_table *keep(struct unwind_table *t, bool is_loaded)
{
	if (is_loaded && t->index.count)
		return t;
	unwind_table_free(t);
	return NULL;
}

static struct unwind_table *new_table(const struct unwind_machine *machine)
{
	struct unwind_table *t = xcalloc(1, sizeof(*t));

	t->machine = machine;
	return t;
}

struct unwind_table *unwind_table_new(const struct module *file,
				      const struct unwind_machine *machine)
{
	struct unwind_table *t = new_table(machine);

	t = keep(t, load_by_hdr(t, file));
	if (t)
		return t;
	t = new_table(machine);
	return keep(t, load_by_scan(t, file, ".eh_frame"));
}

struct unwind_table *unwind_table_new_debug(
	const struct module *file, const struct unwind_machine *machine)
{
	struct unwind_table *t = new_table(machine);

	return keep(t, load_by_scan(t, file, ".debug_frame"));
}

void unwind_table_free(struct unwind_table *t)
{
	if (!t)
		return;
	eh_rows_release(&t->rows);
	eh_index_release(&t->index);
	free(t->copy);
	free(t);
}

/* A description that does not belong where the index says is not run. */
static void understand(struct unwind_table *t, struct eh_entry *entry)
{
	struct eh_fde fde;

	entry->rows = (uint32_t)t->rows.count;
	if (t->rows.count < ROWS_MAX &&
	    eh_frame_fde(&t->frame, entry->offset, &fde) &&
	    fde.start == t->index.base + entry->start) {
		entry->row_count = (uint32_t)eh_rows_run(&t->rows, &t->frame,
							 &fde, t->machine);
		return;
	}
	ALLOC_GROW(t->rows.items, t->rows.count + 1, t->rows.capacity);
	memset(&t->rows.items[t->rows.count++], 0, sizeof(*t->rows.items));
	entry->row_count = 1;
}

struct unwind_rule unwind_table_find(struct unwind_table *t, uint64_t address)
{
	struct eh_entry *entry = eh_index_find(&t->index, address);
	const struct eh_row *rows;
	size_t low = 0, high;
	uint64_t offset;

	if (!entry)
		return (struct unwind_rule){ .cfa = CFA_NONE };
	if (!entry->row_count)
		understand(t, entry);
	rows = &t->rows.items[entry->rows];
	offset = address - t->index.base - entry->start;
	for (high = entry->row_count; high - low > 1;) {
		size_t middle = low + (high - low) / 2;

		if (rows[middle].offset <= offset)
			low = middle;
		else
			high = middle;
	}
	return rows[low].rule;
}

uint64_t unwind_table_start(const struct unwind_table *t, uint64_t address)
{
	const struct eh_entry *entry = eh_index_find(&t->index, address);

	return entry ? t->index.base + entry->start : 0;
}

uint64_t unwind_table_next(const struct unwind_table *t, uint64_t address)
{
	const struct eh_entry *entry = eh_index_find(&t->index, address);
	size_t i = entry ? (size_t)(entry - t->index.entries) + 1 : 0;

	if (address < t->index.base || i >= t->index.count)
		return UINT64_MAX;
	return t->index.base + t->index.entries[i].start;
}
