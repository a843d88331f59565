// The panel on the right: the chosen function, or the chosen moment.
import { ask } from "./ask.js";
import { LANE_NAMES } from "./colour.js";
import { change, filter, state } from "./state.js";
import { fn, learn, place, threadName } from "./names.js";
import { byId, copyText, count, make, percent, seconds } from "./text.js";

function closer(values) {
	return make("button", { class: "close", "aria-label": "Close", onclick: () => change(values) }, "\u00d7");
}

function functionButton(id, note) {
	const f = fn(id);
	return make("li", {}, make("button", { onclick: () => change({ function: id }), title: f.file },
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
		make("dd", {}, `${percent(n / all)}  ${seconds(n * answer.second)}  ${count(n)} samples`)];
	return make("dl", {}, ...row("self", answer.self), ...row("total", answer.total));
}

function showFunction(panel, id, answer) {
	const f = fn(id);
	const callers = neighbours(answer.callers, answer.total), callees = neighbours(answer.callees, answer.total);
	panel.replaceChildren(
		closer({ function: "" }),
		make("h2", {}, f.name),
		make("p", { title: f.file }, place(f), f.package ? `  (${f.package})` : ""),
		facts(answer),
		make("div", { class: "row" },
			make("button", { onclick: () => change({ view: "sandwich" }) }, "Sandwich"),
			make("button", { onclick: () => change({ view: "source", source: f.file }), disabled: f.kind !== 0 }, "Source"),
			make("button", { onclick: () => change({ q: `^${f.name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}$` }) }, "Find"),
			make("button", { onclick: () => copyText(`${f.name} (${f.file}:${f.line})`) }, "Copy")),
		callers.length ? make("p", {}, "Called by") : "",
		make("ol", {}, ...callers),
		callees.length ? make("p", {}, "Calls") : "",
		make("ol", {}, ...callees));
}

function stackText(answer) {
	return answer.stack.map(([id, line]) => `${fn(id).name} (${fn(id).file}:${line})`).reverse().join("\n");
}

function heldBy(answer) {
	if (answer.lane !== 1 || answer.holder < 0) return "";
	const top = answer.holder_stack.at(-1);
	return make("p", {}, "The GIL was held by ", make("b", {}, threadName(answer.holder)),
		top ? ` in ${fn(top[0]).name}` : "", ".");
}

function showMoment(panel, answer) {
	const frames = answer.stack.map(([id, line]) => functionButton(id, `${fn(id).path}:${line}`)).reverse();
	panel.replaceChildren(
		closer({ at: "", thread: "" }),
		make("h2", {}, threadName(Number(state.thread))),
		make("p", {}, answer.found
			? `at ${seconds(answer.when / 1e9)}: ${LANE_NAMES[answer.lane]}, seen so for ${seconds((answer.last - answer.first) / 1e9)}`
			: "was not seen at this moment"),
		heldBy(answer),
		make("div", { class: "row" }, make("button", { onclick: () => copyText(stackText(answer)), disabled: !frames.length }, "Copy the stack")),
		make("ol", {}, ...frames));
}

export async function updateDetail() {
	const panel = byId("detail");
	const { function: id, thread, at } = state;
	panel.hidden = id === "" && at === "";
	if (panel.hidden) return;
	try {
		if (at !== "") {
			const answer = learn(await ask("moment", { file: state.file, thread, at }));
			if (at === state.at) showMoment(panel, answer);
		} else {
			const answer = learn(await ask("sandwich", { ...filter(), function: id, parts: 60 }));
			if (id === state.function) showFunction(panel, Number(id), answer);
		}
	} catch (error) {
		panel.replaceChildren(closer({ function: "", at: "" }), make("p", {}, error.message));
	}
}
