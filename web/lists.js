// Views that are tables: functions by time, the call tree.
import { ask } from "./ask.js";
import { change, filter, state } from "./state.js";
import { BOX, fn, learn, place, spelled } from "./names.js";
import { isHit, missed } from "./search.js";
import { Table, comparison } from "./table.js";
import { copyText, count, emptyNote, make, percent, seconds } from "./text.js";
import { nodeName, parentsOf, toggle } from "./flame.js";

const SURE = "How far the share may be off, 95% of the time, in percentage points";

export function rowStyle(id) {
	return isHit(id) ? "hit" : missed(id) ? "dim" : "";
}

/** Half the width of an interval, given in millionths. */
function sure(millionths) {
	return `\u00b1${(millionths / 1e4).toFixed(1)}`;
}

export function nameCell(f) {
	return [make("span", { class: "name", title: f.file || f.module }, f.name), " ", make("small", {}, place(f))];
}

/** Share, how sure it is, and time, of what the rows have as `key` and `keySure`. */
function shareColumns(view, key, title) {
	const share = (samples) => samples / Math.max(view.answer.samples, 1);
	return [
		{ key, title, number: true, width: "84px", by: (row) => row[key], cell: (row) => percent(share(row[key])), bar: (row) => share(row[key]) },
		{ key: `${key}Sure`, title: "\u00b1", help: SURE, number: true, width: "62px", class: "wide", cell: (row) => sure(row[`${key}Sure`]) },
		{ key: `${key}Time`, title: "time", number: true, width: "84px", class: "wide", cell: (row) => seconds(row[key] * view.answer.second) },
	];
}

export const NOTHING = ["No samples here", "Nothing passes these filters. Esc takes them away."];

export class TopView {
	constructor() {
		this.answer = { samples: 0, second: 0 };
		this.rows = [];
		this.table = new Table("Functions by time", [
			...shareColumns(this, "self", "Self"), ...shareColumns(this, "total", "Total"),
			{ key: "name", title: "Function", by: (row) => fn(row.id).name.toLowerCase(), cell: (row) => nameCell(fn(row.id)) },
			{ key: "package", title: "Package", width: "130px", class: "wide", by: (row) => fn(row.id).package, cell: (row) => fn(row.id).package },
		], {
			choose: (row) => change({ function: row.id, at: "", thread: "" }, true),
			open: (row) => change({ function: row.id, view: "sandwich" }),
			style: (row) => rowStyle(row.id),
			chosen: (row) => String(row.id) === state.function,
			sorted: (order) => change({ sort: order }, true),
		});
	}

	options() {
		return [make("span", { class: "note" }, "Self: time in the function itself. Total: with all that it calls. \u00b1: how far the share may be off, 95% of the time.")];
	}

	async update() {
		this.answer = learn(await ask("top", { ...filter(), mine: state.mine }));
		this.rows = this.answer.rows.map(([id, self, total, selfLow, selfHigh, totalLow, totalHigh]) =>
			({ id, self, total, selfSure: (selfHigh - selfLow) / 2, totalSure: (totalHigh - totalLow) / 2 }));
		return [this.rows.length ? this.table.element : emptyNote(...NOTHING)];
	}

	shown() {
		this.table.order = state.sort;
		this.table.show(this.rows);
	}

	redraw() {
		if (this.table.order !== state.sort) this.shown();
		else this.table.redraw();
	}

	find(step) { this.table.find(step, (row) => isHit(row.id)); }
	copy() { copyText(state.function === "" ? "" : spelled(fn(Number(state.function)))); }
	keys() { return {}; }
}

const OPEN_AT = 0.02; // share from which branches are open at first
const PARTS = 1000;

export class TreeView {
	constructor() {
		this.answer = { samples: 0, second: 0 };
		this.folds = new Map();
		this.all = [];
		this.marked = ""; // key of the row at hand
		this.table = new Table("Call tree", [
			...shareColumns(this, "total", "Total"), ...shareColumns(this, "self", "Self").slice(0, 2),
			{ key: "name", title: "Function", by: (row) => nodeName(row.kind, row.id).toLowerCase(), cell: (row) => this.nameCell(row) },
		], {
			choose: (row) => this.choose(row),
			open: (row) => this.fold(row),
			toggle: (row, open) => this.fold(row, open),
			style: (row) => (row.kind === BOX.function ? rowStyle(row.id) : ""),
			chosen: (row) => row.key === this.marked,
			level: (row) => ({ "aria-level": row.depth + 1, ...(row.children.length ? { "aria-expanded": String(this.isOpen(row)) } : {}) }),
			sorted: (order) => change({ treesort: order }, true),
		});
	}

	nameCell(row) {
		const inner = row.children.length > 0;
		const twist = make("button", { class: "twist", tabindex: "-1", disabled: !inner, "aria-hidden": inner ? undefined : "true",
			"aria-label": this.isOpen(row) ? "Close" : "Open", onclick: (event) => { event.stopPropagation(); this.fold(row); } },
			inner ? (this.isOpen(row) ? "\u25be" : "\u25b8") : "");
		const indent = make("span");
		indent.style.paddingLeft = `${Math.min(row.depth, 60) * 14}px`;
		if (row.kind !== BOX.function) return [indent, twist, make("span", { class: "name" }, nodeName(row.kind, row.id))];
		return [indent, twist, ...nameCell(fn(row.id))];
	}

	choose(row) {
		this.marked = row.key;
		if (row.kind === BOX.function) change({ function: row.id, at: "", thread: "" }, true);
	}

	/** What the reader opened or closed; else what is heavy, and what leads to hits. */
	isOpen(row) {
		return this.folds.get(row.key) ?? (row.total / Math.max(this.answer.samples, 1) >= OPEN_AT || row.leads);
	}

	fold(row, open = !this.isOpen(row)) {
		if (!row.children.length) return;
		this.folds.set(row.key, open);
		this.shown();
	}

	/** The rows in sight: siblings in order, without what is below closed ones. */
	visible() {
		for (const row of [...this.all].reverse())
			row.leads = row.children.some((child) => child.leads || (child.kind === BOX.function && isHit(child.id)));
		const rows = [], compare = comparison(this.table.columns, state.treesort);
		const walk = (list) => {
			for (const row of compare ? [...list].sort(compare) : list) {
				rows.push(row);
				if (this.isOpen(row)) walk(row.children);
			}
		};
		walk(this.all.filter((row) => !row.parent));
		return rows;
	}

	options() {
		return [toggle("split", "By thread", "Threads apart (t)"), toggle("inverted", "Inverted", "What time is spent in, by who called it (i)"),
			make("button", { onclick: () => this.foldAll(true) }, "Open all"),
			make("button", { onclick: () => this.foldAll(false) }, "Close all"),
			make("button", { title: "Copy the stack of the chosen row (c)", onclick: () => this.copy() }, "Copy stack"),
			make("span", { class: "note" }, this.note ?? "")];
	}

	foldAll(open) {
		for (const row of this.all) this.folds.set(row.key, open || row.depth === 0);
		this.shown();
	}

	async update() {
		const { mine, inverted, split } = state;
		const answer = learn(await ask("flame", { ...filter(), mine, inverted, split, parts: PARTS, sure: 1 }));
		this.answer = answer;
		this.note = answer.boxes.left_out ? `${count(answer.boxes.left_out)} branches below ${percent(1 / PARTS)} are left out` : "";
		this.all = rowsOf(answer.boxes);
		if (!this.all.some((row) => row.key === this.marked)) this.marked = "";
		return [answer.samples ? this.table.element : emptyNote(...NOTHING)];
	}

	/** The row at hand, or the heaviest of a function that was chosen elsewhere. */
	mark() {
		const fits = (row) => row.kind === BOX.function && String(row.id) === state.function;
		if (state.function === "" || this.all.some((row) => row.key === this.marked && fits(row))) return;
		this.marked = this.all.filter(fits).sort((a, b) => b.total - a.total)[0]?.key ?? "";
	}

	shown() {
		this.mark();
		this.table.order = state.treesort;
		this.table.show(this.visible());
	}

	redraw() { this.shown(); }
	find(step) { this.table.find(step, (row) => row.kind === BOX.function && isHit(row.id)); }

	copy() {
		const lines = [];
		for (let row = this.all.find((r) => r.key === this.marked); row; row = row.parent)
			if (row.kind === BOX.function) lines.push(spelled(fn(row.id)));
		copyText((state.inverted ? lines.reverse() : lines).join("\n"));
	}

	keys() { return {}; }
}

/** Boxes as rows that know their callers and callees. */
function rowsOf(boxes) {
	const parents = parentsOf(boxes.depth), rows = [];
	boxes.depth.forEach((depth, i) => {
		const parent = parents[i] < 0 ? null : rows[parents[i]];
		const row = { key: `${parent ? parent.key : ""}/${boxes.kind[i]}.${boxes.id[i]}`, parent, children: [], leads: false, depth,
			kind: boxes.kind[i], id: boxes.id[i], total: boxes.total[i], self: boxes.self[i],
			totalSure: boxes.total_sure[i], selfSure: boxes.self_sure[i] };
		parent?.children.push(row);
		rows.push(row);
	});
	return rows;
}
