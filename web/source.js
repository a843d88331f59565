// Files with the heat of each line beside their text.
import { ask } from "./ask.js";
import { change, filter, state } from "./state.js";
import { fn, learn } from "./names.js";
import { missed } from "./search.js";
import { Table } from "./table.js";
import { copyText, emptyNote, make, percent } from "./text.js";

const LINE = 18; // px, as in style.css
const TAB = 4; // columns, as in style.css

export class SourceView {
	constructor() {
		this.answer = { samples: 0 };
		this.hottest = 1;
		const share = (n) => n / Math.max(this.answer.samples, 1);
		this.files = new Table("Files", [
			{ key: "flat", title: "Self", number: true, width: "74px", by: (row) => row.flat, cell: (row) => percent(share(row.flat)), bar: (row) => share(row.flat) },
			{ key: "path", title: "File", by: (row) => row.path, cell: (row) => make("span", { class: "name", title: row.file }, row.path || row.file) },
		], {
			choose: (row) => change({ source: row.file }),
			chosen: (row) => row.file === this.file,
			style: (row) => (state.q === "" ? "" : row.hit ? "hit" : "dim"),
		});
		this.files.order = "flat";
		const heat = (key, title) => ({ key, title, number: true, width: "72px", cell: (row) => (row[key] ? percent(share(row[key])) : ""), bar: (row) => row[key] / this.hottest });
		this.code = new Table("Lines", [heat("self", "Self"), heat("total", "Total"),
			{ key: "number", title: "Line", number: true, width: "60px", class: "line", cell: (row) => String(row.number) },
			{ key: "text", title: "Code", cell: (row) => row.text }], {
			choose: (row) => this.choose(row),
			open: (row) => { if (row.function >= 0) change({ function: row.function, view: "sandwich" }); },
			style: (row) => `${row.function >= 0 && missed(row.function) ? "dim" : ""}${row.function >= 0 && String(row.function) === state.function ? " own" : ""}`,
		}, LINE);
		this.code.table.classList.add("code");
		this.code.element.classList.add("text");
	}

	choose(row) {
		if (row.function >= 0) change({ function: row.function, at: "", thread: "" }, true);
	}

	options() {
		if (!this.file) return [];
		const bare = this.lines.text === null && this.lines.lines.length;
		return [make("span", { class: "note path", title: this.file }, this.file),
			...(bare ? [make("span", { class: "note" }, "The recording does not carry the text of this file: only the lines with samples are here.")] : [])];
	}

	async update() {
		this.answer = await ask("files", { ...filter(), mine: state.mine, q: state.q });
		this.rows = this.answer.files.map(([file, path, flat, cum, text, hit]) => ({ file, path, flat, cum, text, hit }));
		this.file = "";
		if (!this.rows.length) return [emptyNote("No lines here", "No sample that passes these filters has a line of a file. Esc takes them away.")];
		const file = this.wanted();
		this.lines = learn(await ask("source", { ...filter(), path: file }));
		this.file = file;
		this.files.element.classList.add("files");
		return [make("div", { class: "split" }, this.files.element, this.content())];
	}

	/** The file that was asked for, that of the chosen function, or the hottest with text. */
	wanted() {
		const chosen = state.function === "" ? "" : fn(Number(state.function)).file;
		return state.source || this.rows.find((row) => row.file === chosen)?.file
			|| (this.rows.find((row) => row.text) ?? this.rows[0]).file;
	}

	content() {
		const { text, lines } = this.lines;
		this.hottest = Math.max(1, ...lines.map((line) => line[1]));
		const known = new Map(lines.map((line) => [line[0], line]));
		const row = (number, code) => {
			const [, self, total, , , id] = known.get(number) ?? [0, 0, 0, 0, 0, -1];
			return { number, self, total, function: id, text: code };
		};
		if (text !== null) this.codeRows = text.replace(/\r?\n$/, "").split(/\r?\n/).map((code, i) => row(i + 1, code));
		else this.codeRows = lines.map((line) => row(line[0], `in ${fn(line[5]).name}`));
		if (!this.codeRows.length) return emptyNote("No source", "The recording has neither lines nor text of this file.");
		const longest = Math.max(...this.codeRows.map(({ text: code }) => code.length + (code.split("\t").length - 1) * (TAB - 1)));
		this.code.table.style.width = `max(100%, calc(230px + ${longest}ch))`;
		return this.code.element;
	}

	shown() {
		if (!this.files.element.isConnected) return;
		this.files.show(this.rows);
		if (!this.code.element.isConnected) return;
		this.code.cursor = -1;
		this.code.show(this.codeRows);
		const from = this.codeRows.filter((row) => String(row.function) === state.function);
		const hot = (from.length ? from : this.codeRows).reduce((a, b) => (b.self > a.self ? b : a));
		this.code.reveal(this.codeRows.indexOf(hot), true);
	}

	redraw() { this.files.redraw(); this.code.redraw(); }

	/** From one line with a searched function to the next; without search, with samples. */
	find(step) {
		this.code.find(step, (row) => row.function >= 0 && !missed(row.function));
	}

	copy() {
		const row = this.code.rows[this.code.cursor];
		copyText(row ? `${this.file}:${row.number}${row.function >= 0 ? ` in ${fn(row.function).name}` : ""}` : this.file);
	}

	keys() { return {}; }
}
