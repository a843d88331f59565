// What the recording is about: threads and processes, and the functions that
// answers have mentioned so far.
import { ask } from "./ask.js";
import { state } from "./state.js";

export const NONE = 0xffffffff;
export const KINDS = ["Python", "native", "kernel", "mark"];

/** @typedef {{id: number, name: string, path: string, line: number, kind: number, package: string, file: string}} Fn */

/** @type {Map<number, Fn>} */
const known = new Map();
let knownOf = "";

/** @type {any} */
export let info = null;

/** Remember the functions of an answer. */
export function learn(answer) {
	if (knownOf !== state.file) known.clear();
	knownOf = state.file;
	for (const [id, name, path, line, kind, library, file] of answer.functions)
		known.set(id, { id, name, path, line, kind, package: library, file });
	return answer;
}

/** @returns {Fn} */
export function fn(id) {
	return known.get(id) ?? { id, name: `function ${id}`, path: "", line: 0, kind: 3, package: "", file: "" };
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

export function place(f) {
	if (!f.path) return KINDS[f.kind] ?? "";
	return f.line ? `${f.path}:${f.line}` : f.path;
}
