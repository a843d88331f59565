// The panel on the right: the chosen function, or the chosen moment.
import { ask } from "./ask.js";
import { LANE_NAMES } from "./colour.js";
import { change, filter, state } from "./state.js";
import { KINDS, fn, learn, place, sourceOf, spelled, threadName } from "./names.js";
import { byId, copyText, count, make, percent, say, seconds } from "./text.js";

// What is to be known about a stack, by bit of its state.
/** @type {[number, string][]} */
const DOUBTS = [[16, "The stack moved while it was read: its innermost frames are missing."],
	[32, "It could not be proven that the stack stood still while it was read."],
	[64, "Part of the stack could not be read."], [256, "The stack is deeper than is recorded: its outermost frames are missing."]];
const HOLDERS = 4; // that are listed

/** The moment that is shown, for who wants to go on from it. @type {any} */
export let moment = null;

function closer(values) {
	return make("button", { class: "close", "aria-label": "Close", title: "Close (Esc)", onclick: () => change(values) }, "\u00d7");
}

function functionButton(id, note) {
	const f = fn(id);
	return make("li", {}, make("button", { onclick: () => change({ function: id }), title: f.file || f.module, "aria-current": String(state.function === String(id)) },
		f.name, " ", make("small", {}, note ?? place(f))));
}

/** The children of the root of a small tree, heaviest first. */
function neighbours(boxes, total) {
	const list = [];
	boxes.depth.forEach((depth, i) => {
		if (depth === 1) list.push(functionButton(boxes.id[i], percent(boxes.total[i] / Math.max(total, 1))));
	});
	return list.slice(0, 8);
}

function facts(answer) {
	const all = Math.max(answer.samples, 1);
	const row = (name, n) => [make("dt", {}, name),
		make("dd", {}, make("b", {}, percent(n / all)), `  ${seconds(n * answer.second)}  `, make("small", {}, `${count(n)} samples`))];
	return make("dl", {}, ...row("self", answer.self), ...row("total", answer.total));
}

function literally(name) {
	return `^${name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}$`;
}

function showFunction(panel, id, answer) {
	const f = fn(id), source = sourceOf(f);
	const callers = neighbours(answer.callers, answer.total), callees = neighbours(answer.callees, answer.total);
	panel.replaceChildren(
		closer({ function: "" }),
		make("h2", {}, f.name),
		make("p", { title: f.file || f.module }, place(f), make("br"), [KINDS[f.kind], f.package].filter((text) => text).join(", ")),
		facts(answer),
		make("div", { class: "row" },
			make("button", { onclick: () => change({ view: "sandwich" }), title: "Its callers and callees (s)" }, "Sandwich"),
			make("button", { onclick: () => change({ view: "source", source }), disabled: !source, title: "Its lines (b)" }, "Source"),
			make("button", { onclick: () => change({ q: literally(f.name) }) }, "Find"),
			make("button", { onclick: () => copyText(spelled(f)) }, "Copy")),
		callers.length ? make("p", {}, "Called by") : "",
		make("ol", {}, ...callers),
		callees.length ? make("p", {}, "Calls") : "",
		make("ol", {}, ...callees));
}

function stackText(answer) {
	return answer.stack.map(([id, line]) => spelled(fn(id), line)).reverse().join("\n");
}

function frameList(stack) {
	return make("ol", {}, ...stack.map(([id, line]) => functionButton(id, fn(id).path ? `${fn(id).path}:${line}` : undefined)).reverse());
}

/** Of a thread that waits for the GIL: who has it, and what for. */
function heldBy(answer) {
	if (answer.lane !== 1) return [];
	if (answer.holder < 0) return [make("p", {}, "Nobody was seen to hold the GIL at this moment.")];
	const go = make("button", { class: "link", title: "To what it did at this moment", onclick: () => change({ thread: answer.holder, at: answer.when }) }, threadName(answer.holder));
	const top = answer.holder_stack.at(-1);
	return [make("p", {}, "The GIL was held by ", go, top ? ` in ${fn(top[0]).name}` : "", ".")];
}

/** Who held the GIL in all waits of the thread. */
function allWaits(waits) {
	if (!waits.samples) return [];
	const rows = waits.holders.slice(0, HOLDERS).map(([thread, id, n]) => make("li", {},
		make("button", { onclick: () => (id < 0 ? change({ thread }) : change({ function: id })), "aria-current": String(id >= 0 && state.function === String(id)) },
			percent(n / waits.samples), "  ", threadName(thread), id < 0 ? "" : ` in ${fn(id).name}`)));
	return [make("p", {}, `In all ${count(waits.samples)} samples of waiting${state.to ? " in the range" : ""} the GIL was held by`), make("ol", { class: "waits" }, ...rows)];
}

function showMoment(panel, answer, waits) {
	const doubts = DOUBTS.filter(([bit]) => answer.found && answer.state & bit).map(([, text]) => make("p", { class: "doubt" }, text));
	const told = answer.found
		? `at ${seconds(answer.when / 1e9)}: ${LANE_NAMES[answer.lane]}, ${answer.last > answer.first ? `seen so for ${seconds((answer.last - answer.first) / 1e9)}` : "seen so once"}`
		: "was not seen at this moment";
	panel.replaceChildren(
		closer({ at: "", thread: "" }),
		make("h2", {}, threadName(Number(state.thread))),
		make("p", {}, told),
		...doubts, ...heldBy(answer),
		make("div", { class: "row" }, make("button", { onclick: copyMoment, disabled: !answer.stack.length, title: "Copy the stack (c)" }, "Copy the stack")),
		answer.found && !answer.stack.length ? make("p", {}, "It had no Python stack.") : frameList(answer.stack),
		...(answer.lane === 1 ? allWaits(waits) : []));
	say(`${threadName(Number(state.thread))} ${told}`);
}

export function copyMoment() {
	copyText(moment ? stackText(moment) : "");
}

async function updateMoment(panel) {
	const { file, thread, at } = state;
	const answer = learn(await ask("moment", { file, thread, at }));
	const waits = answer.lane === 1 ? learn(await ask("waits", { ...filter(), thread })) : null;
	if (at !== state.at || thread !== state.thread) return;
	moment = answer;
	showMoment(panel, answer, waits);
}

async function updateFunction(panel) {
	const id = state.function;
	const answer = learn(await ask("sandwich", { ...filter(), mine: state.mine, function: id, parts: 60 }));
	if (id === state.function) showFunction(panel, Number(id), answer);
}

/** The sandwich says all about its function itself. */
export async function updateDetail() {
	const panel = byId("detail"), { function: id, at, view } = state;
	if (at === "") moment = null;
	panel.hidden = at === "" && (id === "" || view === "sandwich");
	if (panel.hidden) return;
	try {
		await (at !== "" ? updateMoment(panel) : updateFunction(panel));
	} catch (error) {
		panel.replaceChildren(closer({ function: "", at: "", thread: "" }), make("p", {}, error.message));
	}
}
