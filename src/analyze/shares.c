/* Shares of keys, and how sure they are.
 *
 * Each stratum of the tally (a thread, a slice of time) is spread over the
 * stack tree, folded into counts per key, and told to the statistics; then the
 * next. So the cost is the sum over strata of the nodes seen in them. */
#include "analyze/shares.h"

#include <stdlib.h>

#include "analyze/stacks.h"
#include "base/alloc.h"

struct key_sums {
	uint64_t flat, cum; /* in the stratum at hand */
	uint64_t all_flat, all_cum;
	struct share_sums flat_sums, cum_sums;
};

struct summing {
	const struct reader *reader;
	const uint32_t *key_of_frame;
	const bool *outermost;
	struct key_sums *keys;
	uint32_t *touched; /* keys with samples in the stratum at hand */
	uint32_t n_touched;
	struct share_base base;
	struct spread spread;
};

static void fold_node(struct summing *s, uint32_t node)
{
	uint32_t frame = reader_node(s->reader, node).frame;
	uint32_t key = s->key_of_frame[frame];
	struct key_sums *sums;

	if (key == ID_NONE)
		return;
	sums = &s->keys[key];
	if (!sums->cum && !sums->flat)
		s->touched[s->n_touched++] = key;
	sums->flat += s->spread.self[node];
	if (s->outermost[node])
		sums->cum += s->spread.total[node];
}

/* Leaves the counts of the stratum in the touched keys. */
static void fold_stratum(struct summing *s, const struct stratum *stratum)
{
	s->n_touched = 0;
	spread_add(&s->spread, stratum);
	spread_sum(&s->spread);
	/* A key's outermost node comes last, an inner one with no samples of
	 * its own must not list it twice: go from the roots. */
	for (uint32_t i = s->spread.n_nodes; i-- > 0;)
		fold_node(s, s->spread.nodes[i]);
	spread_clear(&s->spread);
}

static void add_thread(struct summing *s, const struct stratum *thread)
{
	if (!thread->samples)
		return;
	share_base_thread(&s->base, thread->samples);
	fold_stratum(s, thread);
	for (uint32_t i = 0; i < s->n_touched; i++) {
		struct key_sums *k = &s->keys[s->touched[i]];

		share_sums_thread(&k->flat_sums, k->flat, thread->samples);
		share_sums_thread(&k->cum_sums, k->cum, thread->samples);
		k->all_flat += k->flat;
		k->all_cum += k->cum;
		k->flat = k->cum = 0;
	}
}

static void add_slice(struct summing *s, const struct stratum *slice)
{
	share_base_slice(&s->base, slice->samples);
	fold_stratum(s, slice);
	for (uint32_t i = 0; i < s->n_touched; i++) {
		struct key_sums *k = &s->keys[s->touched[i]];

		share_sums_slice(&k->flat_sums, k->flat, slice->samples);
		share_sums_slice(&k->cum_sums, k->cum, slice->samples);
		k->flat = k->cum = 0;
	}
}

static int by_flat(const void *a, const void *b)
{
	const struct key_share *x = a, *y = b;

	if (x->flat.samples != y->flat.samples)
		return x->flat.samples < y->flat.samples ? 1 : -1;
	if (x->cum.samples != y->cum.samples)
		return x->cum.samples < y->cum.samples ? 1 : -1;
	return x->key < y->key ? -1 : 1;
}

static int by_cum(const void *a, const void *b)
{
	const struct key_share *x = a, *y = b;

	if (x->cum.samples != y->cum.samples)
		return x->cum.samples < y->cum.samples ? 1 : -1;
	return by_flat(a, b);
}

static void collect(struct shares *out, const struct summing *s,
		    uint32_t n_keys, struct arena *arena)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < n_keys; i++)
		n += s->keys[i].all_cum > 0;
	out->n_items = 0;
	out->items = arena_calloc(arena, n + 1, sizeof(*out->items));
	for (uint32_t i = 0; i < n_keys; i++) {
		const struct key_sums *k = &s->keys[i];
		struct key_share *item = &out->items[out->n_items];

		if (!k->all_cum)
			continue;
		item->key = i;
		item->flat.samples = k->all_flat;
		item->flat.sure =
			share_confidence(&k->flat_sums, &s->base, k->all_flat);
		item->cum.samples = k->all_cum;
		item->cum.sure =
			share_confidence(&k->cum_sums, &s->base, k->all_cum);
		out->n_items++;
	}
}

void shares_count(struct shares *out, const struct profile *p,
		  const struct tally *tally, const uint32_t *key_of_frame,
		  uint32_t n_keys, enum share_order order, struct arena *arena)
{
	struct summing s = { .reader = p->reader,
			     .key_of_frame = key_of_frame };

	s.base.samples = p->samples;
	s.base.ticks = tally->ticks;
	s.outermost = stacks_outermost(p->reader, key_of_frame, n_keys, arena);
	s.keys = xcalloc(n_keys, sizeof(*s.keys));
	s.touched = xcalloc(n_keys, sizeof(*s.touched));
	spread_init(&s.spread, p->reader);
	for (uint32_t i = 0; i < tally->n_threads; i++)
		add_thread(&s, &tally->threads[i]);
	for (uint32_t i = 0; i < TALLY_SLICES; i++)
		add_slice(&s, &tally->slices[i]);
	collect(out, &s, n_keys, arena);
	qsort(out->items, out->n_items, sizeof(*out->items),
	      order == BY_FLAT ? by_flat : by_cum);
	spread_release(&s.spread);
	free(s.keys);
	free(s.touched);
}
