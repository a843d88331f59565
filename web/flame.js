// The flame graph, merged or in order of time.
import { ask } from "./ask.js";
import { Boxes } from "./boxes.js";
import { colourOf, meaningOf, plainColour } from "./colour.js";
import { change, filter, state } from "./state.js";
import { BOX, NONE, fn, info, learn, place, recording, spelled, threadName } from "./names.js";
import { isHit, missed } from "./search.js";
import { gutter } from "./timeline.js";
import { copyText, count, emptyNote, make, percent, seconds, swatch } from "./text.js";

const LETTERS = { f: BOX.function, t: BOX.thread, n: BOX.none, g: BOX.gc };
const THREADS_MOST = 12; // below each other in order of time
const COLUMNS = 1500; // of a picture in order of time
const MEANINGS = 6; // of colours that are explained

function tokenOf(kind, id) {
	return `${Object.keys(LETTERS).find((letter) => LETTERS[letter] === kind)}${id}`;
}

export function nodeName(kind, id) {
	if (kind === BOX.function) return fn(id).name;
	if (kind === BOX.thread) return threadName(id);
	return { [BOX.root]: "all", [BOX.gc]: "garbage collection" }[kind] ?? "no Python";
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

/** The callers that a zoom went past, of a path that the answer followed so far. */
export function pathAbove(path, depth) {
	const tokens = path ? path.split(".").slice(0, depth) : [];
	const above = tokens.slice(0, -1).map((token) => ({ kind: LETTERS[token[0]] ?? BOX.function, id: Number(token.slice(1)) }));
	return tokens.length ? [{ kind: BOX.root, id: 0 }, ...above] : [];
}

/** From the root to a box, as the address has it. */
export function pathTo(model, i) {
	const tokens = [];
	for (; i >= 0; i = model.parents[i])
		if (model.kind[i]) tokens.unshift(tokenOf(model.kind[i], model.id[i]));
	return tokens.join(".");
}

/** What all pictures made of functions have in common. */
function looks(kind, id) {
	const isFunction = (i) => kind[i] === BOX.function;
	return {
		kind, id,
		name: (i) => nodeName(kind[i], id[i]),
		fill: (i) => (isFunction(i) ? colourOf(fn(id[i])) : plainColour(kind[i])),
		dim: (i) => isFunction(i) && missed(id[i]),
		hit: (i) => isFunction(i) && isHit(id[i]),
		chosen: (i) => isFunction(i) && state.function === String(id[i]),
	};
}

/** The boxes of an answer as a model, below the callers that were zoomed past. */
export function treeModel(answer, boxes, ancestors) {
	const n = ancestors.length, extent = boxes.total[0] || 1, all = Math.max(answer.samples, 1);
	const kind = [...ancestors.map((a) => a.kind), ...boxes.kind];
	const id = [...ancestors.map((a) => a.id), ...boxes.id];
	const width = [...ancestors.map(() => extent), ...boxes.total];
	const self = [...ancestors.map(() => 0), ...boxes.self];
	const depth = [...ancestors.map((_, i) => i), ...boxes.depth.map((d) => d + n)];
	const look = looks(kind, id);
	return {
		...look, n: kind.length, depth, width, self, extent, parents: parentsOf(depth),
		start: [...ancestors.map(() => 0), ...boxes.start],
		rows: boxes.deepest + 1 + n,
		dim: (i) => i < n || look.dim(i),
		note: (i) => (i < n ? "" : percent(width[i] / all)),
		detail: (i) => boxDetail(answer, kind[i], id[i], i < n ? null : width[i], self[i]),
	};
}

function boxDetail(answer, kind, id, total, self) {
	const all = Math.max(answer.samples, 1), lines = [nodeName(kind, id)];
	if (kind === BOX.function) lines.push(place(fn(id)));
	if (total === null) return [...lines, "a caller of what is shown"];
	lines.push(`${percent(total / all)}, ${seconds(total * answer.second)}, ${count(total)} samples`);
	if (self && kind === BOX.function) lines.push(`${percent(self / all)} in itself`);
	return lines;
}

/** The stack of a box, innermost first, for a clipboard. */
export function stackOf(model, i, reversed = false) {
	const lines = [];
	for (; i >= 0; i = model.parents[i])
		if (model.kind[i] === BOX.function) lines.push(spelled(fn(model.id[i])));
	return (reversed ? lines.reverse() : lines).join("\n");
}

/** What the colours mean that take the most room. */
function legend(model) {
	const weights = new Map();
	for (let i = 0; i < model.n; i++) {
		const [text, colour] = model.kind[i] === BOX.function ? meaningOf(fn(model.id[i]))
			: model.kind[i] === BOX.gc ? ["GC", plainColour(BOX.gc)] : ["", ""];
		const known = weights.get(text) ?? { colour, weight: 0 };
		known.weight += model.self ? model.self[i] : model.width[i];
		if (text) weights.set(text, known);
	}
	const heaviest = [...weights].sort((a, b) => b[1].weight - a[1].weight).slice(0, MEANINGS);
	return make("span", { class: "legend", "aria-label": "Colours" }, ...heaviest.map(([text, { colour }]) => swatch(colour, text)));
}

export function toggle(name, label, title) {
	return make("button", { "aria-pressed": String(state[name] !== ""), title,
		onclick: () => change({ [name]: state[name] === "" ? "1" : "", path: "", zoom: "" }) }, label);
}

/** One of some, side by side. */
function group(name, label, options) {
	return make("span", { class: "group", role: "radiogroup", "aria-label": label }, ...options.map(([value, text, title]) =>
		make("button", { role: "radio", "aria-checked": String(state[name] === value), title,
			onclick: () => change({ [name]: value }) }, text)));
}

export function pictureName() {
	return recording().name.replace(/\.pyro$/, "").replace(/.*\//, "") || "flame";
}

/** Buttons that act on a picture; their keys are in main.js. */
export function pictureButtons(view) {
	return [
		make("button", { title: "Copy the stack of the chosen box (c)", onclick: () => view.copy() }, "Copy stack"),
		make("button", { title: "Save the picture as SVG (Shift s)", onclick: () => view.boxes.saveSvg(`${pictureName()}.svg`) }, "SVG"),
		make("button", { title: "Save the picture as PNG (Shift p)", onclick: () => view.boxes.savePng(`${pictureName()}.png`) }, "PNG"),
	];
}

export function directions() {
	return group("upward", "Direction", [["", "Icicle", "Callers above (f)"], ["1", "Flame", "Callers below (f)"]]);
}

export class FlameView {
	constructor() {
		this.boxes = new Boxes("Flame graph. Arrow keys move, Enter zooms, Backspace zooms out.", {
			choose: (i) => this.choose(i),
			open: (i) => this.open(i),
		});
		/** @type {any} */
		this.model = null;
		this.note = "";
	}

	options() {
		const byTime = state.order === "time";
		const parts = [group("order", "Order", [["merged", "Left heavy", "Stacks merged, the heaviest on the left (o)"], ["time", "By time", "In order of time, below the timeline (o)"]])];
		if (byTime && state.split === "") parts.push(this.threadChoice());
		parts.push(toggle("split", "By thread", "Threads apart (t)"),
			toggle("inverted", "Inverted", "What time is spent in, by who called it (i)"), directions(),
			group("colour", "Colour by", [["module", "Module", "Colour by module (k)"], ["kind", "Kind", "Colour by kind: Python, native, kernel, GC (k)"]]),
			...pictureButtons(this));
		if (this.canGoOut()) parts.push(make("button", { onclick: () => this.out(true), title: "Zoom out (Backspace: one level)" }, "Zoom out"));
		if (this.note) parts.push(make("span", { class: "note" }, this.note));
		if (this.model?.n) parts.push(legend(this.model));
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
		this.note = "";
		if (state.order === "time") return this.updateTime();
		const parts = Math.ceil((host.clientWidth || 1200) / 200) * 200;
		const { mine, inverted, split, path } = state;
		const answer = learn(await ask("flame", { ...filter(), mine, inverted, split, path, parts }));
		this.model = null;
		if (!answer.samples) return [emptyNote("No samples here", answer.all ? "Nothing passes these filters. Esc takes them away." : "The recording has no samples in this window.")];
		this.model = treeModel(answer, answer.boxes, pathAbove(path, answer.path_depth));
		return [this.boxes.element];
	}

	/** The threads that are shown in order of time. */
	shownThreads() {
		if (state.split === "") return [this.thread()];
		const ids = state.threads !== "" ? state.threads.split(",").map(Number) : info.threads.map((_, i) => i);
		if (ids.length > THREADS_MOST) this.note = `the first ${THREADS_MOST} of ${ids.length} threads; x in the timeline chooses others`;
		return ids.slice(0, THREADS_MOST);
	}

	async updateTime() {
		const from = state.to ? state.from || 0 : state.left || 0;
		const to = state.to || state.right || recording().duration;
		const { file, mode, mine, inverted } = state, threads = this.shownThreads();
		const answers = await Promise.all(threads.map((thread) =>
			ask("chrono", { file, mode, thread, from, to, columns: COLUMNS, mine, inverted })));
		this.model = timeModel(answers.map(learn), threads);
		if (!this.model.n) return [emptyNote("Nothing was seen here", `${threads.length > 1 ? "No thread" : threadName(threads[0])} has ${threads.length > 1 ? "" : "no "}stacks in this window of time.`)];
		return [this.boxes.element];
	}

	/** Once the elements are in the page. */
	shown() {
		if (this.model?.n && this.boxes.element.isConnected) this.boxes.show(this.model, state.upward !== "");
	}

	/** A function that was chosen elsewhere takes the cursor along. */
	redraw() {
		if (state.function !== "" && this.model && !this.model.chosen(this.boxes.cursor)) this.boxes.cursor = this.boxes.widestChosen();
		this.boxes.redraw();
	}

	find(step) { this.boxes.findHit(step); }

	choose(i) {
		if (this.model.kind[i] === BOX.function) change({ function: this.model.id[i], at: "", thread: "" }, true);
	}

	open(i) {
		if (state.order === "time") change({ from: this.model.timeOf(this.model.start[i]), to: this.model.timeOf(this.model.start[i] + this.model.width[i]) });
		else change({ path: pathTo(this.model, i) });
	}

	canGoOut() {
		return state.order === "time" ? state.to !== "" : state.path !== "";
	}

	out(all = false) {
		if (!this.canGoOut()) return;
		if (state.order === "time") change({ from: "", to: "" });
		else change({ path: all ? "" : state.path.split(".").slice(0, -1).join(".") });
	}

	copy() {
		copyText(this.model ? stackOf(this.model, this.boxes.cursor, state.inverted !== "") : "");
	}

	keys() {
		return { Backspace: () => this.out() };
	}
}

/** The boxes of one thread, from row `top` on. */
function addThread(model, answer, top) {
	const first = model.depth.length, n = answer.boxes.length / 4;
	for (let i = 0; i < n; i++) {
		const [depth, start, end, id] = answer.boxes.slice(i * 4, i * 4 + 4);
		model.depth.push(depth + top);
		model.start.push(start);
		model.width.push(end - start);
		model.kind.push(id === NONE ? BOX.gc : BOX.function);
		model.id.push(id === NONE ? 0 : id);
		model.thread.push(answer.thread);
	}
	model.parents.push(...parentsByPlace(model.depth, first));
}

/** A row with the thread's name, then its stacks, thread by thread. */
function timeModel(answers, threads) {
	const model = { depth: [], start: [], width: [], kind: [], id: [], thread: [], parents: [] };
	const several = threads.length > 1, { from, to } = answers[0];
	let rows = 0;
	answers.forEach((answer, t) => {
		if (several && answer.boxes.length) {
			addThread(model, { boxes: [0, 0, COLUMNS, 0], thread: threads[t] }, rows++);
			model.kind[model.kind.length - 1] = BOX.thread;
			model.id[model.id.length - 1] = threads[t];
		}
		addThread(model, { ...answer, thread: threads[t] }, rows);
		rows += answer.deepest;
	});
	const column = (to - from) / COLUMNS, timeOf = (at) => Math.round(from + at * column);
	const look = looks(model.kind, model.id);
	return {
		...model, ...look, n: model.depth.length, extent: COLUMNS, rows, timeOf,
		inset: state.to ? 0 : gutter(), // below the same moment of the timeline
		detail: (i) => [look.name(i), ...(model.kind[i] === BOX.function ? [place(fn(model.id[i]))] : []), threadName(model.thread[i]),
			`from ${seconds(timeOf(model.start[i]) / 1e9)}, for ${seconds(model.width[i] * column / 1e9)}`],
	};
}

/** Boxes by their end: the caller is the next one that is less deep. */
function parentsByPlace(depth, first) {
	const parents = new Array(depth.length - first).fill(-1), waiting = [];
	for (let i = first; i < depth.length; i++) {
		while (waiting.length && depth[waiting.at(-1)] > depth[i]) {
			const child = waiting.pop();
			if (depth[child] === depth[i] + 1) parents[child - first] = i;
		}
		waiting.push(i);
	}
	return parents;
}
