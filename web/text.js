// Numbers for people, and elements with text that stays text.

/** Seconds, from how many on it is used, and its name. @type {[number, number, string][]} */
const UNITS = [[3600, 7200, "h"], [60, 600, "min"], [1, 1, "s"], [1e-3, 1e-3, "ms"], [1e-6, 1e-6, "\u00b5s"], [1e-9, 1e-9, "ns"]];

/** @param {number} seconds */
export function seconds(seconds) {
	for (const [size, least, unit] of UNITS)
		if (Math.abs(seconds) >= least * 0.9995)
			return `${digits(seconds / size)} ${unit}`;
	return seconds ? `${digits(seconds * 1e9)} ns` : "0 s";
}

function digits(v) {
	const a = Math.abs(v);
	return v.toFixed(a >= 99.95 ? 0 : a >= 9.995 ? 1 : 2);
}

/** @param {number} share */
export function percent(share) {
	const v = share * 100;
	return `${v.toFixed(Math.abs(v) >= 9.95 ? 1 : 2)}%`;
}

export function count(n) {
	return n.toLocaleString("en");
}

/**
 * Make an element. Children that are text become text nodes, whatever is in
 * them.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, any>} [properties] "on..." are listeners
 * @param {...(Node | string | null | undefined)} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function make(tag, properties = {}, ...children) {
	const element = document.createElement(tag);
	for (const [name, value] of Object.entries(properties)) {
		if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
		else if (name === "class") element.className = value;
		else if (value === true) element.setAttribute(name, "");
		else if (value !== false && value !== undefined) element.setAttribute(name, value);
	}
	element.append(...children.filter((child) => child !== null && child !== undefined));
	return element;
}

/** The element with this id, which is there. */
export function byId(id) {
	return /** @type {HTMLElement} */ (document.getElementById(id));
}

/** The search field. */
export function searchField() {
	return /** @type {HTMLInputElement} */ (document.getElementById("search"));
}

/** Say something for a moment. */
export function notify(text) {
	const box = byId("notice");
	box.textContent = text;
	box.hidden = false;
	clearTimeout(Number(box.dataset.timer));
	box.dataset.timer = String(setTimeout(() => { box.hidden = true; }, 2500));
}

/** Tell those who listen. */
export function say(text) {
	byId("said").textContent = text;
}

/** What hovers beside the pointer: a title and lines; nothing hides it. */
export function showTip(event, title, lines) {
	const tip = byId("tip");
	tip.hidden = !event || event.pointerType === "touch" || !title;
	if (tip.hidden) return;
	tip.replaceChildren(make("b", {}, title), ...lines.map((line) => make("span", {}, line)));
	const below = event.clientY + 18 + tip.offsetHeight < innerHeight;
	tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8))}px`;
	tip.style.top = `${below ? event.clientY + 18 : event.clientY - tip.offsetHeight - 10}px`;
}

/** A colour and what it stands for. */
export function swatch(colour, text, title) {
	const square = make("i", { class: "swatch" });
	square.style.background = colour;
	return make("span", { class: "key", title }, square, text);
}

/** A place where nothing is to be seen, and why. */
export function emptyNote(title, text) {
	return make("div", { class: "empty" }, make("h2", {}, title), make("p", {}, text.charAt(0).toUpperCase() + text.slice(1)));
}

/** Hand a file to the reader. */
export function save(name, blob) {
	const address = URL.createObjectURL(blob);
	make("a", { href: address, download: name }).click();
	setTimeout(() => URL.revokeObjectURL(address), 10000);
}

export async function copyText(text) {
	if (!text) return notify("Nothing is chosen that could be copied");
	try {
		await navigator.clipboard.writeText(text);
	} catch { // a page from a disk may not; the old way can
		const area = make("textarea", { class: "unseen" });
		area.value = text;
		document.body.append(area);
		area.select();
		document.execCommand("copy");
		area.remove();
	}
	notify("Copied");
}
