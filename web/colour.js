// Colours of boxes and states, for either theme. The user's own code is warm,
// libraries are cool, each package in a hue of its own.
import { BOX } from "./names.js";
import { state } from "./state.js";

const LANES = {
	light: ["#8c6bb1", "#d6604d", "#e8a33d", "#4f94b8", "#e7e3dc"],
	dark: ["#a586cc", "#d9705e", "#d9952f", "#4c8fb5", "#34322f"],
};
export const LANE_NAMES = ["collecting garbage", "waiting for the GIL",
	"holding the GIL", "on a CPU without the GIL", "off CPU"];
// Hue and strength.
const HUES = {
	own: [30, 78], library: [46, 34], native: [196, 38], kernel: [342, 42], mark: [0, 0], gc: [268, 32],
};

/** @type {Map<string, string>} */
const cache = new Map();

export function dark() {
	return document.documentElement.dataset.theme === "dark";
}

function wear(name) {
	document.documentElement.dataset.theme = name;
	cache.clear();
}

/** What the reader asks for is kept. */
export function setTheme(name) {
	wear(name);
	try { localStorage.setItem("pyrometer-theme", name); } catch { /* a page from a disk may not */ }
}

/** What was kept, or else what the system has, also when that changes. */
export function chooseTheme(changed) {
	const system = matchMedia("(prefers-color-scheme: dark)");
	let kept = null;
	try { kept = localStorage.getItem("pyrometer-theme"); } catch { /* as above */ }
	wear(kept ?? (system.matches ? "dark" : "light"));
	system.addEventListener("change", () => {
		wear(system.matches ? "dark" : "light");
		changed();
	});
}

export function laneColours() {
	return dark() ? LANES.dark : LANES.light;
}

function hash(text) {
	let h = 2166136261;
	for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 16777619);
	return h >>> 0;
}

/** @param {number[]} colour hue and strength */
function shade(colour, seed = 3) {
	const [hue, strength] = colour;
	const shift = (seed % 7) - 3;
	return dark() ? `hsl(${hue} ${strength * 0.7}% ${34 + shift}%)`
		: `hsl(${hue} ${strength}% ${77 + shift}%)`;
}

function byModule(f, seed) {
	if (f.kind === 3) return shade(HUES.mark, seed);
	if (f.kind === 2) return shade(HUES.kernel, seed);
	return f.package ? shade(hueOf(f.package), seed) : shade([18 + hash(f.path) % 34, 78], seed);
}

/** A package's own. */
function hueOf(name) {
	const h = hash(name);
	return [85 + h % 165, 20 + (h >>> 9) % 24];
}

function byKind(f, seed) {
	if (f.kind === 0) return shade(f.package ? HUES.library : HUES.own, seed);
	return shade([HUES.own, HUES.native, HUES.kernel, HUES.mark][f.kind], seed);
}

/** @param {import("./names.js").Fn} f */
export function colourOf(f) {
	const key = `${state.colour}|${f.kind}|${f.package}|${f.path}|${f.name}`;
	let colour = cache.get(key);
	if (!colour) {
		colour = state.colour === "kind" ? byKind(f, hash(f.name)) : byModule(f, hash(f.name));
		cache.set(key, colour);
	}
	return colour;
}

/** The colour of a box that is no function. */
export function plainColour(kind) {
	return kind === BOX.gc ? shade(HUES.gc) : ink("panel");
}

/** What a function's colour stands for, and a colour in the middle of its shades. */
export function meaningOf(f) {
	if (f.kind === 3) return ["marks", shade(HUES.mark)];
	if (f.kind === 2) return ["kernel", shade(HUES.kernel)];
	if (state.colour === "kind") {
		if (f.kind === 1) return ["native", shade(HUES.native)];
		return f.package ? ["Python, libraries", shade(HUES.library)] : ["Python, yours", shade(HUES.own)];
	}
	return f.package ? [f.package, shade(hueOf(f.package))] : ["your code", shade(HUES.own)];
}

/** More than before is orange, less is blue, noise is grey. */
export function changeColour(change, noise) {
	if (noise) return dark() ? "#4a4744" : "#dfdcd7";
	const strength = Math.min(1, Math.sqrt(Math.abs(change) * 4));
	const hue = change > 0 ? 24 : 205;
	return dark() ? `hsl(${hue} ${26 + 34 * strength}% ${30 + 12 * strength}%)`
		: `hsl(${hue} ${38 + 30 * strength}% ${85 - 17 * strength}%)`;
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
