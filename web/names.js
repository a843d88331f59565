// What the recording is about: threads and processes, and the functions that
// answers have mentioned so far.
import { ask } from "./ask.js";
import { state } from "./state.js";

export const NONE = 0xffffffff;
export const KINDS = ["Python", "native", "kernel", "mark"];
/** @enum {number} of boxes, as in flame.h */
export const BOX = { root: 0, function: 1, thread: 2, none: 3, gc: 4 };

/**
 * `file` is the whole path, `path` what of it tells most; `module` the library
 * of native code; `package` names that of library code, "" for the user's own.
 * @typedef {{id: number, name: string, path: string, line: number, kind: number, package: string, file: string, module: string}} Fn
 */

/** @type {Map<number, Fn>} */
const known = new Map();
let knownOf = "";

/** @type {any} */
export let info = null;

/** Remember the functions of an answer. */
export function learn(answer) {
	if (knownOf !== state.file) known.clear();
	knownOf = state.file;
	for (const [id, name, path, line, kind, library, file, module] of answer.functions)
		known.set(id, { id, name, path, line, kind, package: library, file, module });
	return answer;
}

/** @returns {Fn} */
export function fn(id) {
	return known.get(id) ?? { id, name: `function ${id}`, path: "", line: 0, kind: 3, package: "", file: "", module: "" };
}

export async function loadInfo() {
	info = await ask("info", { file: state.file });
	return info;
}

export function recording() {
	return info.recordings[Number(state.file)] ?? info.recordings[0];
}

/** "MainThread", and whose when there are several processes. */
export function threadName(id) {
	const thread = info.threads[id];
	if (!thread) return `thread ${id}`;
	const name = thread.name || (thread.main ? "MainThread" : `thread ${thread.tid}`);
	return info.processes.length > 1 ? `${name} of ${info.processes[thread.process].pid}` : name;
}

/** Where a function is: its file and line, of native code its library. */
export function place(f) {
	const file = f.path && (f.line ? `${f.path}:${f.line}` : f.path);
	if (f.kind === 0 || f.kind === 3) return file || KINDS[f.kind];
	const library = f.kind === 2 ? "kernel" : f.module.replace(/.*\//, "") || "native";
	return file ? `${file} in ${library}` : library;
}

/** The file of a function whose lines can be shown, or "". */
export function sourceOf(f) {
	return f.kind <= 1 ? f.file : "";
}

/** A function for a clipboard: its name, and where to find it. */
export function spelled(f, line = f.line) {
	const where = f.file || f.module;
	return where ? `${f.name} (${where}${f.file && line ? `:${line}` : ""})` : f.name;
}
