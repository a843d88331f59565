// What a reader does with the viewer, and what must then be seen. The recording
// is that of test_view.py.
import assert from "node:assert/strict";
import { boxAt, eventually, facts, fields, footColour, lane, point, rows, scenario, text } from "./common.mjs";

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

scenario("in order of time: threads, modes, inverted, zoom", async (page) => {
  const x = (share) => (170 + share * (1280 - 170)) / 1280;
  await eventually(() => boxAt(page, x(0.1), 0), "MainThread");
  assert.equal(await boxAt(page, x(0.1), 1), "main");
  assert.equal(await boxAt(page, x(0.75), 5), "garbage collection");
  assert.equal(await boxAt(page, x(0.5), 6), "worker");
  assert.equal(await boxAt(page, x(0.1), 7), "Condition.wait");
  await page.keyboard.press("p"); // off CPU from 170 to 210 of 300, the worker always
  await eventually(() => boxAt(page, x(0.65), 1), "");
  assert.equal(await boxAt(page, x(0.1), 7), "");
  await page.keyboard.press("w");
  await page.keyboard.press("i");
  await eventually(() => boxAt(page, x(0.1), 1), "parse");
  assert.equal(await boxAt(page, x(0.75), 1), "garbage collection");
  await point(page, x(0.1), 1).then((at) => page.mouse.dblclick(at.x, at.y));
  await eventually(async () => Math.abs(Number((await fields(page)).to) / 1e6 - 150) < 2, true);
  await page.keyboard.press("v");
  await page.keyboard.press("Backspace");
  await eventually(async () => (await fields(page)).to, undefined);
}, { hash: "#order=time&split=1" });

scenario("garbage collection is a box of its own", async (page) => {
  assert.equal(await boxAt(page, 0.03, 5), "garbage collection");
  assert.match(await text(page, "#tip"), /6\.00%, 30\.0 ms/);
  await page.keyboard.press("i");
  await eventually(() => boxAt(page, 0.97, 1), /./);
  const named = new Set();
  for (let at = 0.01; at < 1; at += 0.02) named.add(await boxAt(page, at, 1));
  assert.ok(named.has("garbage collection"), [...named].join());
  await page.keyboard.press("i");
  await point(page, 0.03, 5).then((at) => page.mouse.dblclick(at.x, at.y));
  await eventually(async () => (await fields(page)).path, /\.g0$/);
  assert.match(await text(page, ".legend"), /GC/);
});

scenario("legend", async (page) => {
  await eventually(() => text(page, ".legend"), /your code.*threading.*GC/s);
  await page.keyboard.press("k");
  await eventually(() => text(page, ".legend"), /Python, yours.*Python, libraries.*GC/s);
  assert.match(await text(page, "#hover"), /GIL.*CPU.*GIL wait.*GC.*off CPU/s);
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
  await eventually(names, ["all", "main", "load", "parse", "decode", "garbage", "even", "odd", "even", "odd", "Condition.wait"]);
  await page.locator("tr[aria-level='2'] .twist").first().click();
  await eventually(async () => (await names()).includes("load"), false);
  assert.equal(await page.locator("tr[aria-level='2']").first().getAttribute("aria-expanded"), "false");
  await page.getByRole("button", { name: "Open all" }).click();
  await eventually(async () => (await names()).includes("decode"), true);
  await page.getByRole("button", { name: "Close all" }).click();
  await eventually(names, ["all", "main", "Condition.wait"]);
});

scenario("tree sorts siblings and says how sure it is", async (page) => {
  const names = async () => (await page.locator("main tbody tr .name").allInnerTexts());
  await eventually(async () => (await names()).slice(0, 3), ["all", "main", "load"]);
  const cells = await page.locator("main tbody tr").nth(2).locator("td").allInnerTexts();
  assert.equal(cells[0], "40.0%");
  assert.match(cells[1], /^\u00b1\d+\.\d$/);
  assert.deepEqual([cells[2], cells[3]], ["200 ms", "4.00%"]);
  assert.match(cells[4], /^\u00b1\d+\.\d$/);
  await page.getByRole("columnheader", { name: "Function" }).getByRole("button").click();
  await eventually(async () => (await names()).slice(0, 4), ["all", "Condition.wait", "main", "even"]);
  await eventually(async () => (await fields(page)).treesort, "+name");
  await page.getByRole("columnheader", { name: "Total" }).getByRole("button").click();
  await page.getByRole("columnheader", { name: "Total" }).getByRole("button").click();
  await eventually(async () => (await names()).slice(0, 2), ["all", "Condition.wait"]);
  assert.equal(await page.getByRole("columnheader", { name: "Total" }).getAttribute("aria-sort"), "ascending");
}, { hash: "#view=tree" });

scenario("tree by keys, and its stack", async (page) => {
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]).catch(() => {});
  await page.keyboard.press("v");
  for (let i = 0; i < 4; i++) await page.keyboard.press("ArrowDown");
  await eventually(() => text(page, "tr[aria-selected=true] .name"), "parse");
  await eventually(() => text(page, "#said"), /Total 36\.0%.*Function.*parse/);
  await page.keyboard.press("c");
  await eventually(() => page.evaluate(() => navigator.clipboard.readText()), "parse (/srv/shop/app.py:20)\nload (/srv/shop/app.py:10)\nmain (/srv/shop/app.py:1)");
  await page.keyboard.press("ArrowLeft");
  await eventually(() => page.locator("tr[aria-selected=true]").getAttribute("aria-expanded"), "false");
  await page.keyboard.press("ArrowRight");
  await eventually(() => page.locator("tr[aria-selected=true]").getAttribute("aria-expanded"), "true");
}, { hash: "#view=tree", alone: true });

scenario("tree opens what a search finds", async (page) => {
  await page.getByRole("button", { name: "Close all" }).click();
  await eventually(() => page.locator("main tbody tr .name").count(), 3);
  await page.reload();
  await page.waitForSelector("body[data-started]");
  await eventually(() => page.locator("tr.hit .name").allInnerTexts(), ["decode"]);
}, { hash: "#view=tree&q=json/" });

scenario("sandwich", async (page) => {
  await page.keyboard.press("4");
  await eventually(() => text(page, ".seam"), /Condition\.wait.*self 40\.0%.*called by nobody/s);
  assert.deepEqual(await rows(page, "td:last-child .name"), ["Condition.wait", "parse", "odd", "main", "decode", "load", "even"]);
  await page.locator("main tbody .name", { hasText: "load" }).click();
  await eventually(() => text(page, ".seam"), /load.*total 40\.0%.*self 4\.00%/s);
  assert.equal(await boxAt(page, 0.5, 0, ".seam + .boxes"), "parse");
  assert.equal(await boxAt(page, 0.5, 0, ".boxes"), "main");
  await point(page, 0.5, 0, ".boxes").then((at) => page.mouse.dblclick(at.x, at.y));
  await eventually(() => text(page, ".seam"), /main.*total 60\.0%/s);
});

scenario("sandwich by keys, and its stack", async (page) => {
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]).catch(() => {});
  await page.keyboard.press("v");
  await page.keyboard.press("ArrowDown");
  await eventually(() => text(page, ".seam"), /^parse/);
  await page.locator(".boxes").first().focus();
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("ArrowUp");
  await eventually(() => text(page, "#said"), /^main/);
  await page.keyboard.press("c");
  await eventually(() => page.evaluate(() => navigator.clipboard.readText()), "parse (/srv/shop/app.py:20)\nload (/srv/shop/app.py:10)\nmain (/srv/shop/app.py:1)");
}, { hash: "#view=sandwich", alone: true });

scenario("sandwich folds libraries", async (page) => {
  await page.locator("main tbody .name", { hasText: "parse" }).click();
  await eventually(() => boxAt(page, 0.05, 0, ".seam + .boxes"), "decode");
  await page.keyboard.press("m");
  await eventually(() => rows(page, "td:last-child .name"), ["parse", "odd", "main", "load", "even"]);
}, { hash: "#view=sandwich" });

scenario("source", async (page) => {
  await page.keyboard.press("5");
  await page.waitForSelector(".code");
  assert.match(await text(page, ".code"), /for order in orders:/);
  const line = (n) => page.locator(".code tbody tr").nth(n - 1).locator("td").allInnerTexts().then((cells) => cells.map((cell) => cell.trim()));
  assert.deepEqual(await line(21), ["20.0%", "26.0%", "21", "return <b>order</b>"]);
  assert.deepEqual(await line(1), ["", "", "1", "import json"]);
  assert.equal(await page.locator(".code b").count(), 0);
  await page.locator(".code tbody tr").nth(20).click();
  await eventually(() => text(page, "#detail h2"), "parse");
  assert.ok((await page.locator(".code tr.own").count()) >= 2);
  await page.getByText("threading.py").click();
  await eventually(() => text(page, ".text .code"), /359\s+in Condition\.wait/);
  assert.match(await text(page, "#options"), /does not carry the text of this file/);
});

scenario("source of the chosen function, by keys", async (page) => {
  await page.keyboard.press("b");
  await eventually(() => text(page, "#options"), /json\/decoder\.py/);
  await page.keyboard.press("v");
  await page.keyboard.press("ArrowUp");
  await eventually(() => text(page, "#options"), /(app|threading)\.py/);
  await page.keyboard.press("m");
  await eventually(() => page.locator(".files tbody .name").allInnerTexts(), ["app.py"]);
}, { hash: "#view=top&q=decode&function=4" });

scenario("compare", async (page) => {
  await page.keyboard.press("6");
  await eventually(() => text(page, "#options"), /functions? changed by more than noise/);
  const parse = page.locator("main tbody tr", { hasText: "parse" }).first();
  const cells = await parse.locator("td").allInnerTexts();
  assert.match(cells[2], /^-15\.0%/);
  assert.match(cells[3], /^\u00b1\d+\.\d$/);
  assert.equal(await boxAt(page, 0.5, 0), "all");
  assert.equal(await boxAt(page, 0.1, 1), "main");
  assert.match(await text(page, "#tip"), /before.*now/);
  await page.keyboard.press("/");
  await page.keyboard.type("^odd$");
  await eventually(() => page.locator("main tr.hit .name").allInnerTexts(), ["odd"]);
});

scenario("compare zooms, inverts, and chooses in the new recording", async (page) => {
  await point(page, 0.1, 2).then((at) => page.mouse.dblclick(at.x, at.y));
  await eventually(() => boxAt(page, 0.95, 2), "load");
  assert.equal(await boxAt(page, 0.95, 1), "main");
  assert.match(await text(page, "#tip"), /a caller of what is shown/);
  assert.match((await fields(page)).zoom, /^f\d+\.f\d+$/);
  await eventually(async () => (await fields(page)).file, "1");
  await eventually(() => text(page, "#detail h2"), "load");
  assert.match(await page.title(), /later\.pyro/);
  await page.keyboard.press("Backspace");
  await eventually(async () => (await fields(page)).zoom, /^f\d+$/);
  await page.keyboard.press("i");
  await eventually(() => boxAt(page, 0.05, 1), "Condition.wait");
}, { hash: "#view=compare" });

scenario("compare says that ranges do not count", async (page) => {
  await eventually(() => text(page, "#options"), /whole recordings are compared/);
}, { hash: "#view=compare&from=0&to=100000000" });

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
  await page.locator("#search").fill("nowhere");
  await eventually(() => text(page, "#found"), "nothing found");
});

scenario("search dims and marks in every view", async (page) => {
  const alphaOfOdd = () => page.evaluate(() => document.querySelectorAll("tr.dim").length);
  for (const [key, hits] of [["2", ["odd", "odd"]], ["3", ["odd"]], ["4", ["odd"]], ["6", ["odd"]]]) {
    await page.keyboard.press(key);
    await eventually(() => page.locator("main tr.hit .name").allInnerTexts(), hits);
    assert.ok((await alphaOfOdd()) > 0, `view ${key}`);
  }
  await page.keyboard.press("5");
  await eventually(() => page.locator(".files tr.hit .name").allInnerTexts(), ["app.py"]);
  await eventually(() => page.locator(".code tr.dim").count().then((n) => n > 0), true);
  await page.keyboard.press("1");
  await page.waitForSelector(".boxes");
  await page.keyboard.press("n");
  await eventually(() => text(page, "#said"), /^odd/);
}, { hash: "#q=^odd$" });

scenario("Enter goes to the first hit", async (page) => {
  for (const key of ["1", "3", "6"]) {
    await page.keyboard.press(key);
    await page.keyboard.press("/");
    await page.locator("#search").fill("^load$");
    await page.keyboard.press("Enter");
    await eventually(() => text(page, "#said"), /load/);
    await eventually(() => text(page, "#detail h2"), "load");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    await eventually(() => page.locator("#detail").isVisible(), false);
    await page.evaluate(() => { document.getElementById("said").textContent = ""; });
  }
});

scenario("search is in the timeline", async (page) => {
  await eventually(() => footColour(page, 0.9, 0), "35,33,30");
  assert.notEqual(await footColour(page, 0.1, 0), "35,33,30");
}, { hash: "#q=^odd$" });

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
  await eventually(async () => { // what the thread did may come later than the mouse
    await page.mouse.move(at.x - 2, at.y);
    await page.mouse.move(at.x - 1, at.y);
    return text(page, "#tip");
  }, /worker\s+at 2\d\d ms: waiting for the GIL/);
  await page.mouse.click(at.x, at.y);
  await eventually(() => text(page, "#detail h2"), "worker");
  const said = await text(page, "#detail");
  assert.match(said, /waiting for the GIL/);
  assert.match(said, /held by\s+MainThread\s+in odd/);
  assert.match(said, /In all 60 samples of waiting the GIL was held by\s+100\.0%\s+MainThread in odd/);
  assert.match(said, /Condition\.wait/);
  await page.getByRole("button", { name: "Copy the stack" }).click();
  await eventually(() => text(page, "#notice"), "Copied");
  await page.locator("#detail .link", { hasText: "MainThread" }).click();
  await eventually(() => text(page, "#detail h2"), "MainThread");
  assert.match(await text(page, "#detail"), /holding the GIL[^]*odd[^]*even[^]*main/);
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
  await eventually(() => footColour(page, 0.1, 0), "232,163,61"); // holding the GIL
  await point(page, 0.1, 3).then((at) => page.mouse.click(at.x, at.y));
  await eventually(() => footColour(page, 0.1, 0), "35,33,30");
  assert.equal(await footColour(page, 0.9, 0), "232,163,61"); // there parse is not on the stack
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

scenario("a finger each", async (page) => {
  const touch = (type, id, x, y) => page.evaluate(([kind, pointerId, clientX, clientY]) => {
    const element = document.getElementById("timeline");
    element.setPointerCapture = () => {};
    element.dispatchEvent(new PointerEvent(kind, { pointerId, clientX, clientY, pointerType: "touch", bubbles: true, button: 0 }));
  }, [type, id, x, y]);
  const { y } = await page.locator("#timeline").boundingBox();
  await touch("pointerdown", 1, 200, y + 40);
  await touch("pointerdown", 2, 240, y + 40);
  await touch("pointermove", 1, 140, y + 40);
  await touch("pointermove", 2, 340, y + 40);
  await touch("pointerup", 1, 140, y + 40);
  await touch("pointerup", 2, 340, y + 40);
  await eventually(async () => { const f = await fields(page); return Math.round((f.right - f.left) / 1e6); }, 60); // 300 ms, five times closer
  assert.equal((await fields(page)).to, undefined);
  await page.touchscreen.tap(200, (await page.locator(".boxes").boundingBox()).y + 4 + 24 + 12);
  await eventually(() => text(page, "#detail h2"), "main");
  await page.getByRole("button", { name: "Close" }).tap();
  await eventually(() => page.locator("#detail").isVisible(), false);
}, { viewport: { width: 390, height: 844 }, touch: true });

scenario("markers", async (page) => {
  const at = await lane(page, 0.5, 0);
  await page.mouse.move(at.x - 1, at.y);
  await page.mouse.move(at.x, at.y);
  await eventually(() => text(page, "#tip"), /request: GET \/<b>cart<\/b>: 100 ms/);
});

scenario("tables and controls have names", async (page) => {
  for (const key of ["1", "2", "3", "4", "5", "6"]) {
    await page.keyboard.press(key);
    await page.waitForFunction((n) => document.body.dataset.ready === ["flame", "tree", "top", "sandwich", "source", "compare"][n - 1], Number(key));
    const nameless = await page.evaluate(() => {
      const named = (e) => e.getAttribute("aria-label") || e.textContent.trim() || e.closest("label") || e.title;
      const bad = [...document.querySelectorAll("button, select, input, [role=application], [tabindex='0'], table")].filter((e) => !named(e) && e.getAttribute("aria-hidden") !== "true");
      for (const table of document.querySelectorAll("table")) {
        if (!table.getAttribute("aria-label") || !table.getAttribute("aria-rowcount")) bad.push(table);
        bad.push(...[...table.querySelectorAll("th")].filter((th) => th.scope !== "col"));
      }
      return bad.map((e) => e.outerHTML.slice(0, 80));
    });
    assert.deepEqual(nameless, [], `view ${key}`);
  }
});

scenario("the engine does not hold up the page", async (page) => {
  const inPage = page.url().startsWith("file:");
  assert.equal(page.workers().length, inPage ? 1 : 0);
});

scenario("an engine without a thread", async (page) => {
  assert.equal(page.workers().length, 0);
  assert.match(await facts(page), /500 of 500 samples/);
  assert.equal(await boxAt(page, 0.1, 1), "main");
}, { init: () => { Object.defineProperty(window, "Worker", { value: class { constructor() { throw new Error("no"); } } }); } });

scenario("no request leaves the page", async (page) => {
  const blocked = await page.evaluate(async () => {
    const seen = new Set();
    addEventListener("securitypolicyviolation", (event) => seen.add(event.effectiveDirective));
    const away = "http://127.0.0.2:9/";
    await fetch(away).then(() => seen.add("fetched"), () => {});
    new Image().src = `${away}x.png`;
    try { new WebSocket("ws://127.0.0.2:9/"); } catch { /* some browsers throw */ }
    navigator.sendBeacon(away, "x");
    for (const [tag, field] of [["script", "src"], ["iframe", "src"], ["link", "href"], ["object", "data"]]) {
      const element = document.createElement(tag);
      element[field] = away;
      if (tag === "link") element.rel = "stylesheet";
      document.body.append(element);
    }
    const inline = document.createElement("script");
    inline.textContent = "window.attacked = 1";
    document.body.append(inline);
    for (let i = 0; i < 100 && seen.size < 6; i++) await new Promise((resolve) => setTimeout(resolve, 100));
    return [...seen, "attacked" in window].sort().join();
  });
  assert.equal(blocked, "connect-src,false,frame-src,img-src,object-src,script-src-elem,style-src-elem");
}, { noisy: true });

scenario("a server that has gone", async (page) => {
  if (page.url().startsWith("file:")) return; // nobody to lose
  await page.route("**/q?*", (route) => route.abort());
  await page.keyboard.press("p");
  await eventually(() => text(page, "main"), /This cannot be shown\s+The server has gone; start pyrometer view again/);
  await page.unroute("**/q?*");
  await page.keyboard.press("w");
  await eventually(() => boxAt(page, 0.1, 1), "main");
}, { noisy: true });

scenario("an unknown view in the address", async (page) => {
  assert.equal(await boxAt(page, 0.1, 1), "main");
}, { hash: "#view=nothing&from=junk&threads=x&path=f99.q" });
