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

function show(text, title, bad = false) {
	searchField().classList.toggle("bad", bad);
	byId("found").textContent = text;
	byId("found").title = title;
}

export async function runSearch() {
	const asked = state.q;
	if (!asked) {
		hits = null;
		return show("", "");
	}
	try {
		const answer = await ask("search", { ...filter(), q: asked });
		if (asked !== state.q) return;
		hits = new Set(answer.hits);
		const n = answer.hits.length;
		if (!n) show("nothing found", "No function, file or library matches this regular expression.", true);
		else show(`${count(n)} in ${percent(answer.matched / Math.max(answer.samples, 1))}`,
			"functions found, and the share of samples with one of them on the stack; n goes from one to the next");
	} catch (error) {
		if (asked !== state.q) return;
		hits = new Set();
		show("no such pattern", error.message, true);
	}
}
