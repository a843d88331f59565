// Load a profile into speedscope itself and say what it understood:
//   node speedscope.js RELEASE_FOLDER PROFILE
// prints {"title", "threads": [[number, name, total]...], of the thread that is
// shown first "functions": [[total, self, name]...], "problems"}.
"use strict";
const path = require("path");
const { visit } = require("./browser.js");

const [folder, profile] = process.argv.slice(2);

// The rows of the tables in the page, without their headings.
function readCells(page) {
  return page.$$eval("table tr", (rows) => rows
    .map((row) => [...row.querySelectorAll("td")].map((cell) => cell.innerText))
    .filter((cells) => cells.length === 3));
}

async function read(page) {
  await page.setInputFiles("input[type=file]", profile);
  await page.getByText("Sandwich").first().click();
  await page.getByText("Symbol Name").waitFor();
  const cells = await readCells(page);
  return {
    title: await page.title(),
    threads: cells.filter(([number]) => /^\d+$/.test(number)),
    functions: cells.filter(([total]) => !/^\d+$/.test(total)),
  };
}

visit("file://" + path.join(folder, "index.html"), read)
  .then((seen) => console.log(JSON.stringify(seen)));
