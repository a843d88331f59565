// Views that are tables: functions by time, the call tree.
import { ask } from "./ask.js";
import { change, filter, state } from "./state.js";
import { fn, learn, place } from "./names.js";
import { isHit, missed } from "./search.js";
import { Table } from "./table.js";
import { count, emptyNote, make, percent, seconds } from "./text.js";
import { nodeName, parentsOf } from "./flame.js";

function rowStyle(id) {
	return isHit(id) ? "hit" : missed(id) ? "dim" : "";
}

function interval(low, high) {
	return `\u00b1${((high - low) / 2e4).toFixed(1)}`;
}

function nameCell(f) {
	return [make("span", { class: "name", title: f.file }, f.name), " ", make("small", {}, place(f))];
}

export class TopView {
	constructor() {
		const share = (samples) => samples / Math.max(this.answer.samples, 1);
		const column = (key, title) => [
			{ key, title, number: true, width: "84px", by: (row) => row[key], cell: (row) => percent(share(row[key])), bar: (row) => share(row[key]) },
			{ key: `${key}Sure`, title: "\u00b1 95%", number: true, width: "66px", class: "wide", cell: (row) => interval(row[`${key}Low`], row[`${key}High`]) },
			{ key: `${key}Time`, title: "time", number: true, width: "84px", class: "wide", cell: (row) => seconds(row[key] * this.answer.second) },
		];
		this.answer = { samples: 0, second: 0 };
		this.table = new Table("Functions by time", [
			...column("self", "Self"), ...column("total", "Total"),
			{ key: "name", title: "Function", by: (row) => fn(row.id).name.toLowerCase(), cell: (row) => nameCell(fn(row.id)) },
			{ key: "package", title: "Package", width: "120px", class: "wide", by: (row) => fn(row.id).package, cell: (row) => fn(row.id).package },
		], {
			choose: (row) => change({ function: row.id, at: "", thread: "" }, true),
			open: (row) => change({ function: row.id, view: "sandwich" }),
			style: (row) => rowStyle(row.id),
			chosen: (row) => String(row.id) === state.function,
			sorted: (key) => change({ sort: key }, true),
		});
	}

	options() {
		return [make("span", { class: "note" }, "Self: time in the function itself. Total: with all that it calls. \u00b1: how far the share may be off, 95% of the time.")];
	}

	async update() {
		this.answer = learn(await ask("top", { ...filter(), mine: state.mine }));
		this.rows = this.answer.rows.map(([id, self, total, selfLow, selfHigh, totalLow, totalHigh]) =>
			({ id, self, total, selfLow, selfHigh, totalLow, totalHigh }));
		if (!this.rows.length) return [emptyNote("No samples here", "Nothing passes these filters. Esc takes them away.")];
		return [this.table.element];
	}

	shown() {
		if (this.table.sortKey !== state.sort) {
			this.table.sortKey = state.sort;
			this.table.ascending = !["self", "total"].includes(state.sort);
		}
		this.table.show(this.rows);
	}

	redraw() { this.table.redraw(); }
	keys() { return {}; }
}

const OPEN_AT = 0.02; // share from which branches are open at first
const PARTS = 1000;

export class TreeView {
	constructor() {
		const share = (n) => n / Math.max(this.answer.samples, 1);
		this.answer = { samples: 0, second: 0 };
		this.folds = new Map();
		this.table = new Table("Call tree", [
			{ key: "total", title: "Total", number: true, width: "84px", cell: (row) => percent(share(row.total)), bar: (row) => share(row.total) },
			{ key: "self", title: "Self", number: true, width: "84px", cell: (row) => percent(share(row.self)), bar: (row) => share(row.self) },
			{ key: "time", title: "time", number: true, width: "84px", class: "wide", cell: (row) => seconds(row.total * this.answer.second) },
			{ key: "name", title: "Function", cell: (row) => this.nameCell(row) },
		], {
			choose: (row) => { if (row.kind === 1) change({ function: row.id, at: "", thread: "" }, true); },
			open: (row) => this.fold(row),
			toggle: (row, open) => this.fold(row, open),
			style: (row) => (row.kind === 1 ? rowStyle(row.id) : ""),
			chosen: (row) => row.kind === 1 && String(row.id) === state.function && this.table.rows[this.table.cursor] === row,
			level: (row) => ({ "aria-level": row.depth + 1, ...(row.children ? { "aria-expanded": String(this.isOpen(row)) } : {}) }),
		});
	}

	nameCell(row) {
		const twist = make("button", { class: "twist", tabindex: "-1", "aria-label": this.isOpen(row) ? "Close" : "Open",
			onclick: (event) => { event.stopPropagation(); this.fold(row); } },
			row.children ? (this.isOpen(row) ? "\u25be" : "\u25b8") : "");
		const indent = make("span");
		indent.style.paddingLeft = `${Math.min(row.depth, 60) * 14}px`;
		if (row.kind !== 1) return [indent, twist, nodeName(row.kind, row.id)];
		return [indent, twist, ...nameCell(fn(row.id))];
	}

	isOpen(row) {
		return this.folds.get(row.key) ?? row.total / Math.max(this.answer.samples, 1) >= OPEN_AT;
	}

	fold(row, open = !this.isOpen(row)) {
		if (!row.children) return;
		this.folds.set(row.key, open);
		this.table.show(this.visible());
	}

	visible() {
		const rows = [];
		let hiddenBelow = Infinity;
		for (const row of this.all) {
			if (row.depth > hiddenBelow) continue;
			hiddenBelow = Infinity;
			rows.push(row);
			if (!this.isOpen(row)) hiddenBelow = row.depth;
		}
		return rows;
	}

	options() {
		const press = (name, label) => make("button", { "aria-pressed": String(state[name] !== ""),
			onclick: () => change({ [name]: state[name] === "" ? "1" : "" }) }, label);
		return [press("split", "By thread"), press("inverted", "Inverted"),
			make("button", { onclick: () => this.foldAll(true) }, "Open all"),
			make("button", { onclick: () => this.foldAll(false) }, "Close all"),
			make("span", { class: "note" }, this.note ?? "")];
	}

	foldAll(open) {
		for (const row of this.all) this.folds.set(row.key, open || row.depth === 0);
		this.table.show(this.visible());
	}

	async update() {
		const { mine, inverted, split } = state;
		const answer = learn(await ask("flame", { ...filter(), mine, inverted, split, parts: PARTS }));
		const { boxes } = answer, parents = parentsOf(boxes.depth), keys = [];
		this.answer = answer;
		this.note = boxes.left_out ? `${count(boxes.left_out)} branches below ${percent(1 / PARTS)} are left out` : "";
		this.all = boxes.depth.map((depth, i) => {
			keys[i] = `${parents[i] < 0 ? "" : keys[parents[i]]}/${boxes.kind[i]}.${boxes.id[i]}`;
			const inner = i + 1 < boxes.depth.length && boxes.depth[i + 1] > depth;
			return { key: keys[i], depth, kind: boxes.kind[i], id: boxes.id[i], total: boxes.total[i], self: boxes.self[i], children: inner };
		});
		if (!answer.samples) return [emptyNote("No samples here", "Nothing passes these filters. Esc takes them away.")];
		return [this.table.element];
	}

	shown() { this.table.show(this.visible()); }
	redraw() { this.table.redraw(); }
	keys() { return {}; }
}
