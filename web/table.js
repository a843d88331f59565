// Tables that stay fast with a hundred thousand rows: only those in sight are
// in the page. Real tables, for those who read them by ear.
import { make } from "./text.js";

const HEIGHT = 26; // px of a row, as in style.css
const SPARE = 8; // rows beyond either edge

/**
 * @typedef {object} Column
 * @property {string} key
 * @property {string} title
 * @property {boolean} [number]
 * @property {string} [width]
 * @property {string} [class]
 * @property {(row: any) => (string | Node | (string | Node)[])} cell
 * @property {(row: any) => number} [bar] share of the cell that is filled
 * @property {(row: any) => (number | string)} [by] to sort by
 */

export class Table {
	/**
	 * @param {string} label
	 * @param {Column[]} columns
	 * @param {{choose?: (row: any) => void, open?: (row: any) => void, style?: (row: any) => string, level?: (row: any) => Record<string, any>, toggle?: (row: any, open: boolean) => void, chosen?: (row: any) => boolean, sorted?: (key: string) => void}} acts
	 */
	constructor(label, columns, acts) {
		this.columns = columns;
		this.acts = acts;
		this.rows = [];
		this.sortKey = "";
		this.ascending = false;
		this.cursor = -1;
		this.drawn = ""; // which rows are in the page
		this.body = make("tbody");
		this.heads = columns.map((column) => this.head(column));
		this.table = make("table", { role: acts.level ? "treegrid" : "grid", "aria-label": label },
			make("thead", {}, make("tr", {}, ...this.heads)), this.body);
		this.element = make("div", { class: "scroll", tabindex: "0" }, this.table);
		this.element.addEventListener("scroll", () => this.draw());
		this.element.addEventListener("keydown", (event) => this.key(event));
		new ResizeObserver(() => this.draw()).observe(this.element);
	}

	head(column) {
		const title = column.by
			? make("button", { onclick: () => this.sort(column.key) }, column.title) : column.title;
		return make("th", { scope: "col", class: `${column.number ? "number " : ""}${column.class ?? ""}`,
			"data-key": column.key, "data-width": column.width }, title);
	}

	sort(key, ascending) {
		const column = this.columns.find((c) => c.key === key);
		if (!column?.by) return;
		this.ascending = ascending ?? (this.sortKey === key ? !this.ascending : !column.number);
		this.sortKey = key;
		this.acts.sorted?.(key);
		this.show(this.rows);
	}

	arrange() {
		const column = this.columns.find((c) => c.key === this.sortKey);
		this.heads.forEach((head, i) => {
			if (this.columns[i].width) head.style.width = this.columns[i].width;
			if (this.columns[i] !== column) head.removeAttribute("aria-sort");
			else head.setAttribute("aria-sort", this.ascending ? "ascending" : "descending");
		});
		if (!column) return;
		const sign = this.ascending ? 1 : -1;
		this.rows.sort((a, b) => {
			const x = column.by(a), y = column.by(b);
			return x < y ? -sign : x > y ? sign : 0;
		});
	}

	show(rows) {
		this.rows = rows;
		this.arrange();
		this.table.setAttribute("aria-rowcount", String(rows.length + 1));
		this.drawn = "";
		this.draw();
	}

	draw() {
		const top = this.element.scrollTop, view = this.element.clientHeight || 600;
		const first = Math.max(0, Math.floor(top / HEIGHT) - SPARE);
		const end = Math.min(this.rows.length, Math.ceil((top + view) / HEIGHT) + SPARE);
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
		cell.style.height = `${rows * HEIGHT}px`;
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
		return make("tr", { class: this.acts.style?.(row) ?? "", "aria-rowindex": i + 2,
			"aria-selected": chosen ? "true" : "false", ...this.acts.level?.(row),
			onclick: () => this.choose(i), ondblclick: () => this.acts.open?.(row) }, ...cells);
	}

	choose(i) {
		this.cursor = i;
		this.acts.choose?.(this.rows[i]);
		this.redraw();
	}

	reveal(i) {
		const view = this.element.clientHeight, top = i * HEIGHT;
		if (top < this.element.scrollTop) this.element.scrollTop = top;
		if (top + 2 * HEIGHT > this.element.scrollTop + view) this.element.scrollTop = top + 2 * HEIGHT - view;
	}

	key(event) {
		if (event.ctrlKey || event.metaKey || event.altKey) return;
		const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20, Home: -1e9, End: 1e9 };
		const row = this.rows[this.cursor];
		if (event.key in steps && this.rows.length) {
			const next = Math.max(0, Math.min(this.rows.length - 1, this.cursor + steps[event.key]));
			this.reveal(next);
			this.choose(next);
		} else if (event.key === "Enter" && row) {
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
