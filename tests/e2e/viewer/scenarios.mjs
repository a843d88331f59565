// What a reader does with the viewer, and what must then be seen. The recording
// is that of test_view.py. Functions are looked for by pointing at boxes: what
// a canvas shows is what it says about the place under the pointer.
import assert from "node:assert/strict";

/** @type {Record<string, {act: Function, hash?: string, viewport?: object, alone?: boolean}>} */
export const scenarios = {};

function scenario(name, act, more = {}) {
  scenarios[name] = { act, ...more };
}

const fields = async (page) => Object.fromEntries(new URLSearchParams(new URL(page.url()).hash.slice(1)));

/** Wait until the function gives what is expected. */
async function eventually(read, expected) {
  let seen;
  for (let i = 0; i < 150; i++) {
    seen = await read();
    if (expected instanceof RegExp ? expected.test(seen) : JSON.stringify(seen) === JSON.stringify(expected)) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  if (expected instanceof RegExp) assert.match(String(seen), expected);
  else assert.deepEqual(seen, expected);
}

const text = (page, selector) => page.locator(selector).innerText();
const facts = (page) => text(page, "#facts");

/** What is said about the place (x from 0 to 1, row) of a flame graph. */
async function point(page, x, row, selector = ".boxes") {
  const area = await page.locator(selector).first().boundingBox();
  const at = { x: area.x + x * (area.width - 2) + 1, y: area.y + 4 + row * 19 + 9 };
  await page.mouse.move(at.x - 1, at.y);
  await page.mouse.move(at.x, at.y);
  return at;
}

async function boxAt(page, x, row, selector) {
  await point(page, x, row, selector);
  return (await page.locator("#tip").isVisible()) ? page.locator("#tip b").innerText() : "";
}

async function rows(page, column = "td:nth-last-child(2) .name") {
  return page.locator(`main tbody tr ${column}`).allInnerTexts();
}

async function lane(page, x, row) {
  const area = await page.locator("#timeline").boundingBox();
  return { x: area.x + 170 + x * (area.width - 170), y: area.y + 22 + row * 24 + 12 };
}

scenario("opens", async (page) => {
  assert.match(await page.title(), /app\.pyro/);
  assert.match(await facts(page), /500 of 500 samples/);
  assert.equal(await page.locator("[role=tab]").count(), 6);
  assert.equal(await page.locator("[role=tab][aria-selected=true]").innerText(), "Flame graph");
});

scenario("flame graph", async (page) => {
  assert.equal(await boxAt(page, 0.5, 0), "all");
  assert.equal(await boxAt(page, 0.1, 1), "main");
  assert.equal(await boxAt(page, 0.1, 2), "load");
  assert.equal(await boxAt(page, 0.1, 3), "parse");
  assert.match(await text(page, "#tip"), /36\.0%, 180 ms, 180 samples/);
  assert.match(await text(page, "#tip"), /app\.py:20/);
  assert.equal(await boxAt(page, 0.99, 4), "");
});

scenario("zoom", async (page) => {
  const at = await point(page, 0.1, 3);
  await page.mouse.dblclick(at.x, at.y);
  await eventually(() => boxAt(page, 0.9, 3), "parse");
  assert.equal(await boxAt(page, 0.9, 1), "main");
  assert.match((await fields(page)).path, /^f\d+\.f\d+\.f\d+$/);
  await page.keyboard.press("Backspace");
  await eventually(() => boxAt(page, 0.97, 3), "");
  assert.equal(await boxAt(page, 0.05, 4), "decode");
  await page.keyboard.press("Escape");
  await eventually(async () => (await fields(page)).path, undefined);
});

scenario("flame graph by keys", async (page) => {
  await page.keyboard.press("v");
  for (const key of ["ArrowDown", "ArrowDown", "ArrowDown", "ArrowDown"]) await page.keyboard.press(key);
  await eventually(() => text(page, "#said"), /^parse/);
  await page.keyboard.press("ArrowUp");
  await eventually(() => text(page, "#said"), /^load/);
  await page.keyboard.press("ArrowRight");
  await eventually(() => text(page, "#said"), /^even/);
  await page.keyboard.press("Enter");
  await eventually(() => boxAt(page, 0.9, 3), "odd");
});

scenario("inverted", async (page) => {
  await page.keyboard.press("i");
  await eventually(() => boxAt(page, 0.1, 1), "Condition.wait");
  assert.equal(await boxAt(page, 0.5, 1), "parse");
  assert.equal(await boxAt(page, 0.5, 2), "load");
});

scenario("by thread", async (page) => {
  await page.getByRole("button", { name: "By thread" }).click();
  await eventually(() => boxAt(page, 0.1, 1), "MainThread");
  assert.equal(await boxAt(page, 0.9, 1), "worker");
  assert.equal(await boxAt(page, 0.1, 2), "main");
});

scenario("upward", async (page) => {
  await page.keyboard.press("f");
  await eventually(async () => (await fields(page)).upward, "1");
  const height = (await page.locator(".boxes").boundingBox()).height;
  const bottom = (height - 8) / 19 - 1;
  await eventually(() => boxAt(page, 0.1, bottom), "all");
  assert.equal(await boxAt(page, 0.1, bottom - 1), "main");
});

scenario("in order of time", async (page) => {
  await page.keyboard.press("o");
  await page.waitForSelector("select[aria-label=Thread]");
  const x = (share) => (170 + share * (1280 - 170)) / 1280;
  await eventually(() => boxAt(page, x(0.1), 0), "main");
  assert.equal(await boxAt(page, x(0.1), 2), "parse");
  await page.locator("select[aria-label=Thread]").selectOption({ label: "worker" });
  await eventually(() => boxAt(page, x(0.1), 0), "Condition.wait");
  assert.equal(await boxAt(page, x(0.5), 0), "");
});

scenario("my code", async (page) => {
  assert.equal(await boxAt(page, 0.03, 4), "decode");
  await page.keyboard.press("m");
  await eventually(() => boxAt(page, 0.03, 3), "parse");
  await page.keyboard.press("3");
  await eventually(() => rows(page), ["parse", "odd", "main", "load", "even"]);
});

scenario("top", async (page) => {
  await page.keyboard.press("3");
  await eventually(() => rows(page), ["Condition.wait", "parse", "odd", "main", "decode", "load", "even"]);
  const cells = await page.locator("main tbody tr").nth(1).locator("td").allInnerTexts();
  assert.equal(cells[0], "30.0%");
  assert.match(cells[1], /^\u00b1\d/);
  assert.equal(cells[2], "150 ms");
  assert.equal(cells[3], "36.0%");
  await page.getByRole("columnheader", { name: "Total" }).getByRole("button").click();
  await eventually(async () => (await rows(page))[0], "main");
  assert.equal(await page.getByRole("columnheader", { name: "Total" }).getAttribute("aria-sort"), "descending");
  assert.equal(await page.locator("main table").getAttribute("aria-label"), "Functions by time");
});

scenario("top by keys", async (page) => {
  await page.keyboard.press("3");
  await page.waitForSelector("main tbody tr");
  await page.keyboard.press("v");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await eventually(() => text(page, "#detail h2"), "parse");
  await page.keyboard.press("Enter");
  await eventually(() => text(page, ".seam"), /parse.*total 36\.0%/s);
});

scenario("tree", async (page) => {
  const names = () => page.locator("main tbody tr td:last-child").allInnerTexts().then((list) => list.map((t) => t.replace(/[\u25b8\u25be]|\s.*/g, "").trim()).filter((t) => t));
  await page.keyboard.press("2");
  await eventually(names, ["all", "main", "load", "parse", "decode", "even", "odd", "even", "odd", "Condition.wait"]);
  await page.locator("tr[aria-level='2'] .twist").first().click();
  await eventually(async () => (await names()).includes("load"), false);
  assert.equal(await page.locator("tr[aria-level='2']").first().getAttribute("aria-expanded"), "false");
  await page.getByRole("button", { name: "Open all" }).click();
  await eventually(async () => (await names()).includes("decode"), true);
});

scenario("sandwich", async (page) => {
  await page.keyboard.press("4");
  await eventually(() => text(page, ".seam"), /Condition\.wait.*self 40\.0%/s);
  await page.keyboard.press("3");
  await page.getByText("load", { exact: true }).dblclick();
  await eventually(() => text(page, ".seam"), /load.*total 40\.0%.*self 4\.00%/s);
  assert.equal(await boxAt(page, 0.5, 0, ".seam + .boxes"), "parse");
  const above = await page.locator(".boxes").first().boundingBox();
  assert.equal(await boxAt(page, 0.5, (above.height - 8) / 19 - 1, ".boxes"), "main");
});

scenario("source", async (page) => {
  await page.keyboard.press("5");
  await page.waitForSelector(".code");
  assert.match(await text(page, ".code"), /for order in orders:/);
  const hot = page.locator(".code tr[data-hot] td");
  assert.deepEqual((await hot.allInnerTexts()).map((cell) => cell.trim()), ["20.0%", "26.0%", "21", "return <b>order</b>"]);
  assert.equal(await page.locator(".code b").count(), 0);
  await page.getByText("threading.py").click();
  await eventually(() => text(page, ".text"), /No source text/);
  assert.match(await text(page, ".text .code"), /359\s+in Condition\.wait/);
});

scenario("compare", async (page) => {
  await page.keyboard.press("6");
  await eventually(() => text(page, "#options"), /functions changed by more than noise/);
  const parse = page.locator("main tbody tr", { hasText: "parse" }).first();
  assert.match((await parse.locator("td").allInnerTexts())[2], /^-15\.0%/);
  assert.equal(await boxAt(page, 0.5, 0), "all");
  assert.equal(await boxAt(page, 0.1, 1), "main");
  assert.match(await text(page, "#tip"), /before.*now/);
  await page.keyboard.press("/");
  await page.keyboard.type("^odd$");
  await eventually(() => page.locator("main tr.hit .name").allInnerTexts(), ["odd"]);
});

scenario("search", async (page) => {
  await page.keyboard.press("/");
  await page.keyboard.type("^(odd|even)$");
  await eventually(() => text(page, "#found"), "2 in 12.0%");
  await page.keyboard.press("Escape");
  await eventually(async () => (await fields(page)).q, undefined);
  await page.keyboard.press("3");
  await page.keyboard.press("/");
  await page.keyboard.type("json/decoder");
  await eventually(() => text(page, "#found"), "1 in 6.00%");
  await eventually(() => page.locator("tr.hit").count(), 1);
  await page.locator("#search").fill("(");
  await eventually(() => text(page, "#found"), "no such pattern");
});

scenario("modes", async (page) => {
  await page.getByRole("radio", { name: "CPU" }).click();
  await eventually(() => facts(page), /260 of 500 samples/);
  assert.equal(await page.getByRole("radio", { name: "CPU" }).getAttribute("aria-checked"), "true");
  await page.keyboard.press("g");
  await eventually(() => facts(page), /240 of 500 samples/);
  await page.keyboard.press("w");
  await eventually(() => facts(page), /500 of 500 samples/);
});

scenario("threads", async (page) => {
  const name = await lane(page, 0, 1);
  await page.mouse.click(name.x - 100, name.y);
  await eventually(() => facts(page), /200 of 500 samples/);
  assert.match(await text(page, "#filters"), /worker/);
  assert.equal(await boxAt(page, 0.5, 1), "Condition.wait");
  await page.locator("#filters button").click();
  await eventually(() => facts(page), /500 of 500 samples/);
});

scenario("threads by keys", async (page) => {
  await page.keyboard.press("l");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await eventually(() => text(page, "#said"), "worker");
  await page.keyboard.press("x");
  await eventually(() => facts(page), /200 of 500 samples/);
  await page.keyboard.press("x");
  await eventually(() => facts(page), /500 of 500 samples/);
  await page.keyboard.press("Space");
  await eventually(() => text(page, "#detail h2"), "worker");
});

scenario("brush", async (page) => {
  const a = await lane(page, 0, 0), b = await lane(page, 0.5, 0);
  await page.mouse.move(a.x + 1, a.y);
  await page.mouse.down();
  await page.mouse.move(a.x + 200, a.y);
  await page.mouse.move(b.x, b.y);
  await page.mouse.up();
  await eventually(async () => Number((await fields(page)).to) > 0, true);
  const { from, to } = await fields(page);
  const whole = Number(from || 0) / 1e6 < 5 && Math.abs(Number(to) / 1e6 - 150) < 5;
  assert.ok(whole, `${from} to ${to}`);
  await eventually(() => facts(page), /^(24\d|25\d) of 500 samples/);
  await page.keyboard.press("Escape");
  await eventually(() => facts(page), /500 of 500 samples/);
});

scenario("timeline zoom", async (page) => {
  const at = await lane(page, 0.5, 0);
  await page.mouse.move(at.x, at.y);
  for (let i = 0; i < 6; i++) await page.mouse.wheel(0, -300); // to 0.64 of it each time, 0.067 in all
  await eventually(async () => {
    const { left, right } = await fields(page);
    return left < 150e6 && right > 150e6 && right - left < 30e6;
  }, true);
  const { left } = await fields(page);
  await page.keyboard.press("l");
  await page.keyboard.press("ArrowRight");
  await eventually(async () => Number((await fields(page)).left) > Number(left), true);
  await page.keyboard.press("-");
  await page.keyboard.press("0");
  await eventually(async () => (await fields(page)).right, undefined);
  for (let i = 0; i < 60; i++) await page.keyboard.press("+");
  const span = async () => { const f = await fields(page); return f.right - f.left; };
  await eventually(async () => (await span()) < 1e6, true); // closer than a single sample
  await page.keyboard.press("Enter");
  await eventually(async () => { const f = await fields(page); return f.to === f.right; }, true);
});

scenario("moment", async (page) => {
  const at = await lane(page, 0.9, 1);
  await page.mouse.move(at.x - 1, at.y);
  await eventually(() => text(page, "#tip"), /worker\s+at 2\d\d ms: waiting for the GIL/);
  await page.mouse.click(at.x, at.y);
  await eventually(() => text(page, "#detail h2"), "worker");
  const said = await text(page, "#detail");
  assert.match(said, /waiting for the GIL/);
  assert.match(said, /held by MainThread in odd/);
  assert.match(said, /Condition\.wait/);
  await page.getByRole("button", { name: "Copy the stack" }).click();
  await eventually(() => text(page, "#notice"), "Copied");
  await page.keyboard.press("Escape");
  await eventually(() => page.locator("#detail").isVisible(), false);
}, { alone: true });

scenario("choice is in all views", async (page, open) => {
  await point(page, 0.1, 3).then((at) => page.mouse.click(at.x, at.y));
  await eventually(() => text(page, "#detail h2"), "parse");
  await page.keyboard.press("3");
  await eventually(() => text(page, "tr[aria-selected=true] .name"), "parse");
  const address = new URL(page.url()).hash;
  await open(address);
  await eventually(() => text(page, "tr[aria-selected=true] .name"), "parse");
  await page.keyboard.press("s");
  await eventually(() => text(page, ".seam"), /parse/);
  await page.keyboard.press("b");
  await page.waitForSelector(".code");
  await page.goBack();
  await eventually(() => text(page, ".seam"), /parse/);
});

scenario("choice is in the timeline", async (page) => {
  const foot = async (share) => {
    const at = await lane(page, share, 0);
    return page.evaluate(({ x, y }) => {
      const canvas = document.querySelector("#timeline canvas"), area = canvas.getBoundingClientRect();
      const copy = document.createElement("canvas").getContext("2d");
      copy.drawImage(canvas, x - area.left, y - area.top + 8, 1, 1, 0, 0, 1, 1);
      return [...copy.getImageData(0, 0, 1, 1).data].slice(0, 3).join();
    }, at);
  };
  await eventually(() => foot(0.1), "232,163,61"); // holding the GIL
  await point(page, 0.1, 3).then((at) => page.mouse.click(at.x, at.y));
  await eventually(() => foot(0.1), "35,33,30");
  assert.equal(await foot(0.9), "232,163,61"); // there parse is not on the stack
});

scenario("dark and light", async (page) => {
  const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const before = await paper();
  await page.keyboard.press("d");
  await eventually(async () => (await paper()) !== before, true);
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
  await page.locator("#theme").click();
  await eventually(paper, before);
});

scenario("help", async (page) => {
  await page.keyboard.press("?");
  await page.waitForSelector("dialog[open]");
  assert.match(await text(page, "dialog"), /my code only/);
  await page.keyboard.press("3");
  assert.equal((await fields(page)).view, undefined);
  await page.keyboard.press("Escape");
  await eventually(() => page.locator("dialog").isVisible(), false);
});

scenario("saves pictures", async (page) => {
  const [svg] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "SVG" }).click()]);
  assert.equal(svg.suggestedFilename(), "app.svg");
  const { readFile } = await import("node:fs/promises");
  const picture = await readFile(await svg.path(), "utf8");
  assert.match(picture, /^<svg/);
  assert.match(picture, /<text[^>]*>parse<\/text>/);
  const [png] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "PNG" }).click()]);
  const bytes = await readFile(await png.path());
  assert.equal(bytes.subarray(1, 4).toString(), "PNG");
});

scenario("copies a stack", async (page) => {
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]).catch(() => {});
  await point(page, 0.1, 3).then((at) => page.mouse.click(at.x, at.y));
  await page.keyboard.press("c");
  await eventually(() => text(page, "#notice"), "Copied");
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  assert.deepEqual(copied.split("\n").map((line) => line.split(" ")[0]), ["parse", "load", "main"]);
}, { alone: true });

scenario("phone", async (page) => {
  for (const view of ["1", "2", "3", "4", "5"]) {
    await page.keyboard.press(view);
    await page.waitForTimeout(100);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
    assert.equal(wide, false, `view ${view} is wider than the screen`);
    assert.ok((await page.locator("main").boundingBox()).height > 200, `view ${view} has no room`);
  }
}, { viewport: { width: 390, height: 844 } });

scenario("every key in the help acts", async (page) => {
  for (const key of ["1", "2", "3", "4", "5", "6", "w", "p", "g", "m", "d", "l", "v", "t", "i", "f", "o", "s", "b", "e", "Escape"])
    await page.keyboard.press(key);
  await eventually(async () => (await fields(page)).view, "source");
});

scenario("an unknown view in the address", async (page) => {
  assert.equal(await boxAt(page, 0.1, 1), "main");
}, { hash: "#view=nothing&from=junk&threads=x&path=f99.q" });
