// Every key that the help lists, in the order in which it does: what to press
// before it, and what must be seen after it. A key that is listed and not here
// is a failure, and the other way round.
import assert from "node:assert/strict";
import { eventually, facts, fields, scenario, text } from "./common.mjs";

const field = (name, expected) => (page) => eventually(async () => (await fields(page))[name], expected);
const focus = (expected) => (page) => eventually(() => page.evaluate(() => document.activeElement.id || document.activeElement.className), expected);
const said = (expected) => (page) => eventually(() => text(page, "#said"), expected);
const counts = (n) => (page) => eventually(() => facts(page), new RegExp(`^${n} of 500 samples`));
const visible = (selector) => (page) => eventually(() => page.locator(selector).isVisible(), true);
const copied = (page) => eventually(() => text(page, "#notice"), "Copied");

/** A file that the key makes the browser save. */
const saves = (name) => async (page, press) => {
  const [file] = await Promise.all([page.waitForEvent("download"), press()]);
  assert.equal(file.suggestedFilename(), name);
};
/** The key makes a number in the address grow (1) or shrink (-1). */
const moves = (read, way) => async (page, press) => {
  const value = async () => read(await fields(page));
  const before = await value();
  await press();
  await eventually(async () => Math.sign((await value()) - before), way);
};
const width = ({ left, right }) => (right ?? 300e6) - (left ?? 0);
const ZOOMED = { hash: "#left=100000000&right=150000000", first: ["l"] };
// The worker waits from 0 to 100, is away, waits from 170 to 210, then for the GIL.
const CHOSEN = { hash: "#thread=0&at=50000000", first: ["l"] };

/** Label in the help, key, what to see, what to do before. */
const KEYS = {
  Everywhere: [
    ["1", "1", field("view", undefined), { hash: "#view=top" }], ["6", "6", field("view", "compare")],
    ["l", "l", focus("timeline")], ["v", "v", focus("boxes")],
    ["/", "/", focus("search")],
    ["n", "n", said(/^odd/), { hash: "#q=odd" }], ["N", "N", said(/^odd/), { hash: "#q=odd" }],
    ["w", "w", counts(500), { hash: "#mode=cpu" }], ["p", "p", counts(260)], ["g", "g", counts(240)],
    ["m", "m", field("mine", "1")],
    ["s", "s", field("view", "sandwich")], ["b", "b", field("view", "source")],
    ["c", "c", copied, { hash: "#function=1" }],
    ["r", "r", (page) => eventually(() => page.title(), /later\.pyro/)], ["e", "e", field("exact", "1")],
    ["d", "d", (page) => eventually(() => page.evaluate(() => document.documentElement.dataset.theme), "dark")],
    ["Esc", "Escape", field("q", undefined), { hash: "#q=odd" }], ["?", "?", visible("dialog[open]")],
  ],
  "Pictures and tables": [
    ["\u2190", "ArrowLeft", said(/^main/), { first: ["v", "ArrowDown", "ArrowDown", "ArrowRight"] }],
    ["\u2192", "ArrowRight", said(/^Condition\.wait/), { first: ["v", "ArrowDown", "ArrowDown"] }],
    ["\u2191", "ArrowUp", said(/^all/), { first: ["v", "ArrowDown", "ArrowDown"] }],
    ["\u2193", "ArrowDown", said(/^main/), { first: ["v", "ArrowDown"] }],
    ["Enter", "Enter", field("path", /^f\d+$/), { first: ["v", "ArrowDown", "ArrowDown"] }],
    ["Backspace", "Backspace", field("path", undefined), { hash: "#path=f0" }],
    ["o", "o", field("order", "time")], ["t", "t", field("split", "1")], ["i", "i", field("inverted", "1")],
    ["f", "f", field("upward", "1")], ["k", "k", field("colour", "kind")],
    ["S", "S", saves("app.svg")], ["P", "P", saves("app.png")],
  ],
  Timeline: [
    ["\u2190", "ArrowLeft", moves((f) => f.left, -1), ZOOMED], ["\u2192", "ArrowRight", moves((f) => f.left, 1), ZOOMED],
    ["+", "+", moves(width, -1), { first: ["l"] }], ["-", "-", moves(width, 1), ZOOMED],
    ["0", "0", field("right", undefined), ZOOMED],
    ["\u2191", "ArrowUp", said("MainThread"), { first: ["l", "ArrowDown", "ArrowDown"] }],
    ["\u2193", "ArrowDown", said("worker"), { first: ["l", "ArrowDown"] }],
    ["x", "x", field("threads", "1"), { first: ["l", "ArrowDown", "ArrowDown"] }],
    ["X", "X", field("threads", "0,1"), { hash: "#threads=0", first: ["l", "ArrowDown", "ArrowDown"] }],
    ["Space", "Space", visible("#detail"), { first: ["l", "ArrowDown"] }],
    [",", ",", moves((f) => f.at, -1), CHOSEN], [".", ".", moves((f) => f.at, 1), CHOSEN],
    ["<", "<", (page) => eventually(() => text(page, "#detail"), /parse\s+app\.py:21/), { hash: "#thread=0&at=120000000", first: ["l"] }],
    [">", ">", (page) => eventually(() => text(page, "#detail"), /parse\s+app\.py:25/), CHOSEN],
    ["Enter", "Enter", field("to", "150000000"), ZOOMED],
  ],
};

for (const [section, keys] of Object.entries(KEYS))
  for (const [label, key, check, more = {}] of keys)
    scenario(`${section}: ${label}`, async (page) => {
      for (const before of more.first ?? []) {
        await page.keyboard.press(before);
        await page.waitForTimeout(60);
      }
      const press = () => page.keyboard.press(key);
      if (check.length < 2) await press();
      await check(page, press);
    }, { hash: more.hash, alone: label === "c" });

scenario("the help lists these keys and no others", async (page) => {
  await page.keyboard.press("?");
  await page.waitForSelector("dialog[open]");
  const listed = await page.evaluate(() => Object.fromEntries([...document.querySelectorAll("dialog section")].map((section) =>
    [section.querySelector("h3").textContent, [...section.querySelectorAll("kbd")].map((kbd) => kbd.textContent)])));
  assert.deepEqual(listed, Object.fromEntries(Object.entries(KEYS).map(([section, keys]) => [section, keys.map(([label]) => label)])));
  await page.keyboard.press("3"); // the help is in front of everything
  assert.equal((await fields(page)).view, undefined);
});
