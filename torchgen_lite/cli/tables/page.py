"""The page of `table --html`. `@TITLE@` and `@DATA@` are filled in by `html.py`."""

PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>@TITLE@</title>
<style>
:root { color-scheme: light; --row: 20px; --name: 300px; --cell: 20px }
* { box-sizing: border-box }
body { margin: 0; height: 100vh; display: flex; flex-direction: column; font: 13px/1.4 system-ui, sans-serif;
  color: #1d2430; background: #fff }
header { padding: 10px 14px; border-bottom: 1px solid #d7dce3; display: flex; gap: 12px 18px; flex-wrap: wrap;
  align-items: center }
h1 { font-size: 15px; margin: 0 }
input { font: inherit; padding: 4px 8px; width: 260px; border: 1px solid #aab3c0; border-radius: 4px }
#count { color: #5a6575 }
#legend { display: flex; gap: 12px; flex-wrap: wrap }
#legend span::before { content: ""; display: inline-block; width: 11px; height: 11px; margin-right: 5px;
  vertical-align: -1px; background: var(--colour); border: 1px solid #0002 }
main { flex: 1; display: flex; min-height: 0 }
#grid { flex: 1; overflow: auto; position: relative }
#head { position: sticky; top: 0; z-index: 2; background: #fff; height: 250px; border-bottom: 1px solid #d7dce3 }
#head div { position: absolute; bottom: 4px; width: var(--cell); height: 240px; writing-mode: vertical-rl;
  transform: rotate(180deg); font-size: 11px; white-space: nowrap; line-height: var(--cell) }
#rows { position: relative }
.row { position: absolute; left: 0; height: var(--row); display: flex }
.name { position: sticky; left: 0; z-index: 1; width: var(--name); background: #fff; padding: 0 8px 0 14px;
  overflow: hidden; text-overflow: ellipsis; white-space: nowrap; font-family: ui-monospace, monospace; font-size: 12px }
.cell { width: var(--cell); height: var(--row); border: 1px solid #fff; background: var(--colour); padding: 0;
  cursor: pointer }
.cell:focus-visible, .cell.chosen { outline: 2px solid #1d2430; outline-offset: -1px }
aside { width: 380px; border-left: 1px solid #d7dce3; padding: 12px 14px; overflow: auto }
aside h2 { font: 600 13px ui-monospace, monospace; margin: 0 0 8px; overflow-wrap: anywhere }
aside ol { padding-left: 22px; margin: 8px 0 } aside li { margin: 3px 0; color: #5a6575 }
aside li.held { color: #1d2430; font-weight: 600 }
code { font: 12px ui-monospace, monospace; overflow-wrap: anywhere }
</style>
</head>
<body>
<header>
<h1>@TITLE@</h1>
<input id="search" type="search" placeholder="operator or kernel" aria-label="Search operators and kernels">
<span id="count"></span><span id="legend"></span>
</header>
<main><div id="grid"><div id="head"></div><div id="rows"></div></div>
<aside id="why">A click on a cell shows which rule filled it.</aside></main>
<script type="application/json" id="data">@DATA@</script>
<script>
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const COLOURS = ["#eef1f5", "#1f6fb5", "#63a6dc", "#8f6bc2", "#58a55c", "#d64545", "#e59a2f", "#c77fae", "#b9c2cd"];
const ROW = 20, CELL = 20, NAME = 300;
const byId = id => document.getElementById(id);
const make = (tag, props, parent) => {
  const element = Object.assign(document.createElement(tag), props);
  if (parent) parent.append(element);
  return element;
};

// Neighbouring keys that are alike for every operator share a column.
const same = (p, a, b) => p.origin[a] === p.origin[b] && p.source[a] === p.source[b] && p.origin[a] !== "1";
const columns = [];
data.keys.forEach((key, slot) => {
  const last = columns[columns.length - 1];
  if (slot > 1 && data.patterns.every(p => same(p, slot, slot - 1))) last.end = slot;
  else columns.push({ start: slot, end: slot });
});
for (const column of columns) {
  const first = data.keys[column.start], many = column.end - column.start + 1;
  column.name = many > 1 ? `${first} .. ${data.keys[column.end]} (${many})` : first;
}
columns.forEach((column, index) => {
  const label = make("div", { textContent: column.name, title: column.name }, byId("head"));
  label.style.left = `${NAME + index * CELL}px`;
});
const width = NAME + columns.length * CELL + 20;
byId("head").style.width = byId("rows").style.width = `${width}px`;
data.origins.forEach((origin, code) => {
  make("span", { textContent: origin }, byId("legend")).style.setProperty("--colour", COLOURS[code]);
});

let shown = [], drawn = "", chosen = "";
function search() {
  const words = byId("search").value.toLowerCase().split(/\\s+/).filter(Boolean);
  shown = data.operators.filter(([name, , kernels]) => {
    const text = `${name} ${Object.values(kernels).join(" ")}`.toLowerCase();
    return words.every(word => text.includes(word));
  });
  byId("count").textContent = `${shown.length} of ${data.operators.length} operators`;
  byId("rows").style.height = `${shown.length * ROW}px`;
  drawn = "";
  draw();
}
function draw() {
  const grid = byId("grid");
  const first = Math.max(Math.floor(grid.scrollTop / ROW) - 10, 0);
  const last = Math.min(first + Math.ceil(grid.clientHeight / ROW) + 20, shown.length);
  if (drawn === `${first} ${last}`) return;
  drawn = `${first} ${last}`;
  byId("rows").replaceChildren(...shown.slice(first, last).map((operator, i) => row(operator, first + i)));
}
function row(operator, index) {
  const [name, pattern] = operator;
  const element = make("div", { className: "row" });
  element.style.top = `${index * ROW}px`;
  make("div", { className: "name", textContent: name, title: name }, element);
  columns.forEach((column, c) => {
    const origin = data.patterns[pattern].origin[column.start];
    const cell = make("button", { className: "cell", title: `${column.name}: ${data.origins[origin]}` }, element);
    cell.style.setProperty("--colour", COLOURS[origin]);
    if (chosen === `${name} ${c}`) cell.classList.add("chosen");
    cell.setAttribute("aria-label", `${name}, ${cell.title}`);
    cell.onclick = () => {
      document.querySelectorAll(".chosen").forEach(other => other.classList.remove("chosen"));
      cell.classList.add("chosen");
      chosen = `${name} ${c}`;
      why(operator, column);
    };
  });
  return element;
}
function why([name, pattern, kernels], column) {
  const slot = column.start, p = data.patterns[pattern], key = data.keys[slot];
  const origin = data.origins[p.origin[slot]], step = Number(p.step[slot]), source = p.source[slot] || key;
  const label = origin === "backend fallback" ? data.fallbacks[key] : kernels[source];
  const panel = byId("why");
  panel.replaceChildren();
  make("h2", { textContent: `${name} at ${column.name}` }, panel);
  const verdict = make("div", { textContent: label ? `${origin}: ` : origin }, panel);
  if (label) make("code", { textContent: label }, verdict);
  if (label && source !== key) make("div", { textContent: `registered at ${source}` }, panel);
  const list = make("ol", {}, panel);
  data.rules.slice(0, step).forEach((rule, i) => {
    const held = i + 1 === step;
    make("li", { textContent: `${held ? "yes" : "no"}: ${rule}`, className: held ? "held" : "" }, list);
  });
  make("div", { textContent: "Registered:" }, panel);
  for (const [at, what] of Object.entries(kernels)) {
    make("div", {}, panel).append(`${at} `, make("code", { textContent: what }));
  }
}
byId("search").addEventListener("input", search);
byId("grid").addEventListener("scroll", draw);
addEventListener("resize", draw);
search();
</script>
</body>
</html>
"""
