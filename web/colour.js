// Colours of boxes and states, for either theme. The user's own code is warm,
// libraries are cool, each package in a hue of its own.
import { state } from "./state.js";

const LANES = {
	light: ["#8c6bb1", "#d6604d", "#e8a33d", "#4f94b8", "#e7e3dc"],
	dark: ["#a586cc", "#d9705e", "#d9952f", "#4c8fb5", "#34322f"],
};
export const LANE_NAMES = ["collecting garbage", "waiting for the GIL",
	"holding the GIL", "on a CPU without the GIL", "off CPU"];
const KIND_HUES = [[215, 40], [28, 62], [350, 45], [280, 30]];

/** @type {Map<string, string>} */
const cache = new Map();

export function dark() {
	return document.documentElement.dataset.theme === "dark";
}

export function setTheme(name) {
	document.documentElement.dataset.theme = name;
	cache.clear();
	try { localStorage.setItem("pyrometer-theme", name); } catch { /* a page from a disk may not */ }
}

export function chooseTheme() {
	let kept = null;
	try { kept = localStorage.getItem("pyrometer-theme"); } catch { /* as above */ }
	setTheme(kept ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
}

export function laneColours() {
	return dark() ? LANES.dark : LANES.light;
}

function hash(text) {
	let h = 2166136261;
	for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 16777619);
	return h >>> 0;
}

function shade(hue, strength, seed) {
	const shift = (seed % 7) - 3;
	return dark() ? `hsl(${hue} ${strength * 0.7}% ${34 + shift}%)`
		: `hsl(${hue} ${strength}% ${77 + shift}%)`;
}

function byModule(f) {
	const seed = hash(f.name);
	if (f.kind === 3) return shade(0, 0, seed);
	if (!f.package && f.kind === 0) return shade(18 + hash(f.path) % 34, 78, seed);
	return shade(150 + hash(f.package || f.path) % 150, 28, seed);
}

function byKind(f) {
	if (f.kind === 3 || /^<?gc\b|garbage/i.test(f.name)) return shade(280, 30, hash(f.name));
	const [hue, strength] = KIND_HUES[f.kind];
	return shade(hue, f.package && f.kind === 0 ? strength / 2 : strength, hash(f.name));
}

/** @param {import("./names.js").Fn} f */
export function colourOf(f) {
	const key = `${state.colour}|${f.kind}|${f.package}|${f.path}|${f.name}`;
	let colour = cache.get(key);
	if (!colour) {
		colour = state.colour === "kind" ? byKind(f) : byModule(f);
		cache.set(key, colour);
	}
	return colour;
}

/** More than before is orange, less is blue, noise is grey. */
export function changeColour(change, noise) {
	if (noise) return dark() ? "#4a4744" : "#dfdcd7";
	const strength = Math.min(1, Math.sqrt(Math.abs(change) * 5));
	const hue = change > 0 ? 22 : 210;
	return dark() ? `hsl(${hue} ${30 + 40 * strength}% ${30 + 14 * strength}%)`
		: `hsl(${hue} ${40 + 45 * strength}% ${84 - 22 * strength}%)`;
}

/** A colour of style.css; asked for with every frame, so kept. */
export function ink(name) {
	const key = `--${name}`;
	let colour = cache.get(key);
	if (!colour) {
		colour = getComputedStyle(document.documentElement).getPropertyValue(key).trim();
		cache.set(key, colour);
	}
	return colour;
}
