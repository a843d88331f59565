// viewer.mjs ADDRESS: how long the viewer takes to its first picture, and how
// many frames a second it draws while the timeline is panned and zoomed, in
// headless Chromium. Prints one JSON object. Needs $PLAYWRIGHT and $CHROMIUM.
import { createRequire } from "node:module";

const { chromium } = createRequire(import.meta.url)(process.env.PLAYWRIGHT);
const address = process.argv[2];

/** In the page: pan by a little with every frame and note when frames come. */
async function pan(seconds) {
  const element = document.getElementById("timeline");
  const area = element.getBoundingClientRect();
  const wheel = (deltaX, deltaY) => element.dispatchEvent(new WheelEvent("wheel", {
    deltaX, deltaY, clientX: area.left + area.width / 2, clientY: area.top + 40, bubbles: true, cancelable: true }));
  for (let i = 0; i < 8; i++) wheel(0, -300);
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
      if (times.length % 60 === 30) wheel(0, 200 * direction);
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  });
  const gaps = times.slice(1).map((time, i) => time - times[i]).sort((a, b) => a - b);
  return {
    frames_a_second: Math.round((times.length - 1) / ((times.at(-1) - times[0]) / 1000) * 10) / 10,
    gap_median_ms: Math.round(gaps[gaps.length >> 1] * 10) / 10,
    gap_99th_ms: Math.round(gaps[Math.floor(gaps.length * 0.99)] * 10) / 10,
    gap_longest_ms: Math.round(gaps.at(-1) * 10) / 10,
  };
}

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--headless", "--no-sandbox", "--disable-gpu"] });
const page = await browser.newPage({ viewport: { width: 1280, height: 720 } });
await page.goto("about:blank");
await page.goto(address);
await page.waitForSelector("body[data-started], body[data-failed]", { timeout: 120000 });
const opened = await page.evaluate(() => ({
  failed: document.body.dataset.failed ?? null,
  facts: document.getElementById("facts").textContent,
  first_paint_ms: Math.round(performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? -1),
  first_picture_ms: Math.round(performance.getEntriesByName("pyrometer-shown")[0]?.startTime ?? -1),
}));
const panning = opened.failed ? {} : await page.evaluate(pan, 4);
console.log(JSON.stringify({ ...opened, ...panning }));
await browser.close();
