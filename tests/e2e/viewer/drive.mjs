// drive.mjs ADDRESS SET [SCENARIO]...: let the scenarios of a file act on the
// viewer in Chromium. Prints a JSON object: for each its failure, or null.
// Whatever a scenario is about, errors on the console and requests to elsewhere
// are failures.
import { createRequire } from "node:module";
import { scenarios } from "./common.mjs";

const { chromium } = createRequire(import.meta.url)(process.env.PLAYWRIGHT);
const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const [address, set, ...chosen] = process.argv.slice(2);
await import(`./${set}.mjs`);
const own = new URL(address).origin;

function watch(page) {
  const problems = [];
  page.on("console", (message) => problems.push(`console ${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => problems.push(`error: ${error.stack}`));
  page.on("dialog", (dialog) => { problems.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on("request", (request) => {
    const url = request.url();
    if (/^(https?|wss?|ftp):/.test(url) && new URL(url).origin !== own) problems.push(`request: ${url}`);
  });
  return problems;
}

/** A page of its own, with what it complained about. */
async function newTab(browser, scenario) {
  const context = await browser.newContext({
    viewport: scenario.viewport ?? { width: 1280, height: 720 }, colorScheme: "light", acceptDownloads: true,
    hasTouch: scenario.touch ?? false, isMobile: scenario.touch ?? false,
  });
  if (scenario.init) await context.addInitScript(scenario.init);
  const page = await context.newPage();
  page.setDefaultTimeout(10000);
  return { page, problems: watch(page) };
}

/** Plain scenarios follow each other in one tab, which is as new: a browser
 * takes longer to make one than they do to act. */
const isPlain = ({ viewport, touch, init, alone, noisy }) => !(viewport || touch || init || alone || noisy);

async function refresh({ page, problems }) {
  await page.evaluate(() => { try { localStorage.clear(); } catch { /* a page from a disk may not */ } });
  await page.mouse.move(0, 0);
  await page.goto("about:blank");
  problems.length = 0;
}

async function play(tab, scenario) {
  const { page, problems } = tab;
  const open = async (hash = "") => {
    await page.goto("about:blank");
    await page.goto(address + hash);
    await page.waitForSelector("body[data-started], body[data-failed]");
  };
  try {
    await open(scenario.hash);
    await scenario.act(page, open);
    await page.waitForTimeout(50);
    if (problems.length && !scenario.noisy) throw new Error(problems.join("\n"));
    return null;
  } catch (error) {
    return [error.stack, ...problems].join("\n");
  }
}

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: FLAGS });
const names = Object.keys(scenarios).filter((name) => !chosen.length || chosen.includes(name));
const results = {};

async function playAll(list) {
  let kept = null;
  for (let name; (name = list.shift());) {
    const plain = isPlain(scenarios[name]);
    const tab = (plain && kept) || await newTab(browser, scenarios[name]);
    results[name] = await play(tab, scenarios[name]);
    kept = plain && results[name] === null ? tab : plain ? null : kept;
    if (tab === kept) await refresh(tab);
    else await tab.page.context().close();
  }
  await kept?.page.context().close();
}

// Most of the time is waiting: some at once, but one by one those that copy,
// since there is one clipboard.
const together = names.filter((name) => !scenarios[name].alone);
await Promise.all(Array.from({ length: 3 }, () => playAll(together)));
await playAll(names.filter((name) => scenarios[name].alone));
await browser.close();
console.log(JSON.stringify(results));
