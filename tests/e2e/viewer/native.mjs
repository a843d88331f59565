// Native and kernel code beside Python, in the recording of test_view.py.
import assert from "node:assert/strict";
import { boxAt, boxColour, eventually, rows, scenario, text } from "./common.mjs";

scenario("where native code is", async (page) => {
  assert.equal(await boxAt(page, 0.1, 4), "matrix_product");
  assert.match(await text(page, "#tip"), /multiarray\/module\.c:930 in _umath\.cpython-312\.so/);
  assert.equal(await boxAt(page, 0.1, 5), "cblas_dgemm");
  assert.match(await text(page, "#tip"), /libblas\.so\.3/);
  assert.equal(await boxAt(page, 0.8, 4), "ksys_read");
  assert.match(await text(page, "#tip"), /kernel/);
});

scenario("colour by kind", async (page) => {
  assert.match(await text(page, ".legend"), /native/);
  assert.match(await text(page, ".legend"), /kernel/);
  const [own, library, native, kernel] = [await boxColour(page, 0.95, 1), await boxColour(page, 0.4, 3), await boxColour(page, 0.55, 4), await boxColour(page, 0.85, 4)];
  assert.equal(new Set([own, library, native, kernel].map(String)).size, 4, [own, library, native, kernel].join(" "));
}, { hash: "#colour=kind" });

scenario("colour by module", async (page) => {
  const said = await text(page, ".legend");
  for (const name of ["libblas", "numpy", "kernel", "your code"]) assert.ok(said.includes(name), said);
});

scenario("in tables", async (page) => {
  assert.deepEqual(await rows(page), ["cblas_dgemm", "ksys_read", "matrix_product", "main", "train", "dot", "load", "os_read"]);
  const cells = await page.locator("main tbody tr").nth(0).locator("td").allInnerTexts();
  assert.match(cells[6], /cblas_dgemm\s+libblas\.so\.3/);
  assert.equal(cells[7], "libblas");
  await page.keyboard.press("m");
  await eventually(() => rows(page), ["train", "load", "main"]);
}, { hash: "#view=top" });

scenario("search by library", async (page) => {
  await eventually(() => text(page, "#found"), /^1 in 62\.5%/);
}, { hash: "#q=umath.*so$" });

scenario("source of C", async (page) => {
  await page.keyboard.press("b");
  await eventually(() => text(page, "#options"), /\/build\/numpy\/multiarray\/module\.c/);
  const line = page.locator(".code tbody tr.own td");
  assert.deepEqual((await line.allInnerTexts()).map((cell) => cell.trim()), ["12.5%", "62.5%", "4", "return <script>gemm()</script>;"]);
  assert.deepEqual(await page.locator(".files tbody .name").allInnerTexts(), ["multiarray/module.c", "app.py", "numpy/linalg.py", "Modules/posix.c"]);
}, { hash: "#view=top&function=3" });

scenario("details of native code", async (page) => {
  await eventually(() => text(page, "#detail"), /cblas_dgemm\s+libblas\.so\.3\s+native, libblas/);
  assert.equal(await page.getByRole("button", { name: "Source", exact: true }).isDisabled(), true);
}, { hash: "#function=4" });
