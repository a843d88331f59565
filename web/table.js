// Tables that stay fast with a hundred thousand rows: only those in sight are
// in the page. Real tables, for those who read them by ear.
import { make, say } from "./text.js";

const SPARE = 8; // rows beyond either edge

/**
 * @typedef {object} Column
 * @property {string} key
 * @property {string} title
 * @property {string} [help] what the title means
 * @property {boolean} [number]
 * @property {string} [width]
 * @property {string} [class]
 * @property {(row: any) => (string | Node | (string | Node)[])} cell
 * @property {(row: any) => number} [bar] share of the cell that is filled
 * @property {(row: any) => (number | string)} [by] to sort by
 */

/**
 * What a table does besides showing its rows: `choose` and `open` a row, tell
 * which are `chosen` and their `style`; in a tree the `level` of a row and how
 * to `toggle` it; `sorted` hears of another order, "key" or "+key".
 * @typedef {object} Acts
 * @property {(row: any) => void} [choose]
 * @property {(row: any) => void} [open]
 * @property {(row: any) => string} [style]
 * @property {(row: any) => boolean} [chosen]
 * @property {(order: string) => void} [sorted]
 * @property {(row: any) => Record<string, any>} [level]
 * @property {(row: any, open: boolean) => void} [toggle]
 */

/** Compare by a column, down unless the order begins with "+". */
export function comparison(columns, order) {
	const column = columns.find((c) => c.key === order.replace("+", ""));
	if (!column?.by) return null;
	const sign = order.startsWith("+") ? 1 : -1;
	return (a, b) => {
		const x = column.by(a), y = column.by(b);
		return x < y ? -sign : x > y ? sign : 0;
	};
}

export class Table {
	/**
	 * @param {string} label
	 * @param {Column[]} columns
	 * @param {Acts} acts
	 * @param {number} height px of a row, as in style.css
	 */
	constructor(label, columns, acts, height = 26) {
		this.columns = columns;
		this.acts = acts;
		this.height = height;
		this.rows = [];
		this.order = "";
		this.cursor = -1;
		this.drawn = ""; // which rows are in the page
		this.body = make("tbody");
		this.heads = columns.map((column) => this.head(column));
		this.table = make("table", { role: acts.level ? "treegrid" : "grid", "aria-label": label },
			make("thead", {}, make("tr", {}, ...this.heads)), this.body);
		this.element = make("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": `${label}; arrow keys move, Enter opens` }, this.table);
		this.element.addEventListener("scroll", () => this.draw());
		this.element.addEventListener("keydown", (event) => this.key(event));
		new ResizeObserver(() => this.draw()).observe(this.element);
	}

	head(column) {
		const title = column.by
			? make("button", { onclick: () => this.sort(column) }, column.title) : column.title;
		const th = make("th", { scope: "col", class: `${column.number ? "number " : ""}${column.class ?? ""}`,
			title: column.help }, title);
		if (column.width) th.style.width = column.width;
		return th;
	}

	/** Another order, or the same the other way round. */
	sort(column) {
		const first = column.number ? column.key : `+${column.key}`;
		const other = column.number ? `+${column.key}` : column.key;
		this.order = this.order === first ? other : first;
		this.acts.sorted?.(this.order);
		this.show(this.rows);
	}

	/** A tree comes in the order in which it is shown. */
	arrange() {
		const key = this.order.replace("+", ""), compare = comparison(this.columns, this.order);
		this.heads.forEach((head, i) => {
			if (this.columns[i].key !== key || !compare) head.removeAttribute("aria-sort");
			else head.setAttribute("aria-sort", this.order.startsWith("+") ? "ascending" : "descending");
		});
		if (compare && !this.acts.level) this.rows.sort(compare);
	}

	show(rows) {
		this.rows = rows;
		this.arrange();
		this.cursor = this.acts.chosen ? this.rows.findIndex(this.acts.chosen) : Math.min(this.cursor, rows.length - 1);
		this.table.setAttribute("aria-rowcount", String(rows.length + 1));
		this.redraw();
	}

	draw() {
		const top = this.element.scrollTop, view = this.element.clientHeight || 600;
		const first = Math.max(0, Math.floor(top / this.height) - SPARE);
		const end = Math.min(this.rows.length, Math.ceil((top + view) / this.height) + SPARE);
		const key = `${first}-${end}`;
		if (this.drawn === key) return;
		this.drawn = key;
		const before = this.pad(first), after = this.pad(this.rows.length - end);
		const shown = [];
		for (let i = first; i < end; i++) shown.push(this.row(i));
		this.body.replaceChildren(...(first ? [before] : []), ...shown, ...(end < this.rows.length ? [after] : []));
	}

	/** Room for rows that are not in sight. */
	pad(rows) {
		const cell = make("td"); // one: a span would make columns that are hidden
		cell.style.height = `${rows * this.height}px`;
		return make("tr", { "aria-hidden": "true" }, cell);
	}

	redraw() {
		this.drawn = "";
		this.draw();
	}

	row(i) {
		const row = this.rows[i];
		const chosen = this.acts.chosen ? this.acts.chosen(row) : i === this.cursor;
		const cells = this.columns.map((column) => {
			const content = column.cell(row);
			const cell = make("td", { class: `${column.number ? "number " : ""}${column.class ?? ""}` },
				...(Array.isArray(content) ? content : [content]));
			if (column.bar) cell.style.setProperty("--bar", `${Math.min(100, column.bar(row) * 100).toFixed(1)}%`);
			return cell;
		});
		return make("tr", { class: `${this.acts.style?.(row) ?? ""}${i === this.cursor ? " cursor" : ""}`, "aria-rowindex": i + 2,
			"aria-selected": chosen ? "true" : "false", ...this.acts.level?.(row),
			onclick: () => this.choose(i), ondblclick: () => this.acts.open?.(row) }, ...cells);
	}

	choose(i) {
		this.cursor = i;
		this.acts.choose?.(this.rows[i]);
		this.redraw();
		const told = this.columns.map((column, at) => {
			const text = this.body.querySelector(`[aria-rowindex="${i + 2}"]`)?.children[at]?.textContent;
			return text ? `${column.title} ${text}` : "";
		});
		say(told.filter((text) => text).join(", "));
	}

	reveal(i, middle = false) {
		const view = this.element.clientHeight, top = i * this.height;
		if (middle) this.element.scrollTop = top - view / 2 + this.height;
		if (top < this.element.scrollTop) this.element.scrollTop = top;
		if (top + 2 * this.height > this.element.scrollTop + view) this.element.scrollTop = top + 2 * this.height - view;
	}

	goto(i) {
		this.reveal(i);
		this.choose(i);
	}

	/** To the next row that matches, or the one before. */
	find(step, matches) {
		const n = this.rows.length;
		for (let k = 1, at = this.cursor < 0 && step < 0 ? 0 : this.cursor; k <= n; k++) {
			at = (at + step + n) % n;
			if (matches(this.rows[at])) return this.goto(at);
		}
	}

	key(event) {
		if (event.ctrlKey || event.metaKey || event.altKey) return;
		const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20, Home: -1e9, End: 1e9 };
		const row = this.rows[this.cursor];
		if (event.key in steps && this.rows.length) {
			this.goto(Math.max(0, Math.min(this.rows.length - 1, this.cursor + steps[event.key])));
		} else if (event.key === "Enter" && row && event.target === this.element) {
			this.acts.open?.(row);
		} else if ((event.key === "ArrowLeft" || event.key === "ArrowRight") && row && this.acts.toggle) {
			this.acts.toggle(row, event.key === "ArrowRight");
		} else {
			return;
		}
		event.preventDefault();
		event.stopPropagation();
	}
}
