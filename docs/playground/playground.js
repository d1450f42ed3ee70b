// The page: what is typed goes to the worker, and what it answers is shown. Text of either is set as text, never as HTML.
const $ = (id) => document.getElementById(id);
const TARGET = { operators: "cpp-torch", backend: "cpp-torch", library: "python" };
const worker = new Worker("worker.js", { type: "module" });
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
  if (waiting) return;
  running = true;
  const keys = [$("device").value, ...($("grad").checked ? [`Autograd${$("device").value}`] : [])];
  const request = { text: $("text").value, target: $("target").value, view, operator: $("operator").value, keys };
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
  const help = ready ? "" : " This copy of the site may be built without Pyodide; docs/playground/README.md says how.";
  $("status").textContent = `It does not run: ${reason.trim().split("\n").pop()}.${help}`;
}

function begin(targets) {
  const chosen = $("target").dataset.chosen;
  $("target").replaceChildren(...targets.map(([name, about]) => element("option", `${name}: ${about}`, { value: name })));
  $("target").value = chosen;
  $("target").disabled = false;
  ready = true;
  ask();
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
  if (of.text === $("text").value) mark(answer.diagnostics);
  if (answer.files && !errors) showFiles(answer.files);
  if (answer.operators) showDispatch(answer);
}

function item(one) {
  const list = element("li", "", { className: one.severity });
  const head = element("p", `${one.severity} `);
  head.append(element("a", one.code, { href: `../diagnostics/${one.code}/index.html` }), `: ${one.message}`);
  list.append(head, ...one.remarks.map((remark) => element("p", remark)));
  if (one.span) list.append(button(`Line ${one.line}`, () => goTo(one.span)), " ");
  if (one.fix) list.append(button("Apply", () => apply(one.fix)));
  return list;
}

function button(text, action) {
  const made = element("button", text, { type: "button" });
  made.addEventListener("click", action);
  return made;
}

function goTo([start, end]) {
  $("text").focus();
  $("text").setSelectionRange(start, end);
}

function apply([start, end, text]) {
  $("text").setRangeText(text, start, end, "end");
  $("text").focus();
  edited();
}

function mark(diagnostics) {
  const text = $("text").value;
  const parts = [];
  let at = 0;
  for (const { span, severity } of diagnostics.filter((one) => one.span).sort((a, b) => a.span[0] - b.span[0])) {
    if (span[0] < at) continue;
    parts.push(text.slice(at, span[0]), element("mark", text.slice(...span), { className: severity }));
    at = span[1];
  }
  $("marks").replaceChildren(...parts, text.slice(at), "\n");
  scroll();
}

function scroll() {
  $("marks").scrollTop = $("text").scrollTop;
  $("marks").scrollLeft = $("text").scrollLeft;
}

function showFiles(found) {
  const changed = Object.keys(found).filter((path) => path in files && files[path] !== found[path]);
  const names = Object.keys(found).sort();
  const first = names.find((name) => /operators|register_?\w*\.cpp$/.test(name)) ?? names[0];
  options($("file"), names, names.includes($("file").value) ? $("file").value : first);
  if (changed.length) $("changed").textContent = `${changed.length} changed: ${changed[0].split("/").pop()}${changed.length > 1 ? ", ..." : ""}`;
  files = found;
  showFile();
}

function showFile() {
  const text = files[$("file").value] ?? "";
  if ($("content").textContent !== text) $("content").textContent = text;
}

function showDispatch({ operators, operator = "", table = "", why = "" }) {
  if (operators.length) options($("operator"), operators, operator);
  $("table").textContent = table;
  $("why").textContent = why;
}

function edited() {
  $("marks").replaceChildren();
  ask();
}

async function load(name) {
  $("text").value = await (await fetch(`examples/${name}.yaml`)).text();
  $("target").dataset.chosen = TARGET[name];
  $("target").value = TARGET[name];
  $("text").scrollTop = 0;
  files = {};
  $("changed").textContent = "";
  edited();
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
  const state = new URLSearchParams({ target: $("target").value, text: $("text").value });
  history.replaceState(null, "", `#${state}`);
  try {
    await navigator.clipboard.writeText(location.href);
    $("share").textContent = "Link copied";
  } catch {
    $("share").textContent = "Link is in the address bar";
  }
  setTimeout(() => ($("share").textContent = "Copy link"), 3000);
}

function restore() {
  const state = new URLSearchParams(location.hash.slice(1));
  if (!state.has("text")) return load($("example").value);
  $("text").value = state.get("text");
  $("target").dataset.chosen = $("target").value = state.get("target") ?? TARGET.operators;
  edited();
}

$("text").addEventListener("input", edited);
$("text").addEventListener("scroll", scroll);
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
