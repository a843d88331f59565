// Views that set two pictures side by side: callers and callees of a function,
// one recording and another.
import { ask } from "./ask.js";
import { Boxes } from "./boxes.js";
import { changeColour, plainColour } from "./colour.js";
import { OF_RECORDING, change, filter, state } from "./state.js";
import { BOX, fn, info, learn, place, spelled } from "./names.js";
import { isHit } from "./search.js";
import { Table } from "./table.js";
import { copyText, count, emptyNote, make, percent, seconds, swatch } from "./text.js";
import { directions, parentsOf, pathAbove, pathTo, pictureButtons, stackOf, toggle, treeModel } from "./flame.js";
import { NOTHING, nameCell, rowStyle } from "./lists.js";

export class SandwichView {
	constructor() {
		this.callers = new Boxes("Callers", { open: (i) => change({ function: this.callers.model.id[i] }) });
		this.callees = new Boxes("Callees", { open: (i) => change({ function: this.callees.model.id[i] }) });
		this.top = { samples: 0, rows: [] };
		const column = (key, title) => ({ key, title, number: true, width: "72px", by: (row) => row[key],
			cell: (row) => percent(row[key] / Math.max(this.top.samples, 1)), bar: (row) => row[key] / Math.max(this.top.samples, 1) });
		this.table = new Table("Functions", [column("self", "Self"), column("total", "Total"),
			{ key: "name", title: "Function", by: (row) => fn(row.id).name.toLowerCase(), cell: (row) => nameCell(fn(row.id)) }], {
			choose: (row) => change({ function: row.id }),
			chosen: (row) => row.id === this.id,
			style: (row) => rowStyle(row.id),
		});
		this.table.order = "self";
	}

	options() {
		return [make("span", { class: "note" }, "Callers above, callees below. Choose a function on the left; double click or Enter moves to one in the picture.")];
	}

	async update() {
		this.top = learn(await ask("top", { ...filter(), mine: state.mine }));
		this.rows = this.top.rows.map(([id, self, total]) => ({ id, self, total }));
		if (!this.rows.length) return [emptyNote(...NOTHING)];
		this.id = state.function === "" ? this.rows.reduce((a, b) => (b.self > a.self ? b : a)).id : Number(state.function);
		this.answer = learn(await ask("sandwich", { ...filter(), mine: state.mine, function: this.id, parts: 1200 }));
		this.table.element.classList.add("files", "wide");
		return [make("div", { class: "split" }, this.table.element, make("div", { class: "stack" }, ...this.pictures()))];
	}

	pictures() {
		const f = fn(this.id), { total, self, samples, second, callers, callees } = this.answer;
		if (!total) return [emptyNote(f.name, "No samples with these filters. Esc takes them away.")];
		const share = (n) => percent(n / Math.max(samples, 1));
		const alone = (boxes, text) => (boxes.id.length > 1 ? "" : make("small", {}, text));
		return [this.callers.element,
			make("div", { class: "seam" }, make("span", {}, f.name), make("small", {}, place(f)),
				make("small", {}, `total ${share(total)} (${seconds(total * second)}), self ${share(self)}`),
				alone(callers, "called by nobody"), alone(callees, "calls nothing that was seen")),
			this.callees.element];
	}

	shown() {
		this.table.show(this.rows);
		if (!this.callers.element.isConnected) return;
		this.callers.show(withoutRoot(treeModel(this.answer, this.answer.callers, [])), true);
		this.callees.show(withoutRoot(treeModel(this.answer, this.answer.callees, [])));
		this.callers.element.style.flex = `0 1 ${this.callers.total()}px`; // no more than it needs
	}

	redraw() {
		for (const part of [this.table, this.callers, this.callees]) part.redraw();
	}

	find(step) { this.table.find(step, (row) => isHit(row.id)); }

	/** The chosen caller or callee with all in between, or the function itself. */
	copy() {
		const at = [this.callers, this.callees].find((boxes) => boxes.element.contains(document.activeElement) && boxes.cursor >= 0);
		if (!at) return copyText(spelled(fn(this.id)));
		const rest = stackOf(at.model, at.cursor, at === this.callers);
		copyText(at === this.callers ? `${spelled(fn(this.id))}\n${rest}` : `${rest}\n${spelled(fn(this.id))}`);
	}

	get boxes() { return this.callers.element.contains(document.activeElement) ? this.callers : this.callees; }
	keys() { return {}; }
}

/** The function itself is the seam between the pictures, not a box in them. */
function withoutRoot(model) {
	const rest = (list) => list.slice(1);
	const by = (f) => (i) => f(i + 1);
	return { ...model, n: model.n - 1, rows: model.rows - 1, depth: rest(model.depth).map((d) => d - 1), start: rest(model.start),
		width: rest(model.width), id: rest(model.id), kind: rest(model.kind), parents: [...rest(model.parents)].map((p) => p - 1),
		name: by(model.name), note: by(model.note), fill: by(model.fill), dim: by(model.dim), hit: by(model.hit), chosen: by(model.chosen), detail: by(model.detail) };
}

export class CompareView {
	constructor() {
		this.boxes = new Boxes("Differential flame graph. Arrow keys move, Enter zooms, Backspace zooms out.", {
			choose: (i) => this.choose(this.byPlace.get(this.model.id[i])),
			open: (i) => change({ zoom: pathTo(this.model, i) }),
		});
		const shares = (key, title) => [
			{ key: `${key}0`, title, help: "In the base", number: true, width: "104px", class: "wide", by: (row) => row[key].base, cell: (row) => percent(row[key].base) },
			{ key: `${key}1`, title: "new", help: "In the new recording", number: true, width: "76px", class: "wide", by: (row) => row[key].now, cell: (row) => percent(row[key].now) },
			{ key, title: key === "self" ? "Self \u0394" : "Total \u0394", help: "Change of the share, in percentage points", number: true, width: "88px",
				by: (row) => (row[key].noise ? 0 : Math.abs(row[key].change) + 1), cell: (row) => signed(row[key]) },
			{ key: `${key}Sure`, title: "\u00b1", help: "How large a change may be by chance, 95% of the time", number: true, width: "62px", class: "wide", cell: (row) => `\u00b1${(row[key].half * 100).toFixed(1)}` },
		];
		this.table = new Table("Functions by change", [
			...shares("self", "Self base"), ...shares("total", "Total base"),
			{ key: "name", title: "Function", by: (row) => row.name.toLowerCase(), cell: (row) => [make("span", { class: "name" }, row.name), " ", make("small", {}, row.path)] },
		], {
			choose: (row) => this.choose(row),
			chosen: (row) => row.id >= 0 && state.file === newer() && state.function === String(row.id),
			style: (row) => (row.hit ? "hit" : state.q ? "dim" : row.self.noise && row.total.noise ? "noise" : ""),
			sorted: (order) => change({ changesort: order }, true),
		});
		this.byPlace = new Map();
		this.rows = [];
	}

	/** A function that is in the new recording is chosen in that one. */
	choose(row) {
		if (!row || row.id < 0) return;
		if (state.file === newer()) change({ function: row.id, at: "", thread: "" }, true);
		else change({ ...OF_RECORDING, zoom: state.zoom, file: newer(), function: row.id });
	}

	options() {
		if (info.recordings.length < 2) return [];
		const pick = (label, chosen, act) => make("label", {}, `${label} `, make("select", { onchange: (event) => act(event.target.value) },
			...info.recordings.map((r, i) => make("option", { value: i, selected: chosen === String(i) }, r.name))));
		return [pick("Base", state.base, (value) => change({ base: value, zoom: "" })), pick("New", newer(), (value) => change({ ...OF_RECORDING, file: value })),
			toggle("inverted", "Inverted", "What time is spent in, by who called it (i)"), directions(),
			...pictureButtons(this),
			...(state.zoom ? [make("button", { onclick: () => change({ zoom: "" }) }, "Zoom out")] : []),
			make("span", { class: "note" }, this.note ?? ""),
			make("span", { class: "legend" }, swatch(changeColour(0.1, false), "took more"), swatch(changeColour(-0.1, false), "took less"), swatch(changeColour(0, true), "noise"))];
	}

	async update() {
		if (info.recordings.length < 2)
			return [emptyNote("One recording only", "To compare takes two: pyrometer view BASE.pyro NEW.pyro")];
		const { base, mode, mine, inverted, exact, q, zoom } = state;
		const answer = await ask("compare", { file: newer(), base, mode, mine, inverted, exact, q, path: zoom, parts: 1200 });
		if (!answer.sides[0] || !answer.sides[1]) return [emptyNote("No samples to compare", "One of the two recordings has none that count in this mode.")];
		this.rows = answer.rows.map(([at, id, name, path, line, kind, library, ...v]) =>
			({ at, id, name, path: path ? (line ? `${path}:${line}` : path) : library, self: changeOf(v), total: changeOf(v.slice(4)), hit: v[8] }));
		this.byPlace = new Map(this.rows.map((row) => [row.at, row]));
		const sure = this.rows.filter((row) => !row.self.noise).length;
		this.note = `${count(sure)} ${sure === 1 ? "function" : "functions"} changed by more than noise${state.to || state.threads ? "; whole recordings are compared, whatever the range and the threads" : ""}`;
		this.model = changeModel(answer, this.byPlace);
		return [this.boxes.element, this.table.element];
	}

	shown() {
		if (!this.boxes.element.isConnected) return;
		this.boxes.show(this.model, state.upward !== "");
		this.boxes.element.style.flex = `0 1 ${Math.max(this.boxes.total(), 60)}px`;
		this.table.order = state.changesort;
		this.table.show(this.rows);
	}

	redraw() {
		this.boxes.redraw();
		if (this.table.order !== state.changesort) this.shown();
		else this.table.redraw();
	}

	find(step) { this.table.find(step, (row) => row.hit); }

	/** The stack of the chosen box; its functions may be in either recording. */
	copy() {
		const lines = [], model = this.model;
		for (let i = this.boxes.cursor; model && i >= 0; i = model.parents[i])
			if (model.kind[i] === BOX.function) lines.push(`${this.byPlace.get(model.id[i]).name} (${this.byPlace.get(model.id[i]).path})`);
		copyText((state.inverted ? lines.reverse() : lines).join("\n"));
	}

	keys() {
		return { Backspace: () => change({ zoom: state.zoom.split(".").slice(0, -1).join(".") }) };
	}
}

/** What the base is compared with: the recording at hand, or else another. */
function newer() {
	if (state.file !== state.base) return state.file;
	return state.base === "0" ? "1" : "0";
}

/** @param {number[]} v base, new, half width, noise */
function changeOf(v) {
	const [base, now, half, noise] = v;
	return { base, now, half, noise, change: now - base };
}

function signed({ change, noise }) {
	return `${change > 0 ? "+" : ""}${percent(change)}${noise ? " ~" : ""}`;
}

function changeModel(answer, rows) {
	const FIELDS = 8, n = answer.boxes.length / FIELDS, above = pathAbove(state.zoom, answer.path_depth), skip = above.length;
	const column = (at) => Array.from({ length: n }, (_, i) => answer.boxes[i * FIELDS + at]);
	const widest = answer.boxes[2] || 1;
	const wide = (list, of) => [...above.map(of), ...list];
	const depth = wide(column(0).map((d) => d + skip), (_, i) => i), start = wide(column(1), () => 0), width = wide(column(2), () => widest);
	const kind = wide(column(3), (a) => a.kind), id = wide(column(4), (a) => a.id);
	const [base, now, noise] = [5, 6, 7].map((at) => wide(column(at), () => 0));
	const [all0, all1] = answer.sides.map((samples) => Math.max(samples, 1));
	const row = (i) => (kind[i] === BOX.function ? rows.get(id[i]) : undefined);
	const nameOf = (i) => row(i)?.name ?? { [BOX.root]: "all", [BOX.gc]: "garbage collection", [BOX.function]: "?" }[kind[i]] ?? "no Python";
	const change = (i) => ({ change: now[i] / all1 - base[i] / all0, noise: noise[i] });
	return {
		n: depth.length, depth, start, width, kind, id, extent: widest, rows: answer.deepest + 1 + skip, parents: parentsOf(depth),
		name: nameOf,
		note: (i) => (i < skip || !kind[i] || noise[i] ? "" : signed(change(i))),
		fill: (i) => (i < skip || !kind[i] ? plainColour(BOX.root) : changeColour(change(i).change, noise[i])),
		dim: (i) => i < skip || (state.q !== "" && !row(i)?.hit && kind[i] === BOX.function),
		hit: (i) => Boolean(row(i)?.hit),
		chosen: (i) => row(i)?.id >= 0 && state.file === newer() && state.function === String(row(i).id),
		detail: (i) => [nameOf(i), row(i)?.path ?? "", i < skip ? "a caller of what is shown"
			: `${percent(base[i] / all0)} before, ${percent(now[i] / all1)} now (${signed(change(i))})`,
			noise[i] ? "within the noise" : ""].filter((line) => line !== ""),
	};
}
