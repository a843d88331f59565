// Files with the heat of each line beside their text.
import { ask } from "./ask.js";
import { change, filter, state } from "./state.js";
import { fn, learn } from "./names.js";
import { missed } from "./search.js";
import { Table } from "./table.js";
import { emptyNote, make, percent } from "./text.js";

export class SourceView {
	constructor() {
		this.answer = { samples: 0 };
		const share = (n) => n / Math.max(this.answer.samples, 1);
		this.files = new Table("Files", [
			{ key: "flat", title: "Self", number: true, width: "74px", by: (row) => row.flat, cell: (row) => percent(share(row.flat)), bar: (row) => share(row.flat) },
			{ key: "path", title: "File", by: (row) => row.path, cell: (row) => make("span", { title: row.file }, row.path) },
		], {
			choose: (row) => change({ source: row.file }),
			chosen: (row) => row.file === this.file,
		});
		this.files.sortKey = "flat";
		this.code = make("div", { class: "scroll text", tabindex: "0" });
	}

	options() {
		return [make("span", { class: "note" }, this.file ?? "")];
	}

	async update() {
		const list = await ask("files", filter());
		this.answer = list;
		this.rows = list.files.map(([file, path, flat, cum, text]) => ({ file, path, flat, cum, text }));
		if (!this.rows.length) return [emptyNote("No lines here", "No sample that passes these filters has a line of a file.")];
		const wanted = this.rows.find((row) => row.file === state.source) ?? this.rows.find((row) => row.text) ?? this.rows[0];
		this.file = state.source || wanted.file;
		this.lines = learn(await ask("source", { ...filter(), path: this.file }));
		this.files.element.classList.add("files");
		return [make("div", { class: "split" }, this.files.element, this.code)];
	}

	shown() {
		if (!this.code.isConnected) return;
		this.files.show(this.rows);
		this.code.replaceChildren(this.lines.text === null ? this.bare() : this.text());
		this.code.querySelector("[data-hot]")?.scrollIntoView({ block: "center" });
	}

	line(number, hit, text, hottest) {
		const all = Math.max(this.lines.samples, 1);
		const cell = (n) => {
			const td = make("td", { class: "number" }, n ? percent(n / all) : "");
			td.style.setProperty("--bar", `${(n / Math.max(hottest, 1) * 100).toFixed(1)}%`);
			return td;
		};
		return make("tr", { class: hit && missed(hit[5]) ? "dim" : "", ...(hit && hit[1] === hottest && hottest ? { "data-hot": "1" } : {}), title: hit ? fn(hit[5]).name : undefined },
			cell(hit ? hit[1] : 0), cell(hit ? hit[2] : 0),
			make("td", { class: "line" }, String(number)), make("td", {}, text));
	}

	table(rows) {
		const head = (title, width) => {
			const th = make("th", { scope: "col", class: "number" }, title);
			th.style.width = width;
			return th;
		};
		return make("table", { class: "code", "aria-label": "Lines" },
			make("thead", {}, make("tr", {}, head("Self", "70px"), head("Total", "70px"), head("Line", "56px"), make("th", { scope: "col" }, "Code"))),
			make("tbody", {}, ...rows));
	}

	text() {
		const hits = new Map(this.lines.lines.map((line) => [line[0], line]));
		const hottest = Math.max(0, ...this.lines.lines.map((line) => line[1]));
		const text = this.lines.text.replace(/\n$/, "").split("\n");
		return this.table(text.map((line, i) => this.line(i + 1, hits.get(i + 1), line, hottest)));
	}

	/** Without its text a file is still its lines and their numbers. */
	bare() {
		if (!this.lines.lines.length) return emptyNote("No source", "The recording has neither lines nor text of this file.");
		const hottest = Math.max(0, ...this.lines.lines.map((line) => line[1]));
		return make("div", {}, emptyNote("No source text", "The recording does not carry the text of this file; these are its lines with samples."),
			this.table(this.lines.lines.map((line) => this.line(line[0], line, `in ${fn(line[5]).name}`, hottest))));
	}

	redraw() { this.shown(); }
	keys() { return {}; }
}
