// Two recordings of a program without phases, so that little is noise: in the
// second, parse takes half as long, what it lost is in render, and idle stays.
import assert from "node:assert/strict";
import { boxAt, boxColour, eventually, scenario, text } from "./common.mjs";

/** Orange, blue or grey. */
function meaning([r, g, b]) {
  return Math.max(r, g, b) - Math.min(r, g, b) < 16 ? "noise" : r > b ? "more" : "less";
}

scenario("changes and noise", async (page) => {
  assert.match(await text(page, "#options"), /2 functions changed by more than noise/);
  const found = {};
  for (let x = 0.01; x < 1; x += 0.03) {
    const name = await boxAt(page, x, 2);
    if (name && !(name in found)) found[name] = `${/within the noise/.test(await text(page, "#tip"))} ${meaning(await boxColour(page, x, 2))}`;
  }
  assert.deepEqual(found, { parse: "false less", render: "false more", idle: "true noise" });
  assert.deepEqual((await page.locator("main tr:not(.noise) .name").allInnerTexts()).sort(), ["parse", "render"]);
  assert.deepEqual((await page.locator("main tr.noise .name").allInnerTexts()).sort(), ["idle", "main"]);
  assert.match((await page.locator("main tbody tr", { hasText: "idle" }).locator("td").allInnerTexts())[2], / ~$/);
});

scenario("changes by dark", async (page) => {
  await page.keyboard.press("d");
  await eventually(async () => { await boxAt(page, 0.01, 2); return meaning(await boxColour(page, 0.01, 2)) !== "noise"; }, true);
});
