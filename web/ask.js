// One question, two ways to the answer: the server that this page came from, or
// the engine inside the page. Both are the same C.
import { openInside } from "./inside.js";

const KEPT = 48; // answers

/** @type {(request: string) => Promise<string>} */
let carry;
/** @type {Map<string, Promise<any>>} */
const answers = new Map();

async function askServer(request) {
	let reply;
	try {
		reply = await fetch("q?" + request, { cache: "no-store" });
	} catch {
		throw new Error("the server has gone; start pyrometer view again");
	}
	const text = await reply.text();
	if (!reply.ok) throw new Error(text.trim() || `the server says ${reply.status}`);
	return text;
}

/** The text of an element that is data; it is not needed twice. */
function take(element) {
	const text = element.textContent;
	element.remove();
	return text;
}

/** Find out where answers come from. Fails with a sentence for people. */
export async function open() {
	const engine = document.getElementById("engine");
	const recordings = /** @type {HTMLElement[]} */ ([...document.querySelectorAll("script.recording")]);
	if (!engine && !recordings.length && location.protocol === "http:") {
		carry = askServer;
		return;
	}
	const whole = "; pyrometer view --html writes a page that is whole";
	if (!recordings.length) throw new Error(`this page was saved without its recording${whole}`);
	if (!engine?.textContent) throw new Error(`this page was saved without its engine, which computes what it shows${whole}`);
	const files = recordings.map((element) => ({ name: element.dataset.name, text: take(element) }));
	carry = await openInside(take(engine), files);
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
