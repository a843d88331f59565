// Views that set two pictures side by side: callers and callees of a function,
// one recording and another.
import { ask } from "./ask.js";
import { Boxes } from "./boxes.js";
import { changeColour, ink } from "./colour.js";
import { change, filter, state } from "./state.js";
import { fn, info, learn, place } from "./names.js";
import { Table } from "./table.js";
import { count, emptyNote, make, percent, seconds } from "./text.js";
import { parentsOf, pictureButtons, treeModel } from "./flame.js";

export class SandwichView {
	constructor() {
		const boxes = (label) => new Boxes(label, {
			open: (i) => change({ function: this.modelOf(label).id[i] }),
		});
		this.above = boxes("Callers");
		this.below = boxes("Callees");
	}

	modelOf(label) {
		return label === "Callers" ? this.above.model : this.below.model;
	}

	options() {
		return [make("span", { class: "note" }, "Callers above, callees below; double click or Enter moves to a function.")];
	}

	async update() {
		const id = state.function === "" ? await heaviest() : Number(state.function);
		if (id === null) return [emptyNote("No samples here", "Nothing passes these filters. Esc takes them away.")];
		this.answer = learn(await ask("sandwich", { ...filter(), function: id, parts: 1200 }));
		if (!this.answer.total) return [emptyNote(fn(id).name, "has no samples with these filters.")];
		const f = fn(id), share = (n) => percent(n / Math.max(this.answer.samples, 1));
		const alone = (boxes, text) => (boxes.id.length > 1 ? "" : make("small", {}, text));
		return [this.above.element,
			make("div", { class: "seam" }, make("span", {}, f.name), make("small", {}, place(f)),
				make("small", {}, `total ${share(this.answer.total)} (${seconds(this.answer.total * this.answer.second)}), self ${share(this.answer.self)}`),
				alone(this.answer.callers, "called by nobody"), alone(this.answer.callees, "calls nothing that was seen")),
			this.below.element];
	}

	shown() {
		if (!this.above.element.isConnected) return;
		this.above.show(withoutRoot(treeModel(this.answer, this.answer.callers, [])), true);
		this.below.show(withoutRoot(treeModel(this.answer, this.answer.callees, [])));
	}

	redraw() { this.above.redraw(); this.below.redraw(); }
	keys() { return {}; }
}

/** The function itself is the seam between the pictures, not a box in them. */
function withoutRoot(model) {
	const depth = model.depth.map((d) => d - 1);
	const rest = (list) => list.slice(1);
	const by = (f) => (i) => f(i + 1);
	return { ...model, n: model.n - 1, rows: model.rows - 1, depth: rest(depth), start: rest(model.start),
		width: rest(model.width), id: rest(model.id), kind: rest(model.kind),
		name: by(model.name), fill: by(model.fill), dim: by(model.dim), chosen: by(model.chosen), detail: by(model.detail) };
}

/** The function to begin with: that with the most time of its own. */
async function heaviest() {
	const answer = learn(await ask("top", { ...filter(), mine: state.mine }));
	return answer.rows.length ? answer.rows.reduce((a, b) => (b[1] > a[1] ? b : a))[0] : null;
}

export class CompareView {
	constructor() {
		this.boxes = new Boxes("Differential flame graph", { open: (i) => {} });
		const shares = (key, title) => [
			{ key: `${key}0`, title: `${title} base`, number: true, width: "92px", by: (row) => row[key][0], cell: (row) => percent(row[key][0]) },
			{ key: `${key}1`, title: "new", number: true, width: "76px", by: (row) => row[key][1], cell: (row) => percent(row[key][1]) },
			{ key, title: "change", number: true, width: "92px", by: (row) => Math.abs(row[key][1] - row[key][0]), cell: (row) => signed(row[key]) },
		];
		this.table = new Table("Functions by change", [
			...shares("self", "Self"), ...shares("total", "Total"),
			{ key: "name", title: "Function", by: (row) => row.name, cell: (row) => [make("span", { class: "name" }, row.name), " ", make("small", {}, row.path)] },
		], { style: (row) => (row.hit ? "hit" : state.q || (row.self[2] && row.total[2]) ? "noise" : "") });
		this.table.sortKey = "self";
	}

	options() {
		if (info.recordings.length < 2) return [];
		const pick = (field, label, chosen) => make("label", {}, `${label} `, make("select", { onchange: (event) => change({ [field]: event.target.value }) },
			...info.recordings.map((r, i) => make("option", { value: i, selected: chosen === String(i) }, r.name))));
		return [pick("base", "Base", state.base), pick("file", "New", newer()), ...pictureButtons(this.boxes, () => {}).slice(1),
			make("span", { class: "note" }, this.note ?? "")];
	}

	async update() {
		if (info.recordings.length < 2)
			return [emptyNote("One recording only", "To compare takes two: pyrometer view BASE.pyro NEW.pyro")];
		const { base, mode, mine, exact, q } = state;
		const answer = await ask("compare", { file: newer(), base, mode, mine, exact, q, parts: 1200 });
		this.rows = answer.rows.map(([id, name, path, line, library, ...v]) =>
			({ id, name, path: line ? `${path}:${line}` : path, self: v.slice(0, 3), total: v.slice(3, 6), hit: v[6] }));
		const sure = this.rows.filter((row) => !row.self[2]).length;
		this.note = `${count(sure)} functions changed by more than noise; orange took more, blue less, grey is noise`;
		this.model = changeModel(answer, new Map(this.rows.map((row) => [row.id, row])));
		return [this.boxes.element, this.table.element];
	}

	shown() {
		if (!this.boxes.element.isConnected) return;
		this.boxes.show(this.model, state.upward !== "");
		this.table.show(this.rows);
	}

	redraw() { this.boxes.redraw(); this.table.redraw(); }
	keys() { return {}; }
}

/** What the base is compared with: the recording at hand, or else another. */
function newer() {
	if (state.file !== state.base) return state.file;
	return state.base === "0" ? "1" : "0";
}

function signed([before, after, noise]) {
	const v = after - before;
	return `${v > 0 ? "+" : ""}${percent(v)}${noise ? " ~" : ""}`;
}

function changeModel(answer, rows) {
	const FIELDS = 8, n = answer.boxes.length / FIELDS;
	const column = (at) => Array.from({ length: n }, (_, i) => answer.boxes[i * FIELDS + at]);
	const [depth, start, width, kind, id, base, now, noise] = [0, 1, 2, 3, 4, 5, 6, 7].map(column);
	const [all0, all1] = answer.sides.map((samples) => Math.max(samples, 1));
	const nameOf = (i) => (kind[i] === 1 ? rows.get(id[i])?.name ?? "?" : kind[i] === 0 ? "all" : "no Python");
	return {
		n, depth, start, width, kind, id, extent: width[0] || 1, rows: answer.deepest + 1, parents: parentsOf(depth),
		name: nameOf,
		fill: (i) => (i ? changeColour(now[i] / all1 - base[i] / all0, noise[i]) : ink("panel")),
		dim: (i) => state.q !== "" && kind[i] === 1 && !rows.get(id[i])?.hit,
		detail: (i) => [nameOf(i), rows.get(id[i])?.path ?? "",
			`${percent(base[i] / all0)} before, ${percent(now[i] / all1)} now (${signed([base[i] / all0, now[i] / all1, noise[i]])})`,
			noise[i] ? "within the noise" : ""].filter((line) => line !== ""),
	};
}
