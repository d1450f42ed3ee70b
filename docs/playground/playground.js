// The page: what is typed goes to the worker, and what it answers is shown. Text of either is set as text, never as HTML.
import { coloredLines, makeEditor } from "./editor.js";

const $ = (id) => document.getElementById(id);
// The files that one reads first: typed functions, tests, operators, registrations.
const FIRST = [/functions\.py$/, /\/test_\w+\.py$/, /operators\.py$/, /src\/register\.cpp$/, /functions\.h$/, /operators\.h$/];
const LOADING = "Python loads: 16 MB, once. Type meanwhile ...";
const worker = new Worker("worker.js", { type: "module" });
const described = { tabindex: "0", "aria-label": "ops.yaml", "aria-describedby": "status", spellcheck: "false" };
const editor = makeEditor($("editor"), described, ask);
let view = "files";
let files = {};
let ready = false;
let running = false;
let waiting = false;

const element = (tag, text = "", properties = {}) =>
  Object.assign(document.createElement(tag), { textContent: text }, properties);

function options(select, names, chosen) {
  const same = names.length === select.length && names.every((name, i) => select.options[i].value === name);
  if (!same) select.replaceChildren(...names.map((name) => element("option", name, { value: name })));
  if (names.includes(chosen)) select.value = chosen;
}

// One request at a time; what was typed meanwhile is the next.
function ask() {
  waiting = running || !ready;
  if (!ready) $("result").classList.add("stale");
  if (waiting) return;
  running = true;
  const keys = [$("device").value, ...($("grad").checked ? [`Autograd${$("device").value}`] : [])];
  const request = { text: editor.text(), target: $("target").value, view, operator: $("operator").value, keys };
  worker.postMessage({ ...request, sent: performance.now() });
}

worker.addEventListener("error", () => fail("the worker does not load"));
worker.addEventListener("message", ({ data }) => {
  if (data.failed) return fail(data.failed);
  if (data.targets) return begin(data.targets);
  running = false;
  if (waiting) ask();
  if (data.answer.crashed) return fail(data.answer.crashed);
  show(data.answer, data.of);
  if (!running) document.body.dataset.milliseconds = performance.now() - data.of.sent;
});

function fail(reason) {
  $("status").textContent = `It does not run: ${reason.trim().split("\n").pop()}.`;
}

function begin(targets) {
  chooseTarget(targets, $("target").value);
  ready = true;
  ask();
}

function chooseTarget(targets, chosen) {
  options($("target"), targets.map(([name]) => name), chosen);
  for (const [name, about] of targets) $("target").namedItem(name)?.setAttribute("title", about);
}

function show(answer, of) {
  const errors = answer.diagnostics.filter((one) => one.severity === "error").length;
  const others = answer.diagnostics.length - errors;
  const count = (number, word) => (number ? [`${number} ${word}${number > 1 ? "s" : ""}`] : []);
  const found = [...count(errors, "error"), ...count(others, "warning")];
  const done = answer.files && !errors ? [`${Object.keys(answer.files).length} files`] : [];
  const said = [...done, ...found].join(", ") || "No mistakes";
  // Screen readers read it when it changes.
  if ($("status").textContent !== said) $("status").textContent = said;
  $("diagnostics").replaceChildren(...answer.diagnostics.map(item));
  if (of.text === editor.text()) editor.mark(answer.diagnostics.filter((one) => one.span).map(placed));
  $("result").classList.toggle("stale", errors > 0);
  if (errors) $("changed").textContent = "as before the mistake";
  else if (answer.files) showFiles(answer.files);
  else showDispatch(answer);
}

function placed({ severity, span: [from, to], code, message, fix }) {
  const actions = fix ? [{ name: "Apply", apply: () => apply(fix) }] : [];
  return { from, to, severity: severity === "error" ? "error" : "warning", message: `${code}: ${message}`, actions };
}

function item(one) {
  const list = element("li", "", { className: one.severity });
  const head = element("p", `${one.severity} `);
  head.append(element("a", one.code, { href: `../diagnostics/${one.code}/index.html` }), ": ", ...withCode(one.message));
  list.append(head, ...one.remarks.map(remark));
  if (one.span) list.append(button(`Line ${one.line}`, () => editor.select(...one.span)), " ");
  if (one.fix) list.append(button("Apply", () => apply(one.fix)));
  return list;
}

function remark(text) {
  const made = element("p");
  made.append(...withCode(text));
  return made;
}

// Text whose code is in backticks.
function withCode(text) {
  return text.split("`").map((part, place) => (place % 2 ? element("code", part) : part));
}

function button(text, action) {
  const made = element("button", text, { type: "button" });
  made.addEventListener("click", action);
  return made;
}

function apply([start, end, text]) {
  editor.replace(start, end, text);
  editor.select(start + text.length, start + text.length);
}

function showFiles(found) {
  const changed = Object.keys(found).filter((path) => path in files && files[path] !== found[path]);
  const names = Object.keys(found).sort((a, b) => rank(a) - rank(b) || a.localeCompare(b));
  options($("file"), names, names.includes($("file").value) ? $("file").value : names[0]);
  const more = changed.length > 1 ? ", ..." : "";
  $("changed").textContent = changed.length ? `${changed.length} changed: ${changed[0].split("/").pop()}${more}` : "";
  files = found;
  showFile();
}

function rank(path) {
  const place = FIRST.findIndex((kind) => kind.test(path));
  return place < 0 ? FIRST.length : place;
}

function showFile() {
  const text = files[$("file").value] ?? "";
  if ($("content").textContent !== text) $("content").replaceChildren(...coloredLines(text, $("file").value));
}

function showDispatch({ operators, operator = "", table = "", why = "" }) {
  if (operators.length) options($("operator"), operators, operator);
  $("table").textContent = table;
  $("why").textContent = why;
}

// An example has its answer with it, so that it need not wait for Python.
async function load(name) {
  const { text, target, targets, answer } = await (await fetch(`examples/${name}.json`)).json();
  chooseTarget(targets, target);
  editor.setText(text);
  files = {};
  tab("files");
  show(answer, { text });
  if (!ready) $("status").textContent = LOADING;
}

function tab(name) {
  view = name;
  for (const one of document.querySelectorAll("[role=tab]")) {
    const chosen = one.id === `${name}-tab`;
    one.setAttribute("aria-selected", chosen);
    one.tabIndex = chosen ? 0 : -1;
    $(one.getAttribute("aria-controls")).hidden = !chosen;
  }
  ask();
}

async function share() {
  const state = new URLSearchParams({ target: $("target").value, text: editor.text() });
  history.replaceState(null, "", `#${state}`);
  try {
    await navigator.clipboard.writeText(location.href);
    $("share").textContent = "Copied";
  } catch {
    $("share").textContent = "In the address bar";
  }
  setTimeout(() => ($("share").textContent = "Copy link"), 3000);
}

async function restore() {
  const state = new URLSearchParams(location.hash.slice(1));
  if (!state.has("text")) return load($("example").value);
  const { targets } = await (await fetch("examples/operators.json")).json();
  chooseTarget(targets, state.get("target") ?? "torch-python");
  editor.setText(state.get("text"));
  ask();
}

$("example").addEventListener("change", () => load($("example").value));
$("file").addEventListener("change", showFile);
$("share").addEventListener("click", share);
for (const id of ["target", "operator", "device", "grad"]) $(id).addEventListener("change", ask);
for (const name of ["files", "dispatch"]) {
  const other = name === "files" ? "dispatch" : "files";
  $(`${name}-tab`).addEventListener("click", () => tab(name));
  $(`${name}-tab`).addEventListener("keydown", (event) => {
    if (!["ArrowLeft", "ArrowRight"].includes(event.key)) return;
    tab(other);
    $(`${other}-tab`).focus();
  });
}
addEventListener("hashchange", restore);
restore();
