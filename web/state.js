// What is shown, in one place, and in the address bar: a view is a link.

const DEFAULTS = {
	view: "flame", file: "0", base: "0", mode: "wall", mine: "", exact: "",
	from: "", to: "", threads: "", // what is counted
	left: "", right: "", // what the timeline shows, ns
	inverted: "", split: "", order: "merged", upward: "", colour: "module",
	path: "", // what the flame graph is zoomed to
	zoom: "", // what the comparison is zoomed to
	function: "", // the chosen function, in all views
	thread: "", at: "", // the chosen moment
	q: "", source: "",
	sort: "self", treesort: "total", changesort: "self", // columns; "+": ascending
};

/** What another recording has no use for. */
export const OF_RECORDING = { from: "", to: "", left: "", right: "", threads: "", path: "", zoom: "",
	function: "", thread: "", at: "", source: "" };

/** @type {Record<string, string>} */
export const state = { ...DEFAULTS };

/** @type {Array<(changed: Set<string>) => void>} */
const listeners = [];

/** Call it after every change with the names of what is new. */
export function onChange(listener) {
	listeners.push(listener);
}

function read() {
	const fields = new URLSearchParams(location.hash.slice(1));
	const changed = new Set();
	for (const name of Object.keys(DEFAULTS)) {
		const value = fields.get(name) ?? DEFAULTS[name];
		if (state[name] !== value) changed.add(name);
		state[name] = value;
	}
	return changed;
}

const REST = 250; // ms: browsers do not take a new address with every frame
let waiting = 0;

/** What moves is written when it rests, what is chosen at once. */
function write(replace) {
	clearTimeout(waiting);
	if (replace) waiting = window.setTimeout(() => writeNow(true), REST);
	else writeNow(false);
}

function writeNow(replace) {
	const fields = new URLSearchParams();
	for (const [name, value] of Object.entries(state))
		if (value !== DEFAULTS[name]) fields.set(name, value);
	const address = "#" + fields;
	if (replace) history.replaceState(null, "", address);
	else history.pushState(null, "", address);
}

function tell(changed) {
	if (changed.size) for (const listener of listeners) listener(changed);
}

/**
 * Set some of it. What only moves (panning) replaces the entry in the history.
 * @param {Record<string, string | number | boolean>} values
 */
export function change(values, replace = false) {
	const changed = new Set();
	for (const [name, value] of Object.entries(values)) {
		const text = value === true ? "1" : value === false ? "" : String(value);
		if (state[name] !== text) changed.add(name);
		state[name] = text;
	}
	if (!changed.size) return;
	write(replace);
	tell(changed);
}

/** Take over what the address says, now and when the reader goes back. */
export function followAddress() {
	read();
	addEventListener("popstate", () => {
		clearTimeout(waiting);
		tell(read());
	});
}

/** The fields that say what is counted, for a request. */
export function filter() {
	const { file, mode, from, to, threads, exact } = state;
	return { file, mode, from, to, threads, exact };
}

export const FILTER_FIELDS = ["file", "mode", "from", "to", "threads", "exact"];
