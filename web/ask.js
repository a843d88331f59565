// One question, two ways to the answer: the server that this page came from, or
// the engine inside the page. Both are the same C.

const KEPT = 48; // answers

/** @type {(request: string) => Promise<string>} */
let carry;
/** @type {Map<string, Promise<any>>} */
const answers = new Map();

/** Text in base64 as bytes. */
function bytesOf(text) {
	const binary = atob(text.trim());
	const bytes = new Uint8Array(binary.length);
	for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
	return bytes;
}

async function unpack(element) {
	const packed = new Blob([bytesOf(element.textContent)]);
	element.remove(); // its text is no longer needed
	const stream = packed.stream().pipeThrough(new DecompressionStream("deflate"));
	return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** The engine wants little from a system: where to say that memory is out. */
const SYSTEM = {
	fd_close: () => 8, fd_seek: () => 8, fd_write: () => 8,
	proc_exit: () => { throw new Error("the engine has ended"); },
};

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
		if (status < 0) throw new Error("the recording in this page cannot be read");
	}

	ask(request) {
		const at = this.put(new TextEncoder().encode(request));
		const answer = this.text(this.c.ask(at));
		this.c.release(at);
		return answer;
	}
}

async function openPage(engineElement, recordings) {
	if (typeof WebAssembly !== "object")
		throw new Error("this browser has no WebAssembly, which the page computes with");
	if (typeof DecompressionStream !== "function")
		throw new Error("this browser is too old to unpack the recording (it has no DecompressionStream)");
	const [code, ...files] = await Promise.all(
		[engineElement, ...recordings].map((element) => {
			const name = element.dataset.name;
			return unpack(element).then((bytes) => ({ bytes, name }));
		}));
	const made = await WebAssembly.instantiate(code.bytes, { wasi_snapshot_preview1: SYSTEM });
	const engine = new Engine(made.instance.exports);
	for (const { bytes, name } of files) engine.open(bytes, name);
	return async (request) => engine.ask(request);
}

async function askServer(request) {
	let reply;
	try {
		reply = await fetch("q?" + request, { cache: "no-store" });
	} catch {
		throw new Error("the server has gone; start pyrometer view again");
	}
	return reply.text();
}

/** Find out where answers come from. Fails with a sentence for people. */
export async function open() {
	const engine = document.getElementById("engine");
	const recordings = [...document.querySelectorAll("script.recording")];
	if (engine && recordings.length) {
		carry = await openPage(engine, recordings);
	} else if (location.protocol === "http:") {
		carry = askServer;
	} else {
		throw new Error("this page was saved without its recording; pyrometer view --html writes one that is whole");
	}
}

function requestOf(view, fields) {
	const parts = [`view=${view}`];
	for (const [name, value] of Object.entries(fields))
		if (value !== "" && value !== false && value !== undefined)
			parts.push(`${name}=${encodeURIComponent(value === true ? 1 : value)}`);
	return parts.join("&");
}

async function fetchAnswer(request) {
	const answer = JSON.parse(await carry(request));
	if (answer.error) throw new Error(answer.error);
	return answer;
}

/**
 * Ask for a view. The same question is answered once.
 * @param {string} view
 * @param {Record<string, string | number | boolean | undefined>} fields
 */
export function ask(view, fields = {}) {
	const request = requestOf(view, fields);
	let answer = answers.get(request);
	if (!answer) {
		answer = fetchAnswer(request);
		answer.catch(() => answers.delete(request));
		if (answers.size >= KEPT) answers.delete(answers.keys().next().value);
	} else {
		answers.delete(request);
	}
	answers.set(request, answer);
	return answer;
}
