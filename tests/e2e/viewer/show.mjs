// show.mjs ADDRESS: print what a page shows, view by view, whatever it is.
import { createRequire } from "node:module";
const { chromium } = createRequire(import.meta.url)(process.env.PLAYWRIGHT);
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--headless", "--no-sandbox"] });
const page = await browser.newPage();
await page.goto(process.argv.at(-1));
await page.waitForSelector("body[data-started], body[data-failed]");
console.log(await page.locator("main").innerText());
console.log("attacked:", await page.evaluate(() => "attacked" in window));
for (const key of ["2", "3", "4", "5", "t"]) {
  await page.keyboard.press(key);
  await page.waitForTimeout(150);
  console.log(await page.locator("main").innerText());
}
console.log("attacked:", await page.evaluate(() => "attacked" in window));
await browser.close();
