// Uses the playground as a reader does: `node playground.mjs CHROMIUM ADDRESS [PICTURE]`. test_playground.py serves it.
import assert from "node:assert/strict";
import { createRequire } from "node:module";

const require = createRequire(new URL("../../docs/playground/package.json", import.meta.url));
const { chromium } = require("playwright-core");
const [, , executablePath, address, picture] = process.argv;
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
const requests = [];
const said = [];
context.on("request", (request) => requests.push(request.url()));
context.on("console", (message) => said.push(message.text()));
context.on("weberror", (error) => said.push(String(error.error())));
const page = await context.newPage();
// Only a machine that does nothing else is fast.
context.setDefaultTimeout(300_000);

const status = (text) => page.waitForFunction((t) => document.querySelector("#status").textContent.includes(t), text);
const content = () => page.textContent("#content");
const typed = async (one) => (await one.locator(".cm-line").allTextContents()).join("\n");
// Puts a text into the editor, as the clipboard does.
async function write(text) {
  await page.focus(".cm-content");
  await page.keyboard.press("Control+A");
  await page.evaluate((pasted) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", pasted);
    const event = new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true });
    document.querySelector(".cm-content").dispatchEvent(event);
  }, text);
}
const replace = async (old, text) => {
  const before = await typed(page);
  assert.equal(before.split(old).length, 2, `${old} is there once`);
  await write(before.replace(old, text));
};
const boxes = () =>
  page.evaluate(() =>
    ["header", "#editor", "#diagnostics", "#content", "#share"].map((one) => {
      const { x, y, width, height } = document.querySelector(one).getBoundingClientRect();
      return [one, x, y, width, height];
    }),
  );

async function mistakes(where) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run());
  assert.deepEqual(violations.map((one) => [where, one.id, one.nodes.map((node) => node.html)]), []);
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(overflow <= 0, `${where}: ${overflow} pixels too wide`);
}
const axe = require("axe-core").source;

// What one sees first, while Python has not even begun to load.
let release;
const held = new Promise((resolve) => (release = resolve));
await context.route("**/pyodide/*", async (route) => {
  await held;
  await route.continue();
});
const start = performance.now();
await page.goto(address);
await page.waitForFunction(() => document.querySelector("#content").textContent.includes("def muladd(a: Tensor"));
console.log(`first output: ${Math.round(performance.now() - start)} ms`);
assert.match(await page.textContent("#status"), /^Python loads/);
assert.equal(await page.inputValue("#target"), "torch-python");
assert.match(await page.inputValue("#file"), /functions\.py$/);
const files = await page.locator("#file option").allTextContents();
assert.match(files[1], /\/test_mylib_ops\.py$/);
assert.ok((await page.locator("#content .tok-keyword").count()) > 3);
const empty = await boxes();
// Both panes end where the window does, but for the foot.
const end = ([, , y, , height]) => Math.round(y + height);
assert.equal(end(empty[2]), end(empty[3]));
assert.ok(end(empty[3]) > 840, `${empty}`);
await mistakes("before Python");
release();
await status("files");
console.log(`Python: ${Math.round(performance.now() - start)} ms`);

// A mistake, where it is, beside what was there before, and the way back.
await replace("float s) -> Tensor", "flaot s) -> Tensor");
await status("1 error");
assert.match(await page.textContent("#diagnostics"), /error TG202: unknown type flaot.*did you mean float\?/s);
assert.equal(await page.textContent(".cm-lintRange-error"), "flaot");
assert.equal(await page.locator(".cm-lint-marker-error").count(), 1);
assert.ok(await page.locator("#result.stale").count());
assert.match(await content(), /def muladd\(a: Tensor, b: Tensor, s: float\)/);
assert.deepEqual(await boxes(), empty);
await mistakes("a mistake");
await page.getByRole("button", { name: /^Line / }).click();
assert.equal(await page.evaluate(() => getSelection().toString()), "flaot");
await page.getByRole("button", { name: "Apply" }).click();
await status("files");
assert.equal(await page.locator("#diagnostics li").count(), 0);
assert.equal(await page.locator("#result.stale").count(), 0);
assert.deepEqual(await boxes(), empty);

// A change changes the files.
await replace("mylib::minmax", "mylib::extremes");
await page.waitForFunction(() => document.querySelector("#content").textContent.includes("def extremes("));
assert.match(await page.textContent("#changed"), /^\d+ changed: /);

// By keyboard: the other tab has the table and why.
await page.focus("#files-tab");
await page.keyboard.press("ArrowRight");
await page.waitForFunction(() => document.querySelector("#why").textContent.includes("=> kernel: muladd_cpu"));
assert.match(await page.textContent("#table"), /CUDA +kernel +muladd_cuda/);
if (picture) await page.screenshot({ path: `${picture}/dispatch.png` });
await page.uncheck("#grad");
await page.selectOption("#device", "CUDA");
await page.waitForFunction(() => document.querySelector("#why").textContent.includes("=> kernel: muladd_cuda"));
assert.match(await page.textContent("#why"), /called with CUDA\n/);

// The link carries the text.
await page.getByRole("button", { name: "Copy link" }).click();
await page.waitForFunction(() => location.hash.includes("extremes"));
const other = await context.newPage();
await other.goto(page.url());
await other.waitForFunction(() => document.querySelector(".cm-content")?.textContent.includes("mylib::extremes"));
assert.equal(await typed(other), await typed(page));
await other.close();

// Each example works, in both schemes, on a phone and a desk.
for (const example of ["operators", "backend", "library"]) {
  await page.click("#files-tab");
  await page.selectOption("#example", example);
  await page.waitForFunction(() => /files/.test(document.querySelector("#status").textContent));
  for (const colorScheme of ["light", "dark"]) {
    for (const width of [390, 1280]) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 844 });
      await mistakes(`${example}, ${colorScheme}, ${width}`);
      if (picture) await page.screenshot({ path: `${picture}/${example}-${colorScheme}-${width}.png` });
    }
  }
  await page.click("#dispatch-tab");
  await page.waitForFunction(() => document.querySelector("#table").textContent.length > 0);
  await mistakes(`${example}, dispatch`);
}

// How long a keystroke takes, with ten operators.
await page.click("#files-tab");
await page.selectOption("#example", "operators");
await page.waitForFunction(() => document.querySelector(".cm-content").textContent.includes("muladd"));
const four = await typed(page);
await write(four + four.replaceAll("mylib::", "mylib::b_") + four.replace(/- func: mylib::(minmax|rms)[^]*/, "").replaceAll("mylib::", "mylib::c_"));
await status("files");
const times = [];
await page.keyboard.press("Control+End");
for (const key of "# typed at the end") {
  await page.keyboard.press(key === " " ? "Space" : key);
  await page.waitForTimeout(150);
  times.push(Number(await page.evaluate(() => document.body.dataset.milliseconds)));
}
console.log(`a keystroke: ${Math.round(times.sort((a, b) => a - b)[times.length >> 1])} ms`);
const again = performance.now();
await page.reload();
await status("files");
console.log(`first output, again: ${Math.round(performance.now() - again)} ms`);

const home = new URL(address).origin;
assert.deepEqual(requests.filter((url) => !url.startsWith(home)), []);
assert.deepEqual(said, []);
await browser.close();
