// A page in the system's Chromium that reports what a page must not do:
// errors, messages on the console, requests that leave the machine.
"use strict";
const { chromium } = require(process.env.PLAYWRIGHT);

const FLAGS = [
  "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic",
  "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync",
];

// Calls visit(page) on the opened address; returns what it returns, with the
// list `problems` added.
async function visit(address, visitor) {
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM, args: FLAGS,
  });
  const problems = [];
  try {
    const page = await browser.newPage({ viewport: { width: 1200, height: 700 } });
    page.on("console", (message) =>
      problems.push(`console ${message.type()}: ${message.text()}`));
    page.on("pageerror", (error) => problems.push("error: " + error.message));
    page.on("dialog", (dialog) => {
      problems.push("dialog: " + dialog.message());
      dialog.dismiss();
    });
    page.on("request", (request) => {
      if (/^(https?|wss?|ftp):/.test(request.url()))
        problems.push("request: " + request.url());
    });
    await page.goto(address);
    const seen = await visitor(page);
    return { ...seen, problems };
  } finally {
    await browser.close();
  }
}

module.exports = { visit };
