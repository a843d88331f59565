// The flame graph, merged or in order of time.
import { ask } from "./ask.js";
import { Boxes } from "./boxes.js";
import { colourOf, ink } from "./colour.js";
import { change, filter, state } from "./state.js";
import { fn, info, learn, place, recording, threadName } from "./names.js";
import { missed } from "./search.js";
import { gutter } from "./timeline.js";
import { copyText, count, emptyNote, make, percent, seconds } from "./text.js";

const FUNCTION = 1, THREAD = 2;

export function tokenOf(kind, id) {
	return kind === FUNCTION ? `f${id}` : kind === THREAD ? `t${id}` : `n${id}`;
}

function kindOfToken(token) {
	return token[0] === "f" ? FUNCTION : token[0] === "t" ? THREAD : 3;
}

export function nodeName(kind, id) {
	if (kind === FUNCTION) return fn(id).name;
	if (kind === THREAD) return threadName(id);
	return kind === 0 ? "all" : "no Python";
}

/** For each box that of its caller; callers come before what they call. */
export function parentsOf(depth) {
	const open = [], parents = new Int32Array(depth.length);
	for (let i = 0; i < depth.length; i++) {
		parents[i] = depth[i] ? open[depth[i] - 1] : -1;
		open[depth[i]] = i;
	}
	return parents;
}

/** The boxes of an answer as a model, below the callers that were zoomed past. */
export function treeModel(answer, boxes, ancestors) {
	const n = ancestors.length, extent = boxes.total[0] || 1;
	const kind = [...ancestors.map((a) => a.kind), ...boxes.kind];
	const id = [...ancestors.map((a) => a.id), ...boxes.id];
	const width = [...ancestors.map(() => extent), ...boxes.total];
	const self = [...ancestors.map(() => 0), ...boxes.self];
	const depth = [...ancestors.map((_, i) => i), ...boxes.depth.map((d) => d + n)];
	const isFunction = (i) => kind[i] === FUNCTION;
	return {
		n: kind.length, kind, id, depth, width, self, extent, parents: parentsOf(depth),
		start: [...ancestors.map(() => 0), ...boxes.start],
		rows: boxes.deepest + 1 + n,
		name: (i) => nodeName(kind[i], id[i]),
		fill: (i) => (isFunction(i) ? colourOf(fn(id[i])) : ink("panel")),
		dim: (i) => i < n || (isFunction(i) && missed(id[i])),
		chosen: (i) => isFunction(i) && state.function === String(id[i]),
		detail: (i) => boxDetail(answer, kind[i], id[i], i < n ? null : width[i], self[i]),
	};
}

function boxDetail(answer, kind, id, total, self) {
	const all = Math.max(answer.samples, 1), lines = [nodeName(kind, id)];
	if (kind === FUNCTION) lines.push(place(fn(id)));
	if (total === null) return [...lines, "a caller of what is shown"];
	lines.push(`${percent(total / all)}, ${seconds(total * answer.second)}, ${count(total)} samples`);
	if (self) lines.push(`${percent(self / all)} in itself`);
	return lines;
}

/** From the root to a box, as the address has it. */
export function pathTo(model, i) {
	const tokens = [];
	for (; i >= 0; i = model.parents[i])
		if (model.kind[i]) tokens.unshift(tokenOf(model.kind[i], model.id[i]));
	return tokens.join(".");
}

function toggle(name, label, title) {
	return make("button", { "aria-pressed": String(state[name] !== ""), title,
		onclick: () => change({ [name]: state[name] === "" ? "1" : "", path: "" }) }, label);
}

function choice(name, options, label) {
	const select = make("select", { "aria-label": label, onchange: (event) => change({ [name]: event.target.value, path: "" }) },
		...options.map(([value, text]) => make("option", { value, selected: state[name] === value }, text)));
	return select;
}

export function pictureButtons(boxes, stack) {
	const name = recording().name.replace(/\.pyro$/, "").replace(/.*\//, "") || "flame";
	return [
		make("button", { title: "Copy the stack of the chosen box (c)", "data-act": "copy", onclick: stack }, "Copy stack"),
		make("button", { onclick: () => boxes.saveSvg(`${name}.svg`), title: "Save as SVG" }, "SVG"),
		make("button", { onclick: () => boxes.savePng(`${name}.png`), title: "Save as PNG" }, "PNG"),
	];
}

export class FlameView {
	constructor() {
		this.boxes = new Boxes("Flame graph. Arrow keys move, Enter zooms, Backspace zooms out.", {
			choose: (i) => this.choose(i),
			open: (i) => this.open(i),
		});
		this.answer = null;
	}

	options() {
		const byTime = state.order === "time";
		/** @type {HTMLElement[]} */
		const parts = [choice("order", [["merged", "Left heavy"], ["time", "In order of time"]], "Order")];
		if (byTime) parts.push(this.threadChoice());
		else parts.push(toggle("split", "By thread", "Threads apart (t)"), toggle("inverted", "Inverted", "What time is spent in, by who called it (i)"));
		parts.push(toggle("upward", "Flame", "Grow upward (f)"),
			choice("colour", [["module", "Colour by module"], ["kind", "Colour by kind"]], "Colour"),
			...pictureButtons(this.boxes, () => this.copyStack()));
		if (state.path && !byTime) parts.push(make("button", { onclick: () => this.out(true) }, "Zoom out"));
		return parts;
	}

	threadChoice() {
		return make("select", { "aria-label": "Thread", onchange: (event) => change({ threads: event.target.value, thread: "", at: "" }) },
			...info.threads.map((_, i) => make("option", { value: i, selected: i === this.thread() }, threadName(i))));
	}

	thread() {
		if (state.thread !== "") return Number(state.thread);
		if (state.threads !== "") return Number(state.threads.split(",")[0]);
		return Math.max(0, info.threads.findIndex((thread) => thread.main));
	}

	async update(host) {
		if (state.order === "time") return this.updateTime();
		const parts = Math.ceil((host.clientWidth || 1200) / 200) * 200;
		const { mine, inverted, split, path } = state;
		const answer = learn(await ask("flame", { ...filter(), mine, inverted, split, path, parts }));
		this.answer = answer;
		if (!answer.samples) return [emptyNote("No samples here", answer.all ? "Nothing passes these filters. Esc takes them away." : "The recording has no samples in this window.")];
		const tokens = path ? path.split(".").slice(0, answer.path_depth) : [];
		const ancestors = tokens.slice(0, -1).map((token) => ({ kind: kindOfToken(token), id: Number(token.slice(1)) }));
		if (tokens.length) ancestors.unshift({ kind: 0, id: 0 });
		this.model = treeModel(answer, answer.boxes, ancestors);
		return [this.boxes.element];
	}

	async updateTime() {
		const from = state.to ? state.from || 0 : state.left || 0;
		const to = state.to || state.right || recording().duration;
		const columns = 1500;
		const answer = learn(await ask("chrono", { file: state.file, thread: this.thread(), from, to, columns, mine: state.mine }));
		this.answer = null;
		this.model = timeModel(answer, columns, this.thread());
		if (!this.model.n) return [emptyNote("Nothing was seen here", `${threadName(this.thread())} has no stacks in this window of time.`)];
		return [this.boxes.element];
	}

	/** Once the elements are in the page. */
	shown() {
		if (this.model?.n && this.boxes.element.isConnected) this.boxes.show(this.model, state.upward !== "");
	}

	redraw() {
		this.boxes.redraw();
	}

	choose(i) {
		if (this.model.kind[i] === FUNCTION) change({ function: this.model.id[i], at: "", thread: "" }, true);
	}

	open(i) {
		if (state.order === "time") change({ from: this.model.timeOf(this.model.start[i]), to: this.model.timeOf(this.model.start[i] + this.model.width[i]) });
		else change({ path: pathTo(this.model, i) });
	}

	out(all = false) {
		if (!state.path) return false;
		change({ path: all ? "" : state.path.split(".").slice(0, -1).join(".") });
		return true;
	}

	copyStack() {
		const lines = [];
		for (let i = Math.max(this.boxes.cursor, 0); i >= 0; i = this.model.parents[i])
			if (this.model.kind[i] === FUNCTION) lines.push(`${fn(this.model.id[i]).name} (${fn(this.model.id[i]).file}:${fn(this.model.id[i]).line})`);
		copyText((state.inverted ? lines.reverse() : lines).join("\n"));
	}

	keys() {
		return { Backspace: () => this.out(), c: () => this.copyStack() };
	}
}

function timeModel(answer, columns, thread) {
	const n = answer.boxes.length / 4;
	const depth = [], start = [], width = [], id = [];
	for (let i = 0; i < n; i++) {
		depth.push(answer.boxes[i * 4]);
		start.push(answer.boxes[i * 4 + 1]);
		width.push(answer.boxes[i * 4 + 2] - answer.boxes[i * 4 + 1]);
		id.push(answer.boxes[i * 4 + 3]);
	}
	const column = (answer.to - answer.from) / columns;
	const timeOf = (at) => Math.round(answer.from + at * column);
	return {
		n, depth, start, width, id, kind: id.map(() => FUNCTION), extent: columns, rows: answer.deepest,
		inset: state.to ? 0 : gutter(), // below the same moment of the timeline
		parents: parentsByPlace(depth, start, width), timeOf,
		name: (i) => fn(id[i]).name,
		fill: (i) => colourOf(fn(id[i])),
		dim: (i) => missed(id[i]),
		chosen: (i) => state.function === String(id[i]),
		detail: (i) => [fn(id[i]).name, place(fn(id[i])), threadName(thread),
			`from ${seconds(timeOf(start[i]) / 1e9)}, for ${seconds(width[i] * column / 1e9)}`],
	};
}

/** Boxes by their end: the caller is the next one that is less deep. */
function parentsByPlace(depth, start, width) {
	const parents = new Int32Array(depth.length).fill(-1), waiting = [];
	for (let i = 0; i < depth.length; i++) {
		while (waiting.length && depth[waiting.at(-1)] > depth[i]) {
			const child = waiting.pop();
			if (depth[child] === depth[i] + 1) parents[child] = i;
		}
		waiting.push(i);
	}
	return parents;
}
