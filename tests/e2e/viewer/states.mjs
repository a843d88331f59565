// What is shown when there is nothing to show, and why. Each scenario has a page
// of its own, made by test_view.py.
import assert from "node:assert/strict";
import { boxAt, eventually, facts, scenario, text } from "./common.mjs";

const failed = (why) => async (page) => {
  const said = await text(page, "main");
  assert.match(said, /^This recording cannot be shown/);
  assert.match(said, why);
  assert.equal(await page.locator("#timeline").isVisible(), false);
  assert.equal(await page.locator("[role=tab]").count(), 0);
};

scenario("corrupt", failed(/broken\.pyro: .*not a (Pyrometer )?recording/i));
scenario("without engine", failed(/was saved without its engine/));
scenario("without recording", failed(/was saved without its recording/));
scenario("without WebAssembly", failed(/has no WebAssembly/), { init: () => { delete window.WebAssembly; } });
scenario("old browser", failed(/too old to unpack/), { init: () => { delete window.DecompressionStream; } });

scenario("empty", async (page) => {
  assert.match(await text(page, "main"), /No samples here/);
  for (const [key, said] of [["2", /No samples here/], ["3", /No samples here/], ["4", /No samples here/], ["5", /No lines here/], ["6", /One recording only/]]) {
    await page.keyboard.press(key);
    await eventually(() => text(page, "main"), said);
  }
});

scenario("broken off", async (page) => {
  assert.match(await text(page, "#filters .warning"), /was not finished/);
  assert.match(await facts(page), /^500 of 500 samples/);
  assert.equal(await boxAt(page, 0.1, 1), "main");
});

scenario("nothing in the window", async (page) => {
  assert.match(await text(page, "main"), /No samples here/);
  await page.keyboard.press("o");
  await eventually(() => text(page, "main"), /Nothing was seen here/);
  await page.keyboard.press("Escape");
  await eventually(() => page.locator(".boxes").isVisible(), true);
}, { hash: "#from=400000000&to=400000001" });

scenario("without source", async (page) => {
  assert.match(await text(page, "#options"), /does not carry the text of this file/);
  assert.match(await text(page, ".code"), /21\s+in parse/);
}, { hash: "#view=source" });

scenario("a file that nobody knows", async (page) => {
  assert.match(await text(page, "main"), /neither lines nor text/);
}, { hash: "#view=source&source=/nowhere.py" });
