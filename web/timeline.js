// Every thread on one axis of time. States come in tiles, computed for a width
// of time that is a power of two, and are kept as small pictures, so that
// panning only moves pictures.
import { ask } from "./ask.js";
import { LANE_NAMES, ink, laneColours } from "./colour.js";
import { moment } from "./detail.js";
import { change, state } from "./state.js";
import { info, recording, threadName } from "./names.js";
import { make, notify, say, seconds, showTip } from "./text.js";

const BUCKETS = 512; // of a tile
const TILES = 24; // that are kept, if they are not too large
const PIXELS = 64e6; // in tiles, at most
const TALLEST = 60000; // px that browsers take for a canvas
const STATES = 6; // the last: with the chosen function on the stack
const MARKED = 5;
const WAITING = 1; // of LANE_NAMES
const MARK = 3; // px of a lane, for it
const AXIS = 22; // px
// What is drawn first, at the foot of a lane: GIL, CPU, GC, waiting, off.
const STACK = [2, 3, 0, 1, 4];

/** px for the names of threads. */
export function gutter() {
	return innerWidth < 760 ? 84 : 170;
}

export class Timeline {
	/** @param {HTMLElement} element @param {{moment: (thread: number, at: number) => void}} acts */
	constructor(element, acts) {
		this.element = element;
		this.acts = acts;
		this.canvas = element.querySelector("canvas");
		this.spacer = /** @type {HTMLElement} */ (element.querySelector(".spacer"));
		/** @type {Map<string, {canvas: HTMLCanvasElement | null, lanes: Map<number, string>}>} */
		this.tiles = new Map();
		this.frame = 0;
		this.asking = 0;
		this.drag = null;
		/** Fingers on it, by their ids: where they are. @type {Map<number, number>} */
		this.fingers = new Map();
		this.rows = [];
		this.cursor = -1; // the row that keys act on
		this.listen();
		new ResizeObserver(() => this.resize()).observe(element);
	}

	/** Begin with another recording. */
	reset() {
		this.tiles.clear();
		this.length = Math.max(1, recording().duration);
		this.order();
		this.resize();
	}

	/** Threads by process, the main one first. */
	order() {
		const several = info.processes.length > 1;
		this.rows = [];
		info.processes.forEach((process, p) => {
			const ids = info.threads.map((_, i) => i).filter((i) => info.threads[i].process === p);
			ids.sort((a, b) => Number(info.threads[b].main) - Number(info.threads[a].main) || a - b);
			if (several && ids.length) this.rows.push({ process: p, ids });
			for (const id of ids) this.rows.push({ thread: id });
		});
		const n = Math.max(1, this.rows.length);
		this.rowHeight = n > 40 ? Math.max(1, Math.min(15, Math.floor(TALLEST / n))) : 24;
		this.kept = Math.max(4, Math.min(TILES, Math.floor(PIXELS / (BUCKETS * n * this.rowHeight))));
		this.gutter = gutter();
		this.spacer.style.height = "0";
	}

	resize() {
		const wanted = AXIS + this.rows.length * (this.rowHeight ?? 24) + 4;
		const most = Math.round(innerHeight * 0.3);
		this.element.style.height = `${Math.min(wanted, most)}px`;
		this.spacer.style.height = `${Math.max(0, wanted - Math.min(wanted, most))}px`;
		this.redraw();
	}

	get left() { return state.left === "" ? 0 : Number(state.left); }
	get right() { return state.right === "" ? this.length : Number(state.right); }
	get width() { return Math.max(1, this.element.clientWidth - this.gutter); }

	timeAt(x) {
		return this.left + (x - this.gutter) / this.width * (this.right - this.left);
	}

	xOf(time) {
		return this.gutter + (time - this.left) / (this.right - this.left) * this.width;
	}

	/** Show this window, kept within the recording and above a microsecond. */
	setWindow(left, right) {
		const span = Math.min(Math.max(right - left, 2000), this.length);
		left = Math.max(0, Math.min(left, this.length - span));
		const all = span >= this.length;
		change({ left: all ? "" : Math.round(left), right: all ? "" : Math.round(left + span) }, true);
	}

	zoom(factor, x) {
		const centre = this.timeAt(x ?? this.gutter + this.width / 2);
		this.setWindow(centre - (centre - this.left) * factor, centre + (this.right - centre) * factor);
	}

	pan(share) {
		const by = (this.right - this.left) * share;
		const move = Math.max(-this.left, Math.min(by, this.length - this.right));
		this.setWindow(this.left + move, this.right + move);
	}

	redraw() {
		if (!this.frame) this.frame = requestAnimationFrame(() => {
			this.frame = 0;
			this.draw();
		});
	}

	/** Tiles whose buckets are at least a pixel wide, over the window. */
	wanted() {
		const perPixel = (this.right - this.left) / this.width / (devicePixelRatio || 1);
		const level = Math.max(0, Math.ceil(Math.log2(perPixel)));
		const span = BUCKETS * 2 ** level;
		const list = [];
		for (let i = Math.floor(this.left / span); i * span < this.right; i++)
			list.push({ key: `${level}/${i}/${state.file}/${state.function}/${this.pattern()}`, from: i * span, to: (i + 1) * span });
		return list;
	}

	/** What is marked when no function is chosen: what the search finds. */
	pattern() {
		return state.function === "" ? state.q : "";
	}

	/** One question at a time, so that frames are not held up. */
	async load(tile) {
		if (this.asking || this.tiles.has(tile.key)) return;
		const asked = ++this.asking;
		await new Promise((resolve) => setTimeout(resolve, 0));
		try {
			const answer = await ask("timeline", { file: state.file, from: tile.from, to: tile.to, buckets: BUCKETS, function: state.function, q: this.pattern() });
			this.tiles.set(tile.key, this.render(answer.lanes));
			if (this.tiles.size > this.kept) this.tiles.delete(this.tiles.keys().next().value);
		} catch (error) {
			this.tiles.set(tile.key, { canvas: null, lanes: new Map() });
			notify(error.message);
		}
		if (asked === this.asking) this.asking = 0;
		this.redraw();
	}

	/** A tile as a picture: a pixel for each bucket, all rows. */
	render(lanes) {
		const h = this.rowHeight, canvas = make("canvas");
		canvas.width = BUCKETS;
		canvas.height = Math.max(1, this.rows.length * h);
		const context = canvas.getContext("2d");
		const image = context.createImageData(canvas.width, canvas.height);
		const pixels = new Uint32Array(image.data.buffer);
		const colours = [...laneColours(), ink("ink").slice(0, 7)].map(packed);
		const rowOf = new Map(this.rows.map((row, i) => [row.thread, i]));
		for (const [thread, text] of lanes) {
			const row = rowOf.get(thread);
			const edge = h > 8 ? 2 : 0;
			if (row !== undefined) paintLane(pixels, canvas.width, row * h + edge, h - 2 * edge, text, colours);
		}
		context.putImageData(image, 0, 0);
		return { canvas, lanes: new Map(lanes) };
	}

	draw() {
		const ratio = devicePixelRatio || 1;
		const width = this.element.clientWidth, height = this.element.clientHeight;
		if (!info || !width || !height) return;
		if (this.canvas.width !== Math.round(width * ratio) || this.canvas.height !== Math.round(height * ratio)) {
			this.canvas.width = Math.round(width * ratio);
			this.canvas.height = Math.round(height * ratio);
			this.canvas.style.width = `${width}px`;
			this.canvas.style.height = `${height}px`;
		}
		const context = this.canvas.getContext("2d");
		context.setTransform(ratio, 0, 0, ratio, 0, 0);
		context.fillStyle = ink("paper");
		context.fillRect(0, 0, width, height);
		context.font = "12px system-ui, sans-serif";
		context.textBaseline = "middle";
		this.drawTiles(context);
		this.drawNames(context, height);
		this.drawMarkers(context, height);
		this.drawAxis(context, width);
		this.drawBrush(context, width, height);
		this.drawMoment(context);
	}

	drawTiles(context) {
		context.save();
		context.beginPath();
		context.rect(this.gutter, AXIS, this.width, this.element.clientHeight);
		context.clip();
		context.imageSmoothingEnabled = false;
		const top = AXIS - this.element.scrollTop;
		let missing = null;
		for (const tile of this.wanted()) {
			const kept = this.tiles.get(tile.key);
			if (kept?.canvas) {
				const x = this.xOf(tile.from);
				context.drawImage(kept.canvas, x, top, this.xOf(tile.to) - x, kept.canvas.height);
			} else if (!kept) {
				this.drawCoarser(context, tile, top); // also: for another function
				missing = missing ?? tile;
			}
		}
		context.restore();
		if (missing) this.load(missing);
	}

	/** What is known of a tile from another zoom, until it is there. */
	drawCoarser(context, tile, top) {
		let best = null, bestLevel = Infinity;
		for (const [key, kept] of this.tiles) {
			const [level, index] = key.split("/").map(Number);
			const span = BUCKETS * 2 ** level;
			if (kept.canvas && level < bestLevel && index * span <= tile.from && (index + 1) * span >= tile.to) {
				best = { kept, from: index * span, span };
				bestLevel = level;
			}
		}
		if (!best) return;
		const sx = (tile.from - best.from) / best.span * BUCKETS;
		const sw = Math.max((tile.to - tile.from) / best.span * BUCKETS, 0.01);
		const x = this.xOf(tile.from);
		context.drawImage(best.kept.canvas, sx, 0, sw, best.kept.canvas.height,
			x, top, this.xOf(tile.to) - x, best.kept.canvas.height);
	}

	drawNames(context, height) {
		const chosen = this.chosenThreads();
		context.save();
		context.beginPath();
		context.rect(0, AXIS, this.element.clientWidth, height);
		context.clip();
		this.rows.forEach((row, i) => {
			const y = AXIS + i * this.rowHeight - this.element.scrollTop;
			if (y + this.rowHeight < AXIS || y > height) return;
			const off = row.thread !== undefined && chosen && !chosen.has(row.thread);
			if (off) {
				context.fillStyle = ink("paper");
				context.globalAlpha = 0.7;
				context.fillRect(this.gutter, y, this.width, this.rowHeight);
			}
			context.globalAlpha = off ? 0.5 : 1;
			context.fillStyle = i === this.cursor ? ink("accent") : row.thread === undefined ? ink("soft") : ink("ink");
			if (this.rowHeight < 10 && i !== this.cursor) return; // the pointer tells
			const name = row.thread === undefined ? this.processName(row.process) : (info.threads[row.thread].name || threadName(row.thread));
			context.fillText(cut(context, name, this.gutter - 20), row.thread === undefined ? 8 : 14, y + this.rowHeight / 2);
			context.globalAlpha = 1;
		});
		context.restore();
	}

	processName(p) {
		// Where its interpreter lies tells least.
		return `${info.processes[p].pid}  ${info.processes[p].command.replace(/^\S*\//, "")}`;
	}

	drawMarkers(context, height) {
		context.fillStyle = ink("accent");
		for (const marker of info.markers) {
			const x = this.xOf(marker.start);
			if (x < this.gutter || x > this.gutter + this.width) continue;
			context.globalAlpha = 0.5;
			context.fillRect(x, AXIS, Math.max(1, this.xOf(marker.end) - x), 3);
			context.globalAlpha = 1;
		}
	}

	drawAxis(context, width) {
		context.fillStyle = ink("paper");
		context.fillRect(0, 0, width, AXIS);
		const span = this.right - this.left;
		const step = stepFor(span / Math.max(2, this.width / 110));
		context.fillStyle = ink("soft");
		for (let t = Math.ceil(this.left / step) * step; t <= this.right; t += step) {
			const x = this.xOf(t);
			context.fillRect(x, AXIS - 5, 1, 5);
			context.fillText(stamp(t, step, this.length), x + 4, AXIS / 2 - 1);
		}
		context.fillText(cut(context, `${seconds(span / 1e9)} in sight`, this.gutter - 16), 8, AXIS / 2 - 1);
		context.fillStyle = ink("line");
		context.fillRect(0, AXIS - 1, width, 1);
	}

	drawBrush(context, width, height) {
		const brush = this.drag?.kind === "brush" ? this.drag : state.to ? { a: Number(state.from || 0), b: Number(state.to) } : null;
		if (!brush) return;
		const a = Math.max(this.gutter, this.xOf(Math.min(brush.a, brush.b)));
		const b = Math.min(width, this.xOf(Math.max(brush.a, brush.b)));
		context.fillStyle = ink("paper");
		context.globalAlpha = 0.6;
		context.fillRect(this.gutter, AXIS, Math.max(0, a - this.gutter), height);
		context.fillRect(b, AXIS, Math.max(0, width - b), height);
		context.globalAlpha = 1;
		context.fillStyle = ink("accent");
		context.fillRect(a, AXIS, 1.5, height);
		context.fillRect(b - 1.5, AXIS, 1.5, height);
		context.fillRect(a, AXIS - 3, Math.max(b - a, 1), 3);
	}

	drawMoment(context) {
		if (state.at === "" || state.thread === "") return;
		const row = this.rows.findIndex((r) => r.thread === Number(state.thread));
		const x = this.xOf(Number(state.at)), y = AXIS + row * this.rowHeight - this.element.scrollTop;
		if (row < 0 || x < this.gutter || y < AXIS - this.rowHeight) return;
		context.strokeStyle = ink("ink");
		context.lineWidth = 1.5;
		this.drawHolder(context, x, y);
		context.strokeRect(x - 2, y + 1, 4, this.rowHeight - 2);
	}

	/** From a thread that waits for the GIL to the one that has it. */
	drawHolder(context, x, y) {
		const row = moment?.lane === WAITING ? this.rows.findIndex((r) => r.thread === moment.holder) : -1;
		if (row < 0) return;
		const there = AXIS + row * this.rowHeight - this.element.scrollTop, half = this.rowHeight / 2;
		context.beginPath();
		context.moveTo(x, y + half);
		context.lineTo(x, Math.max(AXIS, there + half));
		context.stroke();
		if (there < AXIS - half) return;
		context.beginPath();
		context.arc(x, there + half, 4, 0, 2 * Math.PI);
		context.fillStyle = ink("paper");
		context.fill();
		context.stroke();
	}

	chosenThreads() {
		return state.threads === "" ? null : new Set(state.threads.split(",").map(Number));
	}

	rowAt(event) {
		const area = this.element.getBoundingClientRect();
		const y = event.clientY - area.top - AXIS;
		return y < 0 ? null : this.rows[Math.floor((y + this.element.scrollTop) / this.rowHeight)] ?? null;
	}

	xAt(event) {
		return event.clientX - this.element.getBoundingClientRect().left;
	}

	listen() {
		const e = this.element;
		e.addEventListener("scroll", () => this.redraw());
		e.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
		e.addEventListener("pointerdown", (event) => this.down(event));
		e.addEventListener("pointermove", (event) => this.move(event));
		e.addEventListener("pointerup", (event) => this.up(event));
		e.addEventListener("pointercancel", (event) => { this.fingers.delete(event.pointerId); this.drag = null; this.redraw(); });
		e.addEventListener("pointerleave", () => showTip(null, "", []));
		e.addEventListener("dblclick", (event) => {
			if (this.xAt(event) < this.gutter) return;
			if (state.to) this.setWindow(Number(state.from || 0), Number(state.to));
			else this.setWindow(0, this.length);
		});
		e.addEventListener("keydown", (event) => this.key(event));
	}

	wheel(event) {
		if (this.xAt(event) < this.gutter) return;
		if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) this.pan(event.deltaX / this.width);
		else if (event.shiftKey) this.pan(event.deltaY / this.width);
		else this.zoom(1.0015 ** event.deltaY, this.xAt(event));
		event.preventDefault();
	}

	down(event) {
		const x = this.xAt(event);
		if (event.button || x < this.gutter) return;
		if (event.pointerType === "touch") this.fingers.set(event.pointerId, x);
		if (this.fingers.size === 2) return this.startPinch();
		const onAxis = event.clientY - this.element.getBoundingClientRect().top < AXIS;
		const t = this.timeAt(x);
		this.drag = onAxis || event.shiftKey ? { kind: "pan", x, left: this.left, right: this.right }
			: { kind: "brush", x, a: t, b: t, still: true };
		this.element.setPointerCapture(event.pointerId);
	}

	move(event) {
		const x = this.xAt(event), drag = this.drag;
		if (this.fingers.has(event.pointerId)) this.fingers.set(event.pointerId, x);
		if (!drag) return this.tip(event);
		if (drag.kind === "pinch") return this.pinch(drag);
		if (drag.kind === "pan") {
			const by = (drag.x - x) / this.width * (drag.right - drag.left);
			const move = Math.max(-drag.left, Math.min(by, this.length - drag.right));
			this.setWindow(drag.left + move, drag.right + move);
		} else {
			drag.still = drag.still && Math.abs(x - drag.x) < 4;
			drag.b = Math.max(0, Math.min(this.length, this.timeAt(Math.max(x, this.gutter))));
			this.redraw();
		}
	}

	up(event) {
		const drag = this.drag;
		this.fingers.delete(event.pointerId);
		this.drag = null;
		if (!drag) return this.pickName(event);
		if (drag.kind !== "brush") return;
		if (drag.still) this.pick(event);
		else change({ from: Math.round(Math.min(drag.a, drag.b)), to: Math.round(Math.max(drag.a, drag.b)) });
		this.redraw();
	}

	/** Two fingers: what is below each stays below it. */
	startPinch() {
		const [a, b] = [...this.fingers.values()].sort((p, q) => p - q);
		this.drag = { kind: "pinch", a: this.timeAt(a), b: this.timeAt(b) };
		this.redraw();
	}

	pinch(drag) {
		const [a, b] = [...this.fingers.values()].sort((p, q) => p - q);
		if (b - a < 8) return;
		const scale = (drag.b - drag.a) / (b - a);
		const left = drag.a - (a - this.gutter) * scale;
		this.setWindow(left, left + this.width * scale);
	}

	pick(event) {
		const row = this.rowAt(event);
		if (row?.thread !== undefined) this.acts.moment(row.thread, Math.round(this.timeAt(this.xAt(event))));
	}

	/** The moment in the middle, of the row that keys act on. */
	pickMiddle() {
		const row = this.rows[this.cursor];
		if (row?.thread !== undefined) this.acts.moment(row.thread, Math.round((this.left + this.right) / 2));
	}

	/** From the chosen moment to the next sample, or to the next that differs. */
	step(way, other) {
		if (!moment) return this.cursor < 0 ? this.moveTo(0) : this.pickMiddle();
		const at = other ? (way > 0 ? moment.run_after : moment.run_before) : way > 0 ? moment.after : moment.before;
		if (at < this.left || at > this.right) this.setWindow(at - (this.right - this.left) / 2, at + (this.right - this.left) / 2);
		this.acts.moment(Number(state.thread), at);
	}

	moveTo(row) {
		this.cursor = Math.max(0, Math.min(row, this.rows.length - 1));
		const top = this.cursor * this.rowHeight, view = this.element.clientHeight - AXIS;
		if (top < this.element.scrollTop) this.element.scrollTop = top;
		if (top + this.rowHeight > this.element.scrollTop + view) this.element.scrollTop = top + this.rowHeight - view;
		say(this.rowName(this.rows[this.cursor]));
		this.redraw();
	}

	rowName(row) {
		return row.thread === undefined ? this.processName(row.process) : threadName(row.thread);
	}

	/** A click on a name. */
	pickName(event) {
		const row = this.rowAt(event);
		if (row && this.xAt(event) < this.gutter) this.filterRow(row, event.ctrlKey || event.metaKey || event.shiftKey);
	}

	/** Only this thread, or this process; again: all. Or add it to the others. */
	filterRow(row, add) {
		if (!row) return;
		const ids = row.thread === undefined ? row.ids : [row.thread];
		let chosen = [...(this.chosenThreads() ?? [])];
		if (add) {
			const all = ids.every((id) => chosen.includes(id));
			chosen = all ? chosen.filter((id) => !ids.includes(id)) : [...new Set([...chosen, ...ids])];
		} else {
			chosen = chosen.join() === ids.join() ? [] : ids;
		}
		change({ threads: chosen.join(","), path: "" });
	}

	tip(event) {
		const row = this.rowAt(event), x = this.xAt(event), named = x < this.gutter;
		this.element.style.cursor = named && row ? "pointer" : row ? "crosshair" : "grab";
		if (!row) return showTip(event, "", []);
		const lines = named ? ["Click to see only this; Shift adds", this.aboutRow(row)]
			: [`at ${seconds(this.timeAt(x) / 1e9)}${this.stateAt(row, x)}`, ...this.markersAt(x)];
		showTip(event, this.rowName(row), lines.filter((line) => line));
	}

	aboutRow(row) {
		if (row.thread === undefined) return info.processes[row.process].python && `Python ${info.processes[row.process].python}`;
		return info.threads[row.thread].tid ? `thread ${info.threads[row.thread].tid}` : "";
	}

	/** Markers below the pointer, a few pixels wide at least. */
	markersAt(x) {
		const from = this.timeAt(x - 3), to = this.timeAt(x + 3);
		return info.markers.filter((marker) => marker.end >= from && marker.start <= to).slice(0, 4)
			.map((marker) => [marker.name, marker.text, marker.end > marker.start ? seconds((marker.end - marker.start) / 1e9) : ""].filter((text) => text).join(": "));
	}

	/** The state that most of the bucket under the pointer has. */
	stateAt(row, x) {
		const time = this.timeAt(x);
		const tile = this.wanted().find(({ from, to }) => from <= time && time < to);
		const text = tile && this.tiles.get(tile.key)?.lanes.get(row.thread);
		if (!text) return "";
		const first = Math.floor((time - tile.from) / (tile.to - tile.from) * BUCKETS) * STATES;
		const shares = LANE_NAMES.map((_, i) => text.charCodeAt(first + i) - 48);
		const most = Math.max(...shares);
		return most ? `: ${LANE_NAMES[shares.indexOf(most)]}` : "";
	}

	key(event) {
		if (event.ctrlKey || event.metaKey || event.altKey) return;
		const acts = {
			ArrowLeft: () => this.pan(-0.1), ArrowRight: () => this.pan(0.1),
			"+": () => this.zoom(0.7), "=": () => this.zoom(0.7), "-": () => this.zoom(1.4),
			ArrowUp: () => this.moveTo(this.cursor - 1), ArrowDown: () => this.moveTo(this.cursor + 1),
			x: () => this.filterRow(this.rows[this.cursor], event.shiftKey), X: () => this.filterRow(this.rows[this.cursor], true),
			" ": () => this.pickMiddle(),
			",": () => this.step(-1, false), ".": () => this.step(1, false), "<": () => this.step(-1, true), ">": () => this.step(1, true),
			0: () => this.setWindow(0, this.length),
			Enter: () => { if (state.to) this.setWindow(Number(state.from || 0), Number(state.to)); else change({ from: Math.round(this.left), to: Math.round(this.right) }); },
		};
		if (!(event.key in acts)) return;
		acts[event.key]();
		event.preventDefault();
		event.stopPropagation();
	}
}

/** "#rrggbb" as a pixel. */
function packed(colour) {
	const v = parseInt(colour.slice(1), 16);
	return (0xff000000 | (v & 0xff) << 16 | (v & 0xff00) | v >> 16) >>> 0;
}

function paintLane(pixels, width, top, height, text, colours) {
	for (let x = 0; x < width; x++) {
		let y = top + height;
		let sum = 0;
		for (const s of STACK) {
			sum += (text.charCodeAt(x * STATES + s) - 48) / 63;
			const edge = top + height - Math.round(Math.min(sum, 1) * height);
			while (y > edge) pixels[--y * width + x] = colours[s];
		}
		const marked = text.charCodeAt(x * STATES + MARKED) > 48;
		for (y = top + height - MARK; marked && y < top + height; y++) pixels[y * width + x] = colours[MARKED];
	}
}

/** A round time that is not shorter: 1, 2, 5, 10 ... below a minute, then as on clocks. */
function stepFor(ns) {
	const long = [60, 120, 300, 600, 1800, 3600, 7200, 21600, 43200, 86400].find((s) => s * 1e9 >= ns);
	if (ns > 30e9) return (long ?? Math.ceil(ns / 86400e9) * 86400) * 1e9;
	const power = 10 ** Math.floor(Math.log10(ns));
	return [1, 2, 5, 10].find((m) => m * power >= ns) * power;
}

/** Of recordings of ten minutes and more as on clocks. */
function stamp(ns, step, length) {
	const places = Math.max(0, Math.min(9, Math.ceil(9 - Math.log10(step))));
	if (length < 600e9) return `${(ns / 1e9).toFixed(places)} s`;
	const whole = Math.floor(ns / 1e9 + 1e-9), rest = (ns / 1e9 - Math.floor(whole / 60) * 60).toFixed(places);
	const two = (text) => String(text).padStart(places ? places + 3 : 2, "0");
	return `${Math.floor(whole / 3600)}:${String(Math.floor(whole / 60) % 60).padStart(2, "0")}:${two(rest)}`;
}

function cut(context, text, room) {
	if (context.measureText(text).width <= room) return text;
	let n = text.length;
	while (n > 1 && context.measureText(text.slice(0, n) + "\u2026").width > room) n--;
	return text.slice(0, n) + "\u2026";
}
