// show.mjs ADDRESS: print what a page shows, view by view, whatever it is, and
// whether anything in it came to life.
import { createRequire } from "node:module";
import { readFile } from "node:fs/promises";

const { chromium } = createRequire(import.meta.url)(process.env.PLAYWRIGHT);
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--headless", "--no-sandbox"] });
const page = await browser.newPage();
page.on("dialog", (dialog) => { console.log("dialog", dialog.message()); dialog.dismiss(); });
await page.goto(process.argv.at(-1));
await page.waitForSelector("body[data-started], body[data-failed]");

async function show() {
  console.log(await page.locator("body").innerText());
  console.log("attacked:", await page.evaluate(() => "attacked" in window));
}

await show();
for (const key of ["2", "3", "4", "5", "t"]) {
  await page.keyboard.press(key);
  await page.waitForTimeout(200);
  await show();
}
await page.keyboard.press("1");
const lane = await page.locator("#timeline").boundingBox();
await page.mouse.move(lane.x + 300, lane.y + 34); // a thread's name and a marker
await page.waitForTimeout(150);
await page.mouse.click(lane.x + 300, lane.y + 34);
await page.waitForTimeout(200);
await show();
const [file] = await Promise.all([page.waitForEvent("download"), page.keyboard.press("S")]);
const svg = await readFile(await file.path(), "utf8");
await page.evaluate((text) => { // names in a picture are text as well, and what is no XML is left out
  const parsed = new DOMParser().parseFromString(text, "image/svg+xml");
  if (parsed.querySelector("parsererror, script, img, [onload], [onerror]")) window.attacked = 1;
}, svg);
console.log("made of names:", await page.locator("main img, main script, main svg, #detail img, #tip img, body > img, select img").count());
console.log("attacked:", await page.evaluate(() => "attacked" in window));
await browser.close();
