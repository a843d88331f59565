// Use a flame graph as a person does:
//   node flamegraph.js SVG FUNCTION PATTERN
// zooms to FUNCTION, goes back, searches for PATTERN; prints what was seen.
"use strict";
const { visit } = require("./browser.js");

const [svg, name, pattern] = process.argv.slice(2);

// The frames that are shown, in percent of the width.
function shown(page) {
  return page.$$eval("#frames rect", (rects) => rects
    .filter((rect) => rect.style.display !== "none")
    .map((rect) => ({
      x: parseFloat(rect.getAttribute("x")),
      width: parseFloat(rect.getAttribute("width")),
      className: rect.getAttribute("class"),
    })));
}

function labels(page) {
  return page.$$eval("#frames text", (texts) => texts
    .filter((text) => text.style.display !== "none")
    .map((text) => text.textContent));
}

// What the tip beside the pointer says of the frame that carries this label.
async function hover(page, label) {
  const text = page.locator("#frames text", { hasText: label }).first();
  const box = await text.boundingBox();
  await page.mouse.move(box.x + 3, box.y + 3);
  return page.$$eval("#tip text", (lines) => lines.map((line) => line.textContent));
}

async function search(page, text) {
  await page.keyboard.press("/");
  await page.keyboard.type(text);
  const matched = await page.textContent("#matched");
  return {
    matched,
    hits: (await page.$$("#frames rect.hit")).length,
    wrong: (await page.$$("#search.wrong")).length,
  };
}

async function use(page) {
  const seen = { all: await shown(page), labels: await labels(page) };
  seen.tip = await hover(page, name);
  await page.mouse.down();
  await page.mouse.up();
  seen.zoomed = await shown(page);
  seen.zoomedLabels = await labels(page);
  await page.keyboard.press("Escape");
  seen.back = await shown(page);
  seen.search = await search(page, pattern);
  await page.keyboard.press("Escape");
  seen.cleared = await search(page, "");
  await page.keyboard.press("Escape");
  seen.wrong = await search(page, "(");
  await page.click("#reset");
  await page.keyboard.press("Control+f");
  seen.focus = await page.evaluate(() => document.activeElement.id);
  seen.elements = await page.evaluate(() => [
    ...new Set([...document.querySelectorAll("*")].map((e) => e.localName))]);
  seen.attacked = await page.evaluate(() => Boolean(window.attacked));
  return seen;
}

visit("file://" + svg, use).then((seen) => console.log(JSON.stringify(seen)));
