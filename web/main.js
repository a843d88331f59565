// The page: what is where, what every key does.
import { ask, open } from "./ask.js";
import { LANE_NAMES, chooseTheme, dark, laneColours, setTheme } from "./colour.js";
import { updateDetail } from "./detail.js";
import { FlameView } from "./flame.js";
import { TopView, TreeView } from "./lists.js";
import { info, loadInfo, recording, threadName } from "./names.js";
import { CompareView, SandwichView } from "./pairs.js";
import { runSearch } from "./search.js";
import { SourceView } from "./source.js";
import { FILTER_FIELDS, change, filter, followAddress, onChange, state } from "./state.js";
import { Timeline } from "./timeline.js";
import { byId, count, emptyNote, make, percent, searchField, seconds } from "./text.js";

/** @type {[string, string, new () => any][]} */
const VIEWS = [
	["flame", "Flame graph", FlameView], ["tree", "Tree", TreeView], ["top", "Top", TopView],
	["sandwich", "Sandwich", SandwichView], ["source", "Source", SourceView], ["compare", "Compare", CompareView],
];
const MODES = [["wall", "Wall", "All time, waiting included (w)"], ["cpu", "CPU", "Only time on a CPU (p)"],
	["gil", "GIL", "Only time with the GIL (g)"]];
const KEYS = [
	["1 \u2026 6", "the views"], ["/", "search"], ["Esc", "take away search, zoom, choice, filters, one by one"],
	["w p g", "wall, CPU, GIL time"], ["m", "my code only"], ["d", "dark or light"], ["?", "this help"],
	["l", "to the timeline"], ["v", "to the view"], ["\u2190 \u2192 \u2191 \u2193", "move: boxes, rows, time"],
	["Enter", "zoom to the box; open the row; zoom to the range"], ["Backspace", "zoom out"],
	["+ -", "timeline: zoom"], ["0", "timeline: all of it"],
	["x Shift x", "timeline: only this thread or process; add it"], ["Space", "timeline: the moment in the middle"],
	["drag", "timeline: choose a range for all views"], ["Shift drag, axis", "timeline: pan"], ["wheel", "timeline: zoom"],
	["t i f", "flame graph: by thread, inverted, upward"], ["o", "flame graph: left heavy or in order of time"],
	["c", "copy the stack"], ["s b", "sandwich, source of the chosen function"], ["e", "count everything (large recordings)"],
];
// What only concerns a view's own choice does not make it ask again.
const QUIET = new Set(["function", "left", "right", "at", "thread", "q", "sort"]);

/** @type {Record<string, any>} */
const views = {};
let timeline;
let drawing = 0;

function viewOf(name) {
	const row = VIEWS.find(([key]) => key === name) ?? VIEWS[0];
	views[row[0]] ??= new row[2]();
	return views[row[0]];
}

/** Ask for what the current view shows, then show it, unless it has changed meanwhile. */
async function showView() {
	const host = byId("view"), view = viewOf(state.view), turn = ++drawing;
	try {
		const parts = await view.update(host);
		if (turn !== drawing) return;
		host.replaceChildren(...parts);
		byId("options").replaceChildren(...view.options());
		view.shown();
		document.body.dataset.ready = state.view;
		requestAnimationFrame(() => performance.mark("pyrometer-shown"));
	} catch (error) {
		if (turn !== drawing) return;
		host.replaceChildren(emptyNote("This cannot be shown", error.message));
	}
}

function showTabs() {
	const tabs = VIEWS.map(([key, title], i) => make("button", {
		role: "tab", "aria-selected": String(state.view === key), "aria-controls": "view", title: `${title} (${i + 1})`,
		tabindex: state.view === key ? "0" : "-1", onclick: () => change({ view: key }) }, title));
	byId("tabs").replaceChildren(...tabs);
	byId("modes").replaceChildren(...MODES.map(([key, title, help]) => make("button", {
		role: "radio", "aria-checked": String(state.mode === key), title: help, onclick: () => change({ mode: key }) }, title)));
	byId("mine").setAttribute("aria-pressed", String(state.mine !== ""));
	byId("theme").textContent = dark() ? "\u2600" : "\u263e";
}

function showRecordings() {
	const select = byId("recording");
	select.replaceChildren(...info.recordings.map((r, i) => make("option", { value: i, selected: state.file === String(i) }, r.name)));
	document.title = `${recording().name} \u2013 Pyrometer`;
}

function chip(text, values) {
	return make("button", { class: "chip", onclick: () => change(values), title: "Take this away" }, `${text}  \u00d7`);
}

function showFilters() {
	const chips = [];
	if (state.to) chips.push(chip(`${seconds(Number(state.from || 0) / 1e9)} to ${seconds(Number(state.to) / 1e9)}`, { from: "", to: "" }));
	if (state.threads) {
		const ids = state.threads.split(",").map(Number);
		chips.push(chip(ids.length > 3 ? `${ids.length} threads` : ids.map(threadName).join(", "), { threads: "" }));
	}
	byId("filters").hidden = !chips.length;
	byId("filters").replaceChildren(...chips);
}

function factsOf(r, counted) {
	const parts = [`${count(counted.samples)} of ${count(r.samples)} samples`, `${seconds(r.duration / 1e9)} at ${r.period ? `${count(Math.round(1e9 / r.period))} Hz` : "full speed"}`];
	if (r.missed) parts.push(`${percent(r.missed / Math.max(r.ticks + r.missed, 1))} of ticks missed`);
	if (r.torn) parts.push(`${percent(r.torn / Math.max(r.samples, 1))} torn`);
	if (r.lost) parts.push(`${count(r.lost)} lost`);
	if (r.recorder_cpu && r.duration) parts.push(`recording cost ${percent(r.recorder_cpu / r.duration)} of a core`);
	return parts.join("  \u00b7  ");
}

/** What the colours of the timeline mean. */
function showLegend() {
	const order = [2, 3, 1, 0, 4], short = ["GC", "GIL wait", "GIL", "CPU", "off CPU"];
	byId("hover").replaceChildren(...order.map((i) => {
		const swatch = make("i", { class: "swatch" });
		swatch.style.background = laneColours()[i];
		return make("span", { title: LANE_NAMES[i] }, swatch, `${short[i]} `);
	}));
}

async function showFacts() {
	const r = recording(), facts = byId("facts");
	const counted = await ask("flame", { ...filter(), mine: state.mine, inverted: state.inverted, split: state.split, parts: 1 });
	const notes = [r.notice, r.note].filter((text) => text);
	facts.replaceChildren(factsOf(r, counted), ...notes.map((note) => make("b", {}, `  \u00b7  ${note}`)));
	if (counted.stride > 1) facts.append("  \u00b7  ", make("button", { class: "chip", onclick: () => change({ exact: "1" }) },
		`estimated from one block in ${counted.stride}; count everything (e)`));
}

const MOVES = new Set(["left", "right"]);
let resting = 0;

/** Panning and zooming: only the timeline, at once; the rest when it rests. */
function moved() {
	timeline.redraw();
	if (state.order !== "time" || state.view !== "flame" || state.to) return;
	clearTimeout(resting);
	resting = window.setTimeout(showView, 60);
}

async function changed(what) {
	if ([...what].every((name) => MOVES.has(name))) return moved();
	if (what.has("file")) await loadRecording();
	showTabs();
	showFilters();
	timeline.redraw();
	const filtered = FILTER_FIELDS.some((name) => what.has(name));
	if (what.has("q") || filtered) await runSearch();
	const byTime = state.order === "time" && what.has("thread");
	const asks = [...what].some((name) => !QUIET.has(name)) || byTime || (what.has("function") && state.view === "sandwich") || (what.has("q") && state.view === "compare");
	if (asks) await showView();
	else viewOf(state.view).redraw();
	if (filtered || what.has("function") || what.has("at") || what.has("thread")) await updateDetail();
	if (filtered) await showFacts();
}

async function loadRecording() {
	await loadInfo();
	showRecordings();
	timeline.reset();
}

function showHelp() {
	const dialog = /** @type {HTMLDialogElement} */ (byId("keys"));
	dialog.replaceChildren(make("h2", {}, "Keys"),
		make("div", { class: "columns" }, ...KEYS.map(([key, text]) => make("div", {}, make("kbd", {}, key), make("span", {}, text)))),
		make("form", { method: "dialog" }, make("button", {}, "Close")));
	dialog.showModal();
}

function flip(name) {
	change({ [name]: state[name] === "" ? "1" : "", path: "" });
}

/** Take away one thing, the latest kind first. */
function escape() {
	if (state.q) searchField().value = "";
	if (state.q) return change({ q: "" });
	if (state.at) return change({ at: "", thread: "" });
	if (state.path && state.view === "flame") return change({ path: "" });
	if (state.function) return change({ function: "" });
	if (state.to) return change({ from: "", to: "" });
	if (state.threads) return change({ threads: "" });
	if (state.left || state.right) change({ left: "", right: "" });
}

function turnTheme() {
	setTheme(dark() ? "light" : "dark");
	timeline.tiles.clear();
	timeline.redraw();
	showLegend();
	showTabs();
	viewOf(state.view).redraw();
}

function focusView() {
	/** @type {HTMLElement} */ (byId("view").querySelector("[tabindex]") ?? byId("view")).focus();
}

const ACTS = {
	"/": () => byId("search").focus(), "?": showHelp, Escape: escape,
	w: () => change({ mode: "wall" }), p: () => change({ mode: "cpu" }), g: () => change({ mode: "gil" }),
	m: () => flip("mine"), d: turnTheme, l: () => byId("timeline").focus(), v: focusView,
	t: () => flip("split"), i: () => flip("inverted"), f: () => flip("upward"),
	o: () => change({ order: state.order === "time" ? "merged" : "time" }),
	s: () => change({ view: "sandwich" }), b: () => change({ view: "source" }), e: () => change({ exact: "1" }),
};

function onKey(event) {
	if (event.ctrlKey || event.metaKey || event.altKey || byId("keys").hasAttribute("open")) return;
	if (/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) {
		if (event.key === "Escape") event.target.blur();
		if (event.key !== "Escape" || !state.q) return;
	}
	const act = viewOf(state.view).keys()[event.key] ?? ACTS[event.key];
	const tab = VIEWS[Number(event.key) - 1];
	if (act) act();
	else if (tab) change({ view: tab[0] });
	else return;
	event.preventDefault();
}

function listen() {
	let wait = 0;
	searchField().addEventListener("input", () => {
		clearTimeout(wait);
		wait = setTimeout(() => change({ q: searchField().value }, true), 150);
	});
	byId("recording").addEventListener("change", (event) => change({ file: /** @type {HTMLSelectElement} */ (event.target).value, from: "", to: "", left: "", right: "", threads: "", path: "", function: "", at: "", thread: "", source: "" }));
	byId("mine").addEventListener("click", () => flip("mine"));
	byId("theme").addEventListener("click", turnTheme);
	byId("help").addEventListener("click", showHelp);
	byId("skip").addEventListener("click", (event) => { event.preventDefault(); focusView(); });
	byId("tabs").addEventListener("keydown", (event) => {
		const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
		if (!step) return;
		const at = VIEWS.findIndex(([key]) => key === state.view);
		change({ view: VIEWS[(at + step + VIEWS.length) % VIEWS.length][0] });
		/** @type {HTMLElement} */ (byId("tabs").querySelector("[aria-selected=true]")).focus();
		event.preventDefault();
	});
	addEventListener("keydown", onKey);
}

async function start() {
	chooseTheme();
	followAddress();
	timeline = new Timeline(byId("timeline"), { moment: (thread, at) => change({ thread, at }) });
	await open();
	await loadRecording();
	searchField().value = state.q;
	onChange(changed);
	listen();
	showLegend();
	showTabs();
	showFilters();
	await runSearch();
	await showView();
	await updateDetail();
	await showFacts();
	document.body.dataset.started = "1";
}

start().catch((error) => {
	byId("timeline").hidden = true;
	byId("view").replaceChildren(emptyNote("This recording cannot be shown", error.message));
	document.body.dataset.failed = "1";
});
