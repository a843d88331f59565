// The engine inside a page. It works in a thread of its own, so that the page
// goes on drawing while something is counted; where a browser permits no such
// thread, in the page's. A page is one file, so the thread gets its script as
// text: the functions here may use nothing but each other.

/** Text in base64, deflated, as bytes. */
async function inflate(text) {
	const binary = atob(text.trim());
	const bytes = new Uint8Array(binary.length);
	for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
	const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
	return new Uint8Array(await new Response(stream).arrayBuffer());
}

class Engine {
	constructor(exports) {
		this.c = exports;
		this.c._initialize();
	}

	put(bytes) {
		const at = this.c.alloc(bytes.length + 1);
		const memory = new Uint8Array(this.c.memory.buffer, at, bytes.length + 1);
		memory.set(bytes);
		memory[bytes.length] = 0;
		return at;
	}

	text(at) {
		const bytes = new Uint8Array(this.c.memory.buffer, at, this.c.size());
		return new TextDecoder().decode(bytes);
	}

	open(bytes, name) {
		const label = this.put(new TextEncoder().encode(name));
		const status = this.c.open(this.put(bytes), bytes.length, label);
		this.c.release(label);
		if (status < 0) throw new Error(`${name}: ${this.text(this.c.answer())}`);
	}

	ask(request) {
		const at = this.put(new TextEncoder().encode(request));
		const answer = this.text(this.c.ask(at));
		this.c.release(at);
		return answer;
	}
}

/**
 * @param {string} code of the engine, packed
 * @param {{name: string, text: string}[]} files recordings, packed
 */
async function startEngine(code, files) {
	// The engine wants little from a system: where to say that memory is out.
	const system = {
		fd_close: () => 8, fd_seek: () => 8, fd_write: () => 8,
		proc_exit: () => { throw new Error("the engine has ended; there is not enough memory for this"); },
	};
	const [program, ...recordings] = await Promise.all([code, ...files.map((file) => file.text)].map(inflate));
	const made = await WebAssembly.instantiate(program, { wasi_snapshot_preview1: system });
	const engine = new Engine(made.instance.exports);
	recordings.forEach((bytes, i) => engine.open(bytes, files[i].name));
	return engine;
}

/** What the thread does: start the engine, then answer. */
function answerMessages() {
	const say = (/** @type {any} */ message) => self.postMessage(message);
	/** @type {Engine} */
	let engine;
	self.onmessage = async ({ data }) => {
		try {
			if (data.code) engine = await startEngine(data.code, data.files);
			say({ id: data.id, answer: data.code ? "" : engine.ask(data.request) });
		} catch (error) {
			say({ id: data.id, error: error.message });
		}
	};
}

/** A function that answers, in a thread; null where there is none to be had. */
async function startThread(code, files) {
	const script = [inflate, Engine, startEngine].map(String).join("\n");
	/** @type {Worker} */
	let thread;
	try {
		const address = URL.createObjectURL(new Blob([`"use strict";${script};(${answerMessages})()`], { type: "text/javascript" }));
		thread = new Worker(address);
	} catch {
		return null;
	}
	/** @type {Map<number, {resolve: (answer: string) => void, reject: (error: Error) => void}>} */
	const waiting = new Map();
	let next = 0;
	thread.onmessage = ({ data }) => {
		const { resolve, reject } = waiting.get(data.id);
		waiting.delete(data.id);
		if (data.error) reject(new Error(data.error));
		else resolve(data.answer);
	};
	const send = (message) => new Promise((resolve, reject) => {
		waiting.set(++next, { resolve, reject });
		thread.postMessage({ ...message, id: next });
	});
	const refused = new Promise((resolve) => {
		thread.onerror = (event) => {
			event.preventDefault();
			resolve(true);
			for (const { reject } of waiting.values()) reject(new Error("the engine has ended; open the page again"));
		};
	});
	if (await Promise.race([refused, send({ code, files })])) return null;
	return (request) => send({ request });
}

/**
 * Start the engine of this page with its recordings.
 * @returns {Promise<(request: string) => Promise<string>>} what answers
 */
export async function openInside(code, files) {
	if (typeof WebAssembly !== "object")
		throw new Error("this browser has no WebAssembly, which the page computes with");
	if (typeof DecompressionStream !== "function")
		throw new Error("this browser is too old to unpack the recording (it has no DecompressionStream)");
	const thread = await startThread(code, files);
	if (thread) return thread;
	const engine = await startEngine(code, files);
	return async (request) => engine.ask(request);
}
