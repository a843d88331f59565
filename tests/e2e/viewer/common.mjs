// What all scenarios use. Functions are looked for by pointing at boxes: what a
// canvas shows is what it says about the place under the pointer.
import assert from "node:assert/strict";

/**
 * `hash`: what the address ends in at first. `alone`: uses the clipboard, of
 * which there is one. `noisy`: is about something that browsers log. `init`:
 * runs in the page before all else.
 * @type {Record<string, {act: Function, hash?: string, viewport?: object, touch?: boolean, alone?: boolean, noisy?: boolean, init?: Function}>}
 */
export const scenarios = {};

export function scenario(name, act, more = {}) {
  scenarios[name] = { act, ...more };
}

export const fields = async (page) => Object.fromEntries(new URLSearchParams(new URL(page.url()).hash.slice(1)));

/** Wait until the function gives what is expected. */
export async function eventually(read, expected) {
  let seen;
  for (let i = 0; i < 150; i++) {
    seen = await read();
    if (expected instanceof RegExp ? expected.test(seen) : JSON.stringify(seen) === JSON.stringify(expected)) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  if (expected instanceof RegExp) assert.match(String(seen), expected);
  else assert.deepEqual(seen, expected);
}

export const text = (page, selector) => page.locator(selector).innerText();
export const facts = (page) => text(page, "#facts");

/** What is said about the place (x from 0 to 1, row) of a flame graph. */
export async function point(page, x, row, selector = ".boxes") {
  const area = await page.locator(selector).first().boundingBox();
  const at = { x: area.x + x * (area.width - 2) + 1, y: area.y + 4 + row * 19 + 9 };
  await page.mouse.move(at.x - 1, at.y);
  await page.mouse.move(at.x, at.y);
  return at;
}

export async function boxAt(page, x, row, selector) {
  await point(page, x, row, selector);
  return (await page.locator("#tip").isVisible()) ? page.locator("#tip b").innerText() : "";
}

export async function rows(page, column = "td:nth-last-child(2) .name") {
  return page.locator(`main tbody tr ${column}`).allInnerTexts();
}

export async function lane(page, x, row) {
  const area = await page.locator("#timeline").boundingBox();
  return { x: area.x + 170 + x * (area.width - 170), y: area.y + 22 + row * 24 + 12 };
}


/** The colour of a point of a canvas, in the page's coordinates. */
export async function pixel(page, selector, at) {
  return page.evaluate(([which, x, y]) => {
    const canvas = document.querySelector(which), area = canvas.getBoundingClientRect();
    const copy = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    copy.drawImage(canvas, x - area.left, y - area.top, 1, 1, 0, 0, 1, 1);
    return [...copy.getImageData(0, 0, 1, 1).data].slice(0, 3);
  }, [selector, at.x, at.y]);
}

/** The colour of a box, away from its name and not hovered. */
export async function boxColour(page, x, row) {
  const at = await point(page, x, row);
  await page.mouse.move(at.x, at.y + 300);
  await page.waitForTimeout(120);
  return pixel(page, ".boxes canvas", { x: at.x, y: at.y - 7 });
}

/** The colour of the foot of a thread's lane, where what is chosen is marked. */
export async function footColour(page, share, row) {
  const at = await lane(page, share, row);
  return (await pixel(page, "#timeline canvas", { x: at.x, y: at.y + 8 })).join();
}
