// Boxes on a canvas, by depth and position: what every kind of flame graph is
// drawn with. Knows nothing about profiles.
import { dark, ink } from "./colour.js";
import { make, save, say, showTip } from "./text.js";

const GAP = 1; // px between rows
// What XML cannot hold, however it is written.
const UNFIT = /[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/**
 * @typedef {object} Model
 * @property {number} n
 * @property {ArrayLike<number>} depth
 * @property {ArrayLike<number>} start
 * @property {ArrayLike<number>} width
 * @property {number} extent what is as wide as the canvas
 * @property {number} [inset] px that are left free on the left
 * @property {number} rows
 * @property {ArrayLike<number>} [id]
 * @property {(i: number) => string} name
 * @property {(i: number) => string} [note] for behind the name, where there is room
 * @property {(i: number) => string} fill
 * @property {(i: number) => boolean} [dim]
 * @property {(i: number) => boolean} [hit] was searched for
 * @property {(i: number) => boolean} [chosen]
 * @property {(i: number) => string[]} detail first a title
 */

export class Boxes {
	/**
	 * @param {string} label for screen readers
	 * @param {{choose?: (i: number) => void, open?: (i: number) => void, hover?: (i: number) => void}} acts
	 */
	constructor(label, acts) {
		this.canvas = make("canvas");
		this.spacer = make("div");
		this.element = make("div", { class: "boxes", tabindex: "0", role: "application", "aria-label": label },
			this.canvas, this.spacer);
		this.acts = acts;
		/** @type {Model | null} */
		this.model = null;
		this.rowHeight = matchMedia("(pointer: coarse)").matches ? 24 : 19;
		this.upward = false;
		this.cursor = -1;
		this.hovered = -1;
		this.rowIndex = [];
		this.frame = 0;
		this.listen();
		this.observer = new ResizeObserver(() => this.redraw());
		this.observer.observe(this.element);
	}

	listen() {
		const e = this.element;
		e.addEventListener("scroll", () => this.redraw());
		e.addEventListener("pointermove", (event) => this.hover(this.hit(event), event));
		e.addEventListener("pointerleave", () => this.hover(-1, null));
		e.addEventListener("click", (event) => {
			const i = this.hit(event);
			if (i >= 0) this.choose(i);
		});
		e.addEventListener("dblclick", (event) => {
			const i = this.hit(event);
			if (i >= 0) this.acts.open?.(i);
		});
		e.addEventListener("keydown", (event) => this.key(event));
	}

	/** @param {Model} model */
	show(model, upward = false) {
		this.model = model;
		this.upward = upward;
		this.cursor = this.widestChosen();
		this.hovered = -1;
		/** @type {number[][]} */
		this.rowIndex = Array.from({ length: model.rows }, () => []);
		for (let i = 0; i < model.n; i++) this.rowIndex[model.depth[i]].push(i);
		for (const row of this.rowIndex) row.sort((a, b) => model.start[a] - model.start[b]);
		this.spacer.style.height = "0px";
		const height = model.rows * this.rowHeight + 8;
		this.element.scrollTop = 0;
		this.layout(height);
		if (upward) this.element.scrollTop = height;
		this.redraw();
	}

	/** The box that is meant when a function was chosen elsewhere, or -1. */
	widestChosen() {
		const model = this.model;
		let widest = -1;
		for (let i = 0; i < model.n; i++)
			if (model.chosen?.(i) && (widest < 0 || model.width[i] > model.width[widest])) widest = i;
		return widest;
	}

	layout(height) {
		const view = this.element.clientHeight;
		this.spacer.style.height = `${Math.max(0, height - view)}px`;
	}

	redraw() {
		if (!this.frame) this.frame = requestAnimationFrame(() => {
			this.frame = 0;
			this.draw();
		});
	}

	total() {
		return this.model ? this.model.rows * this.rowHeight + 8 : 0;
	}

	/** The canvas's top edge of a row, before scrolling. */
	rowTop(depth) {
		if (!this.upward) return depth * this.rowHeight + 4;
		const floor = Math.max(this.total(), this.element.clientHeight);
		return floor - (depth + 1) * this.rowHeight - 4;
	}

	draw() {
		const model = this.model;
		const width = this.element.clientWidth, height = this.element.clientHeight;
		if (!model || !width || !height) return;
		const ratio = devicePixelRatio || 1;
		if (this.canvas.width !== Math.round(width * ratio) || this.canvas.height !== Math.round(height * ratio)) {
			this.canvas.width = Math.round(width * ratio);
			this.canvas.height = Math.round(height * ratio);
			this.canvas.style.width = `${width}px`;
			this.canvas.style.height = `${height}px`;
			this.layout(this.total());
		}
		const context = this.canvas.getContext("2d");
		context.setTransform(ratio, 0, 0, ratio, 0, 0);
		context.clearRect(0, 0, width, height);
		this.paint(context, width, height, this.element.scrollTop);
	}

	/** @param {CanvasRenderingContext2D} context */
	paint(context, width, height, top) {
		const model = this.model, inset = model.inset ?? 0;
		const scale = (width - inset) / model.extent, h = this.rowHeight - GAP;
		context.font = `${Math.round(this.rowHeight * 0.63)}px system-ui, sans-serif`;
		context.textBaseline = "middle";
		const letter = context.measureText("abcdefghij").width / 10;
		const text = ink("ink"), mark = ink("accent");
		for (let row = 0; row < model.rows; row++) {
			const y = this.rowTop(row) - top;
			if (y + h < 0 || y > height) continue;
			for (const i of this.rowIndex[row]) {
				const x = inset + model.start[i] * scale, w = model.width[i] * scale;
				const dim = model.dim?.(i) ?? false;
				context.globalAlpha = dim ? 0.28 : 1;
				context.fillStyle = model.fill(i);
				context.fillRect(x, y, Math.max(w - (w > 3 ? 0.75 : 0), 0.6), h);
				if (w > 3 * letter) this.label(context, i, x, y + h / 2, w, letter, text);
				context.globalAlpha = 1;
				if (i === this.cursor || i === this.hovered || model.chosen?.(i)) {
					const chosen = i === this.cursor || model.chosen?.(i);
					context.strokeStyle = chosen ? mark : text;
					context.lineWidth = chosen ? 2 : 1;
					context.strokeRect(x + 1, y + 1, Math.max(w - 2.5, 1), h - 2);
				}
			}
		}
	}

	label(context, i, x, y, width, letter, colour) {
		const left = Math.max(x, 0) + 4, room = x + width - left - 4, name = this.model.name(i);
		const letters = Math.floor(room / letter);
		if (letters < 2) return;
		context.fillStyle = colour;
		let shown = name;
		if (name.length > letters * 0.8 && context.measureText(name).width > room) {
			shown = name.slice(0, letters - 1) + "\u2026";
			while (shown.length > 2 && context.measureText(shown).width > room)
				shown = shown.slice(0, -2) + "\u2026";
		}
		context.fillText(shown, left, y);
		const note = shown === name ? this.model.note?.(i) : "";
		if (!note) return;
		const at = left + context.measureText(name).width + letter;
		if (at + context.measureText(note).width > left + room) return;
		context.globalAlpha *= 0.55;
		context.fillText(note, at, y);
	}

	/** The box under the pointer, or -1. */
	hit(event) {
		const model = this.model;
		if (!model) return -1;
		const area = this.element.getBoundingClientRect();
		const inset = model.inset ?? 0;
		const x = (event.clientX - area.left - inset) / (this.element.clientWidth - inset) * model.extent;
		const y = event.clientY - area.top + this.element.scrollTop;
		const row = this.upward
			? Math.floor((this.rowTop(0) + this.rowHeight - y) / this.rowHeight)
			: Math.floor((y - 4) / this.rowHeight);
		return this.find(this.rowIndex[row] ?? [], x);
	}

	find(row, x) {
		let low = 0, high = row.length;
		while (low < high) {
			const middle = (low + high) >> 1;
			if (this.model.start[row[middle]] <= x) low = middle + 1;
			else high = middle;
		}
		const i = low ? row[low - 1] : -1;
		return i >= 0 && x < this.model.start[i] + this.model.width[i] ? i : -1;
	}

	hover(i, event) {
		if (i !== this.hovered) {
			this.hovered = i;
			this.redraw();
			this.acts.hover?.(i);
		}
		const [title, ...lines] = i < 0 ? [""] : this.model.detail(i);
		showTip(event, title, lines);
	}

	choose(i) {
		this.cursor = i;
		this.reveal(i);
		this.redraw();
		say(this.model.detail(i).join(", "));
		this.acts.choose?.(i);
	}

	/** To the next box that was searched for, or the one before. */
	findHit(step) {
		const hits = this.rowIndex.flat().filter((i) => this.model.hit?.(i));
		if (!hits.length) return;
		const at = hits.indexOf(this.cursor);
		this.choose(hits[at < 0 ? (step > 0 ? 0 : hits.length - 1) : (at + step + hits.length) % hits.length]);
	}

	reveal(i) {
		const top = this.rowTop(this.model.depth[i]), view = this.element.clientHeight;
		if (top < this.element.scrollTop) this.element.scrollTop = top - 8;
		if (top + this.rowHeight > this.element.scrollTop + view)
			this.element.scrollTop = top + this.rowHeight - view + 8;
	}

	middle(i) {
		return this.model.start[i] + this.model.width[i] / 2;
	}

	/** The neighbour of the cursor in a direction. */
	neighbour(key) {
		const model = this.model, i = this.cursor;
		if (i < 0) return this.rowIndex[0]?.[0] ?? -1;
		const row = this.rowIndex[model.depth[i]], at = row.indexOf(i);
		const inward = this.upward ? "ArrowUp" : "ArrowDown";
		if (key === "ArrowLeft") return row[at - 1] ?? i;
		if (key === "ArrowRight") return row[at + 1] ?? i;
		if (key === inward) {
			const below = this.rowIndex[model.depth[i] + 1] ?? [];
			return below.find((j) => model.start[j] >= model.start[i]
				&& model.start[j] < model.start[i] + model.width[i]) ?? i;
		}
		return model.depth[i] ? this.find(this.rowIndex[model.depth[i] - 1], this.middle(i)) : i;
	}

	key(event) {
		if (!this.model || event.ctrlKey || event.metaKey || event.altKey) return;
		if (event.key.startsWith("Arrow")) {
			const next = this.neighbour(event.key);
			if (next >= 0) this.choose(next);
		} else if (event.key === "Enter" && this.cursor >= 0) {
			this.acts.open?.(this.cursor);
		} else {
			return;
		}
		event.preventDefault();
		event.stopPropagation();
	}

	/** The whole picture as PNG, however much of it is in sight. */
	savePng(name) {
		const canvas = make("canvas"), width = this.element.clientWidth || 1200;
		canvas.width = width * 2;
		canvas.height = Math.min(this.total(), 8000) * 2;
		const context = canvas.getContext("2d");
		context.scale(2, 2);
		context.fillStyle = ink("paper");
		context.fillRect(0, 0, canvas.width, canvas.height);
		this.paint(context, width, canvas.height / 2, this.upward ? Math.max(0, this.element.clientHeight - this.total()) : 0);
		canvas.toBlob((blob) => save(name, blob));
	}

	/** The same as SVG, made of elements: names are text in it as well. */
	saveSvg(name) {
		const SVG = "http://www.w3.org/2000/svg";
		const width = 1200, model = this.model, scale = width / model.extent;
		const put = (parent, tag, attributes, text) => {
			const element = document.createElementNS(SVG, tag);
			for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
			if (text !== undefined) element.textContent = text.replace(UNFIT, "\ufffd");
			return parent.appendChild(element);
		};
		const height = this.total();
		const svg = document.createElementNS(SVG, "svg");
		for (const [key, value] of Object.entries({ width, height, viewBox: `0 0 ${width} ${height}`,
			"font-family": "system-ui, sans-serif", "font-size": 12 })) svg.setAttribute(key, String(value));
		put(svg, "rect", { width, height, fill: ink("paper") });
		for (let i = 0; i < model.n; i++) {
			const x = model.start[i] * scale, w = model.width[i] * scale;
			const y = this.upward ? height - (model.depth[i] + 1) * this.rowHeight - 4 : model.depth[i] * this.rowHeight + 4;
			if (w < 0.3) continue;
			const group = put(svg, "g", {});
			put(group, "title", {}, model.detail(i).join("\n"));
			put(group, "rect", { x: x.toFixed(2), y, width: Math.max(w - 0.5, 0.3).toFixed(2), height: this.rowHeight - GAP, fill: model.fill(i) });
			const letters = Math.floor((w - 8) / 6.6), label = model.name(i);
			if (letters >= 2) put(group, "text", { x: (x + 4).toFixed(2), y: y + 13, fill: dark() ? "#eee" : "#222" },
				label.length > letters ? label.slice(0, letters - 1) + "\u2026" : label);
		}
		save(name, new Blob([new XMLSerializer().serializeToString(svg)], { type: "image/svg+xml" }));
	}
}
