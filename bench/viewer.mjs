// viewer.mjs ADDRESS: how long the viewer takes to its first picture, and how
// many frames a second it draws while the timeline is panned and zoomed, in
// headless Chromium; then every view is looked at once, for what that costs
// others. With "speedscope" as a second argument, the same of that: until it has
// drawn the profile that its address names. Prints one JSON object. Needs
// $PLAYWRIGHT and $CHROMIUM.
import { createRequire } from "node:module";

const { chromium } = createRequire(import.meta.url)(process.env.PLAYWRIGHT);
const [address, other] = process.argv.slice(2);

/** In the page: pan by a little with every frame and note when frames come. */
async function pan([selector, seconds]) {
  const element = document.querySelector(selector);
  const area = element.getBoundingClientRect();
  const wheel = (deltaX, deltaY, ctrlKey = false) => element.dispatchEvent(new WheelEvent("wheel", {
    deltaX, deltaY, ctrlKey, clientX: area.left + area.width / 2, clientY: area.top + 40, bubbles: true, cancelable: true }));
  for (let i = 0; i < 8; i++) wheel(0, -300, true);
  await new Promise((resolve) => setTimeout(resolve, 800));
  const times = [];
  const start = performance.now();
  let direction = 1;
  await new Promise((resolve) => {
    const frame = (now) => {
      times.push(now);
      if (now - start > seconds * 1000) return resolve(null);
      if (times.length % 120 === 0) direction = -direction;
      wheel(direction * 25, 0);
      if (times.length % 60 === 30) wheel(0, 200 * direction, true);
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  });
  const gaps = times.slice(1).map((time, i) => time - times[i]).sort((a, b) => a - b);
  return {
    frames_a_second: (times.length - 1) / ((times.at(-1) - times[0]) / 1000),
    gap_99th_ms: gaps[Math.floor(gaps.length * 0.99)],
    gap_longest_ms: gaps.at(-1),
  };
}

async function openViewer(page) {
  await page.goto(address);
  await page.waitForSelector("body[data-started], body[data-failed]", { timeout: 120000 });
  const opened = await page.evaluate(() => ({
    failed: document.body.dataset.failed ?? null,
    first_picture_ms: performance.getEntriesByName("pyrometer-shown")[0]?.startTime ?? -1,
  }));
  if (opened.failed) throw new Error(await page.locator("main").innerText());
  return opened;
}

/** It has drawn when the button that goes to its second view is there. */
async function openSpeedscope(page) {
  await page.goto(address);
  await page.getByText("Left Heavy").waitFor({ timeout: 240000 });
  return { first_picture_ms: await page.evaluate(() => performance.now()) };
}

async function seeAll(page) {
  for (const key of ["2", "3", "4", "5", "1", "t", "i", "o"]) {
    await page.keyboard.press(key);
    await page.waitForTimeout(100);
    await page.waitForFunction(() => document.querySelector("main > *"), null, { timeout: 120000 });
  }
  await page.waitForTimeout(1000);
}

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--headless", "--no-sandbox", "--disable-gpu"] });
const page = await browser.newPage({ viewport: { width: 1280, height: 720 } });
await page.goto("about:blank");
const opened = await (other ? openSpeedscope : openViewer)(page);
const panning = await page.evaluate(pan, [other ? "canvas" : "#timeline", 4]);
if (!other) await seeAll(page);
console.log(JSON.stringify({ ...opened, ...panning }));
await browser.close();
