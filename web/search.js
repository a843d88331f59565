// What the search field found, for all views to show.
import { ask } from "./ask.js";
import { filter, state } from "./state.js";
import { byId, count, percent, searchField } from "./text.js";

/** @type {Set<number> | null} */
let hits = null;

/** Whether a search is on and this function is not among its hits. */
export function missed(id) {
	return hits !== null && !hits.has(id);
}

export function isHit(id) {
	return hits !== null && hits.has(id);
}

export async function runSearch() {
	const field = searchField(), found = byId("found"), asked = state.q;
	field.classList.remove("bad");
	if (!asked) {
		hits = null;
		found.textContent = "";
		return;
	}
	try {
		const answer = await ask("search", { ...filter(), q: asked });
		if (asked !== state.q) return;
		hits = new Set(answer.hits);
		found.textContent = `${count(answer.hits.length)} in ${percent(answer.matched / Math.max(answer.samples, 1))}`;
		found.title = "functions found, and the share of samples with one of them on the stack";
	} catch (error) {
		hits = new Set();
		field.classList.add("bad");
		found.textContent = "no such pattern";
		found.title = error.message;
	}
}
