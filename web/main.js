// The page: what is where, what every key does.
import { ask, open } from "./ask.js";
import { LANE_NAMES, chooseTheme, dark, laneColours, setTheme } from "./colour.js";
import { copyMoment, updateDetail } from "./detail.js";
import { FlameView, pictureName } from "./flame.js";
import { TopView, TreeView } from "./lists.js";
import { fn, info, loadInfo, recording, sourceOf, threadName } from "./names.js";
import { CompareView, SandwichView } from "./pairs.js";
import { runSearch } from "./search.js";
import { SourceView } from "./source.js";
import { FILTER_FIELDS, OF_RECORDING, change, filter, followAddress, onChange, state } from "./state.js";
import { Timeline } from "./timeline.js";
import { byId, count, emptyNote, make, notify, percent, searchField, seconds, swatch } from "./text.js";

/** @type {[string, string, new () => any][]} */
const VIEWS = [
	["flame", "Flame graph", FlameView], ["tree", "Tree", TreeView], ["top", "Top", TopView],
	["sandwich", "Sandwich", SandwichView], ["source", "Source", SourceView], ["compare", "Compare", CompareView],
];
const MODES = [["wall", "Wall", "All time, waiting included (w)"], ["cpu", "CPU", "Only time on a CPU (p)"],
	["gil", "GIL", "Only time with the GIL (g)"]];
/** @type {[string, [string, string][]][]} */
const KEYS = [
	["Everywhere", [
		["1 \u2026 6", "the views"], ["l", "to the timeline"], ["v", "to the view"],
		["/", "search; Enter: to the first hit"], ["n N", "next hit, the one before"],
		["w p g", "wall, CPU, GIL time"], ["m", "my code only"],
		["s b", "sandwich, source of the chosen function"], ["c", "copy the stack"],
		["r", "next recording"], ["e", "count everything (large recordings)"], ["d", "dark or light"],
		["Esc", "take away search, moment, zoom, choice, filters, one by one"], ["?", "this help"],
	]],
	["Pictures and tables", [
		["\u2190 \u2192 \u2191 \u2193", "move; in the tree \u2190 \u2192 close and open"], ["Enter", "zoom to the box; open the row"],
		["Backspace", "zoom out"], ["o", "left heavy or by time"], ["t", "by thread"], ["i", "inverted"],
		["f", "flame or icicle"], ["k", "colour by module or kind"], ["S P", "save as SVG, PNG"],
	]],
	["Timeline", [
		["\u2190 \u2192", "pan; also drag the axis, Shift drag"], ["+ -", "zoom; also wheel, pinch"], ["0", "all of it"],
		["\u2191 \u2193", "threads"], ["x X", "only this thread or process; add it"],
		["Space", "the moment in the middle; also click"], [", .", "sample before, after"], ["< >", "change before, after"],
		["Enter", "what is in sight as range for all views, then zoom to it; also drag, double click"],
	]],
];
// What only concerns a view's own choice does not make it ask again.
const QUIET = new Set(["function", "left", "right", "at", "thread", "q", "sort", "treesort", "changesort"]);

/** @type {Record<string, any>} */
const views = {};
/** @type {Timeline} */
let timeline;
let drawing = 0;
let showing = Promise.resolve(); // when the view that was asked for is there
let settled = Promise.resolve(); // when the last change is on the screen

function viewOf(name) {
	const row = VIEWS.find(([key]) => key === name) ?? VIEWS[0];
	views[row[0]] ??= new row[2]();
	return views[row[0]];
}

/** The options of a view; who had one of them in hand keeps it. */
function showOptions(view) {
	const bar = byId("options"), at = [...bar.querySelectorAll("button, select")].indexOf(document.activeElement);
	bar.replaceChildren(...view.options());
	if (at >= 0) /** @type {HTMLElement} */ (bar.querySelectorAll("button, select")[at])?.focus();
}

function showView() {
	showing = askAndShow();
	return showing;
}

/** Ask for what the current view shows, then show it, unless it has changed meanwhile. */
async function askAndShow() {
	const host = byId("view"), view = viewOf(state.view), turn = ++drawing;
	try {
		const parts = await view.update(host);
		if (turn !== drawing) return;
		const focused = host.contains(document.activeElement);
		host.replaceChildren(...parts);
		showOptions(view);
		view.shown();
		if (focused) focusView();
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
	const focused = byId("tabs").contains(document.activeElement);
	byId("tabs").replaceChildren(...tabs);
	const chosen = tabs.find((tab) => tab.getAttribute("aria-selected") === "true");
	chosen?.scrollIntoView({ block: "nearest", inline: "nearest" });
	if (focused) chosen?.focus();
	byId("modes").replaceChildren(...MODES.map(([key, title, help]) => make("button", {
		role: "radio", "aria-checked": String(state.mode === key), title: help, onclick: () => change({ mode: key }) }, title)));
	byId("mine").setAttribute("aria-pressed", String(state.mine !== ""));
	byId("theme").textContent = dark() ? "\u2600" : "\u263e";
}

function showRecordings() {
	const select = byId("recording");
	select.replaceChildren(...info.recordings.map((r, i) => make("option", { value: i, selected: state.file === String(i) }, r.name)));
	select.title = recording().command;
	document.title = `${recording().name} \u2013 Pyrometer`;
}

function chip(text, values) {
	return make("button", { class: "chip", onclick: () => change(values), title: "Take this away (Esc)" }, `${text}  \u00d7`);
}

/** What is left out, and what is wrong with the recording. */
function showFilters() {
	const parts = [];
	if (state.to) parts.push(chip(`${seconds(Number(state.from || 0) / 1e9)} to ${seconds(Number(state.to) / 1e9)}`, { from: "", to: "" }));
	if (state.threads) {
		const ids = state.threads.split(",").map(Number);
		parts.push(chip(ids.length > 3 ? `${ids.length} threads` : ids.map(threadName).join(", "), { threads: "" }));
	}
	for (const note of [recording().notice, recording().note])
		if (note) parts.push(make("span", { class: "warning", role: "status" }, note));
	byId("filters").hidden = !parts.length;
	byId("filters").replaceChildren(...parts);
}

function factsOf(r, counted) {
	const all = Math.max(r.samples, counted.all); // who broke off has not counted to the end
	const parts = [`${count(counted.samples)} of ${count(all)} samples`, `${seconds(r.duration / 1e9)} at ${r.period ? `${count(Math.round(1e9 / r.period))} Hz` : "full speed"}`];
	if (r.missed) parts.push(`${percent(r.missed / Math.max(r.ticks + r.missed, 1))} of ticks missed`);
	if (r.torn) parts.push(`${percent(r.torn / Math.max(r.samples, 1))} torn`);
	if (r.lost) parts.push(`${count(r.lost)} lost`);
	if (r.recorder_cpu && r.duration) parts.push(`recording cost ${percent(r.recorder_cpu / r.duration)} of a core`);
	return parts.join("  \u00b7  ");
}

/** What the colours of the timeline mean. */
function showLegend() {
	const order = [2, 3, 1, 0, 4], short = ["GC", "GIL wait", "GIL", "CPU", "off CPU"];
	byId("hover").replaceChildren(...order.map((i) => swatch(laneColours()[i], short[i], LANE_NAMES[i])));
}

async function showFacts() {
	const r = recording(), facts = byId("facts");
	try {
		const counted = await ask("flame", { ...filter(), mine: state.mine, inverted: state.inverted, split: state.split, parts: 1 });
		facts.replaceChildren(factsOf(r, counted));
		facts.title = [factsOf(r, counted), r.command, r.host && `on ${r.host}`, `Pyrometer ${r.version}`].filter((text) => text).join("\n");
		if (counted.stride > 1) facts.append("  \u00b7  ", make("button", { class: "chip", onclick: () => change({ exact: "1" }) },
			`estimated from one block in ${counted.stride}; count everything (e)`));
	} catch (error) {
		facts.replaceChildren(error.message);
	}
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

/** Whether the current view has to ask again. */
function asksAgain(what) {
	if ([...what].some((name) => !QUIET.has(name))) return true;
	if (state.view === "sandwich") return what.has("function");
	if (state.view === "compare" || state.view === "source") return what.has("q");
	return state.view === "flame" && state.order === "time" && what.has("thread");
}

async function changed(what) {
	if ([...what].every((name) => MOVES.has(name))) return moved();
	if (what.has("file")) await loadRecording();
	if (what.has("q") && searchField() !== document.activeElement) searchField().value = state.q;
	showTabs();
	showFilters();
	timeline.redraw();
	const filtered = FILTER_FIELDS.some((name) => what.has(name));
	if (what.has("q") || filtered) await runSearch();
	if (asksAgain(what)) {
		await showView();
	} else {
		await showing; // it may have been asked for by the change before this one
		viewOf(state.view).redraw();
	}
	if (filtered || ["function", "at", "thread", "mine", "view"].some((name) => what.has(name))) await updateDetail();
	if (what.has("at") || what.has("thread")) timeline.redraw();
	if (filtered) await showFacts();
}

async function loadRecording() {
	await loadInfo();
	showRecordings();
	timeline.reset();
}

function showHelp() {
	const dialog = /** @type {HTMLDialogElement} */ (byId("keys"));
	const section = ([title, rows]) => make("section", {}, make("h3", {}, title), make("dl", {},
		...rows.flatMap(([keys, text]) => [make("dt", {}, ...keys.split(" ").map((key) => (key === "\u2026" ? " \u2026 " : make("kbd", {}, key)))), make("dd", {}, text)])));
	dialog.replaceChildren(make("h2", {}, "Keys"), make("div", { class: "columns" }, ...KEYS.map(section)),
		make("form", { method: "dialog" }, make("button", {}, "Close")));
	dialog.showModal();
}

/** What makes other boxes takes the zoom away. */
function flip(name) {
	change({ [name]: state[name] === "" ? "1" : "", ...(name === "upward" ? {} : { path: "", zoom: "" }) });
}

/** Take away one thing, the latest kind first. */
function escape() {
	if (state.q) searchField().value = "";
	if (state.q) return change({ q: "" });
	if (state.at) return change({ at: "", thread: "" });
	if (state.path && state.view === "flame") return change({ path: "" });
	if (state.zoom && state.view === "compare") return change({ zoom: "" });
	if (state.function) return change({ function: "" });
	if (state.to) return change({ from: "", to: "" });
	if (state.threads) return change({ threads: "" });
	if (state.left || state.right) change({ left: "", right: "" });
}

function repaint() {
	timeline.tiles.clear();
	timeline.redraw();
	showLegend();
	showTabs();
	viewOf(state.view).redraw();
	showOptions(viewOf(state.view));
}

function turnTheme() {
	setTheme(dark() ? "light" : "dark");
	repaint();
}

function focusView() {
	/** @type {HTMLElement} */ (byId("view").querySelector("[tabindex='0']") ?? byId("view")).focus();
}

function findHit(step) {
	if (!state.q) return byId("search").focus();
	viewOf(state.view).find(step);
}

function savePicture(kind) {
	const boxes = viewOf(state.view).boxes;
	if (!boxes?.model) return notify("This view has no picture to save; the flame graph has");
	if (kind === "svg") boxes.saveSvg(`${pictureName()}.svg`);
	else boxes.savePng(`${pictureName()}.png`);
}

function copyStack() {
	if (state.at) copyMoment();
	else viewOf(state.view).copy();
}

function chooseRecording(n) {
	change({ ...OF_RECORDING, file: n });
}

function showSource() {
	change({ view: "source", source: state.function === "" ? "" : sourceOf(fn(Number(state.function))) });
}

const ACTS = {
	"/": () => byId("search").focus(), "?": showHelp, Escape: escape,
	n: () => findHit(1), N: () => findHit(-1), c: copyStack, S: () => savePicture("svg"), P: () => savePicture("png"),
	w: () => change({ mode: "wall" }), p: () => change({ mode: "cpu" }), g: () => change({ mode: "gil" }),
	m: () => flip("mine"), d: turnTheme, l: () => byId("timeline").focus(), v: focusView,
	t: () => flip("split"), i: () => flip("inverted"), f: () => flip("upward"),
	o: () => change({ order: state.order === "time" ? "merged" : "time" }),
	k: () => change({ colour: state.colour === "kind" ? "module" : "kind" }),
	r: () => chooseRecording((Number(state.file) + 1) % info.recordings.length),
	s: () => change({ view: "sandwich" }), b: showSource, e: () => change({ exact: "1" }),
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

function listenToSearch() {
	const field = searchField();
	let wait = 0;
	field.addEventListener("input", () => {
		clearTimeout(wait);
		wait = window.setTimeout(() => change({ q: field.value }, true), 150);
	});
	field.addEventListener("keydown", async (event) => {
		if (event.key !== "Enter") return;
		clearTimeout(wait);
		change({ q: field.value }, true);
		await settled;
		focusView();
		findHit(1);
	});
}

function listen() {
	listenToSearch();
	byId("recording").addEventListener("change", (event) => chooseRecording(/** @type {HTMLSelectElement} */ (event.target).value));
	byId("mine").addEventListener("click", () => flip("mine"));
	byId("theme").addEventListener("click", turnTheme);
	byId("help").addEventListener("click", showHelp);
	byId("skip").addEventListener("click", (event) => { event.preventDefault(); focusView(); });
	byId("tabs").addEventListener("keydown", (event) => {
		const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
		if (!step) return;
		const at = VIEWS.findIndex(([key]) => key === state.view);
		change({ view: VIEWS[(at + step + VIEWS.length) % VIEWS.length][0] });
		event.preventDefault();
	});
	addEventListener("keydown", onKey);
}

async function start() {
	chooseTheme(repaint);
	followAddress();
	timeline = new Timeline(byId("timeline"), { moment: (thread, at) => change({ thread, at }) });
	await open();
	await loadRecording();
	searchField().value = state.q;
	onChange((what) => { settled = changed(what); });
	listen();
	showLegend();
	showTabs();
	showFilters();
	await runSearch();
	await showView();
	await updateDetail();
	timeline.redraw();
	await showFacts();
	document.body.dataset.started = "1";
}

start().catch((error) => {
	document.body.classList.add("failed");
	byId("view").replaceChildren(emptyNote("This recording cannot be shown", `${error.message}.`.replace(/\.\.$/, ".")));
	document.body.dataset.failed = "1";
});
