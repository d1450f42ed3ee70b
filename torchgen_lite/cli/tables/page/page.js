"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const CELL = 20, MISSING = 0;
let ROW = 20;
const byId = id => document.getElementById(id);
const make = (tag, props, parent) => {
  const element = Object.assign(document.createElement(tag), props);
  if (parent) parent.append(element);
  return element;
};

// Operators: what each is now and, in a comparison, what it was. A side that does not have it is null.
const side = (pattern, labels) => ({ pattern: data.patterns[pattern], labels });
const operators = data.operators.map(([name, pattern, labels], index) => {
  const now = side(pattern, labels);
  return { name, index, now, was: now };
});
if (data.before) {
  const known = new Map(operators.map(one => [one.name, one]));
  for (const name of data.before.added) known.get(name).was = null;
  for (const [name, pattern, labels] of data.before.operators) {
    const was = side(pattern, labels), here = known.get(name);
    if (here) here.was = was;
    else operators.push({ name, now: null, was });
  }
}
for (const one of operators) {
  one.lower = one.name.toLowerCase();
  [one.namespace, one.local] = one.lower.split("::");
  one.base = one.local.split(".")[0];
}
const first = one => one.namespace === "aten" ? 0 : 1;
operators.sort((a, b) => first(a) - first(b));

// What is in a slot of one side; whose it is, if there are an author's kernels over those of PyTorch.
function cellOf(side, slot) {
  if (!side) return { origin: MISSING, step: 0, source: "", label: "", whose: "" };
  const { pattern, labels } = side, key = data.keys[slot], place = pattern.source[slot];
  const origin = Number(pattern.origin[slot]), isFallback = data.origins[origin] === "backend fallback";
  const label = (isFallback ? data.fallbacks[key] : data.labels[labels[place]]) || "";
  const source = pattern.kernels[place] || key, isYours = pattern.own?.includes(source);
  const whose = pattern.own && label ? isYours ? "yours" : "PyTorch's" : "";
  return { origin, step: Number(pattern.step[slot]), source, label, whose };
}
const originOf = (side, slot) => side ? Number(side.pattern.origin[slot]) : MISSING;
function isChanged(one, slot) {
  if (one.was === one.now) return false;
  const was = cellOf(one.was, slot), now = cellOf(one.now, slot);
  return was.origin !== now.origin || was.label !== now.label || (was.label && was.source !== now.source);
}

// Neighboring keys that are alike for every operator share a column.
const alike = (p, a, b) => p.origin[a] === p.origin[b] && p.source[a] === p.source[b] && p.origin[a] !== "1";
const columns = [];
data.keys.forEach((key, slot) => {
  const last = columns[columns.length - 1];
  if (slot > 1 && data.patterns.every(p => alike(p, slot, slot - 1))) last.end = slot;
  else columns.push({ start: slot, end: slot });
});
for (const column of columns) {
  column.keys = data.keys.slice(column.start, column.end + 1);
  const many = column.keys.length;
  column.name = many > 1 ? `${column.keys[0]} .. ${column.keys[many - 1]} (${many})` : column.keys[0];
  // Above the cells there is room for one key.
  column.head = many > 1 ? `${column.keys[0]} +${many - 1}` : column.keys[0];
}

// Words to search for. An exact match comes before a prefix, a prefix before any other place.
const wordsOf = id => byId(id).value.toLowerCase().split(/\s+/).filter(Boolean);
let labels = null;
function ranking(word) {
  // Operators share labels, so each is looked at once.
  labels ??= data.labels.map(label => label.toLowerCase());
  const found = labels.map(label => label.includes(word));
  const hasLabel = side => side !== null && side.labels.some(label => found[label]);
  return one => {
    if (word === one.local || word === one.lower) return 0;
    if (word === one.base) return 1;
    const place = one.lower.indexOf(word);
    if (place === 0 || one.local.startsWith(word)) return 2;
    if (place > 0) return 3;
    return hasLabel(one.now) || hasLabel(one.was) ? 4 : Infinity;
  };
}
function columnsFor(words) {
  const found = words.flatMap(word => {
    const matches = test => columns.filter(c => c.keys.some(key => test(key.toLowerCase())));
    const tests = [key => key === word, key => key.startsWith(word), key => key.includes(word)];
    return tests.map(matches).find(some => some.length) || [];
  });
  return words.length ? columns.filter(column => found.includes(column)) : columns;
}

let shown = [], visible = columns, drawn = "", chosen = null;
const origins = new Set();
// Names are not cut: their column is as wide as the longest one, up to a limit above which names are smaller. A namespace
// that all have is left out.
const MOST = 46;
const style = document.documentElement.style, pen = make("canvas", {}).getContext("2d");
pen.font = "12px ui-monospace, monospace";
const wide = pen.measureText("m").width;
pen.font = "11px system-ui, sans-serif";
style.setProperty("--head", `${Math.ceil(Math.max(...columns.map(column => pen.measureText(column.head).width))) + 20}px`);
let isOne = false;
const nameOf = one => isOne ? one.name.split("::")[1] : one.name;
function resize() {
  const namespace = byId("namespace").value;
  const listed = operators.filter(one => !namespace || one.namespace === namespace);
  isOne = listed.every(one => one.namespace === listed[0].namespace);
  const longest = Math.max(0, ...listed.map(one => nameOf(one).length));
  style.setProperty("--name", `${Math.ceil(Math.min(longest, MOST) * wide) + 24}px`);
  ROW = parseInt(getComputedStyle(document.documentElement).getPropertyValue("--row"));
  for (const line of lines) line.one = line.one && {};
  search();
}
function search() {
  const rankings = wordsOf("search").map(ranking), namespace = byId("namespace").value, changes = byId("changes").checked;
  const before = visible;
  visible = columnsFor(wordsOf("keys"));
  const isWanted = (one, column) => (!changes || isChanged(one, column.start))
    && (!origins.size || origins.has(originOf(one.now, column.start)));
  shown = operators
    .map(one => [Math.max(0, ...rankings.map(rank => rank(one))), one])
    .filter(([score, one]) => score < Infinity && (!namespace || one.namespace === namespace)
      && ((!changes && !origins.size) || visible.some(column => isWanted(one, column))))
    .sort(([a], [b]) => a - b).map(([, one]) => one);
  byId("count").textContent = `${shown.length} of ${operators.length} operators`;
  byId("rows").style.height = `${shown.length * ROW}px`;
  byId("rows").style.minWidth = `calc(var(--name) + ${visible.length * CELL + 20}px)`;
  if (before !== visible || byId("head").childElementCount === 1) heads();
  redraw();
}
function heads() {
  byId("stripe").hidden = true;
  byId("head").replaceChildren(byId("head").firstElementChild, ...visible.map((column, index) => {
    const head = make("button", { textContent: column.head, title: `${column.name}: show this key only` });
    head.dataset.column = index;
    return head;
  }));
  for (const line of lines.splice(0)) line.element.remove();
}

// Rows are reused, as laying out new cells would take most of the time of a search. `lines` has those on the page; the
// first one shows the operator `shown[start]`.
const lines = [];
let start = 0;
function redraw() {
  drawn = "";
  for (const line of lines) line.pattern = null;
  draw();
}
function draw() {
  const grid = byId("grid"), rows = byId("rows");
  const from = Math.max(Math.floor(grid.scrollTop / ROW) - 5, 0);
  const to = Math.min(from + Math.ceil(grid.clientHeight / ROW) + 10, shown.length);
  if (drawn === `${from} ${to}`) return;
  drawn = `${from} ${to}`;
  const count = Math.max(to - from, 0), moved = from - start;
  start = from;
  // Rows that have left the window at one end serve at the other one.
  if (0 < moved && moved < lines.length) {
    const past = lines.splice(0, moved);
    rows.append(...past.map(line => line.element));
    lines.push(...past);
  } else if (moved < 0 && -moved < lines.length) {
    const past = lines.splice(moved);
    byId("stripe").after(...past.map(line => line.element));
    lines.unshift(...past);
  }
  while (lines.length < count) lines.push(newLine(rows));
  lines.forEach((line, i) => fill(line, shown[from + i], from + i));
}
const CELL_TEMPLATE = make("button", { tabIndex: -1, className: "cell" });
function newLine(parent) {
  const element = make("div", { className: "row" });
  element.setAttribute("role", "group");
  const name = make("div", { className: "name" }, element);
  const cells = visible.map((column, index) => {
    const cell = CELL_TEMPLATE.cloneNode();
    cell.dataset.column = index;
    return cell;
  });
  element.append(...cells);
  parent.append(element);
  return { element, name, cells, one: null, pattern: null };
}
function fill(line, one, index) {
  const { element, name, cells } = line;
  if (!one) {
    // Kept for the next search, out of sight: to hide it would restyle every cell.
    if (line.one === null) return;
    element.style.top = "-1000px";
    element.setAttribute("aria-hidden", true);
    const cell = element.querySelector(".chosen");
    if (cell) Object.assign(cell, { className: "cell", tabIndex: -1 });
    line.one = line.pattern = null;
    return;
  }
  element.style.top = `${index * ROW}px`;
  element.dataset.row = index;
  if (line.one === null) element.removeAttribute("aria-hidden");
  if (line.one !== one) {
    line.one = one;
    element.setAttribute("aria-label", one.name);
    name.textContent = nameOf(one);
    name.style.fontSize = `${Math.min(12, 12 * MOST / name.textContent.length)}px`;
    name.removeAttribute("title");
  }
  // Operators of a pattern have the same cells.
  const pattern = one.was === one.now && chosen?.one !== one ? one.now.pattern : null;
  if (pattern && line.pattern === pattern) return;
  line.pattern = pattern;
  cells.forEach((cell, i) => paint(cell, one, visible[i]));
}
function paint(cell, one, column) {
  const origin = originOf(one.now, column.start), changed = isChanged(one, column.start);
  const isChosen = chosen?.one === one && chosen.column === column;
  const { whose } = cellOf(one.now, column.start), said = whose ? ` (${whose})` : "";
  let kind = `cell o${origin}`, title = `${column.name}: ${data.origins[origin]}${said}`;
  if (whose === "yours") kind += " yours";
  if (changed) {
    const was = originOf(one.was, column.start);
    cell.style.setProperty("--old", `var(--o${was})`);
    kind += " changed";
    title += `, was ${data.origins[was]}`;
  }
  if (origins.size && !origins.has(origin)) kind += " dim";
  if (isChosen) kind += " chosen";
  if (cell.className !== kind) cell.className = kind;
  if (cell.title !== title) cell.title = title;
  const tabIndex = isChosen ? 0 : -1;
  if (cell.tabIndex !== tabIndex) cell.tabIndex = tabIndex;
}

// What only the panel shows comes after this script. An operator of the other side alone has none.
let details = null;
function detailsOf(one) {
  details ??= JSON.parse(byId("details").textContent);
  return details[one.index] || [];
}
function choose(one, column, key) {
  chosen = { one, column };
  const link = `#${one.name}/${key || column.keys[0]}`;
  if (decodeURIComponent(location.hash) !== link) history.replaceState(null, "", link);
  redraw();
  panel(one, column, link);
}
function panel(one, column, link) {
  const panel = byId("why");
  panel.replaceChildren();
  const title = make("h2", {}, panel);
  make("a", { textContent: one.name, title: "link to this cell" }, title).setAttribute("href", link);
  title.append(` at ${column.name}`);
  detailsOf(one).forEach((text, i) => {
    if (text) make("p", {}, panel).append(make(i ? "span" : "code", { textContent: text }));
  });
  if (data.before && one.was !== one.now) {
    make("h3", { textContent: data.before.label }, panel);
    verdict(one.was, column.start, panel);
    make("h3", { textContent: "now" }, panel);
  }
  verdict(one.now, column.start, panel);
}
function verdict(side, slot, panel) {
  if (!side) {
    make("div", { textContent: "no such operator" }, panel);
    return;
  }
  const { origin, step, source, label, whose } = cellOf(side, slot);
  const name = data.origins[origin] + (whose ? ` (${whose})` : "");
  const line = make("div", { textContent: label ? `${name}: ` : name }, panel);
  if (label) make("code", { textContent: label }, line);
  if (label && source !== data.keys[slot]) make("div", { textContent: `registered at ${source}` }, panel);
  const list = make("ol", {}, panel);
  data.rules.slice(0, step).forEach((rule, i) => {
    const held = i + 1 === step;
    make("li", { textContent: `${held ? "yes" : "no"}: ${rule}`, className: held ? "held" : "" }, list);
  });
  make("div", { textContent: "Registered:" }, panel);
  side.pattern.kernels.forEach((key, i) => {
    const line = make("div", { className: "kernel" }, panel);
    line.append(make("b", { textContent: key }), " ", make("code", { textContent: data.labels[side.labels[i]] }));
  });
}

// `#aten::add.Tensor/CUDA` is a cell, `#aten::add.Tensor` an operator.
function follow() {
  const [name, key] = decodeURIComponent(location.hash.slice(1)).split("/");
  const one = operators.find(other => other.name === name);
  if (!one) return;
  const column = columns.find(other => other.keys.includes(key)) || columns[1];
  if (!shown.includes(one) || !visible.includes(column)) {
    byId("changes").checked = false;
    unfiltered();
  }
  choose(one, column, key);
  reveal();
}
function unfiltered() {
  for (const id of ["search", "namespace", "keys"]) byId(id).value = "";
  origins.clear();
  press();
  resize();
}
function reveal() {
  const grid = byId("grid"), top = shown.indexOf(chosen.one) * ROW, left = visible.indexOf(chosen.column) * CELL;
  const head = byId("head").offsetHeight, room = grid.clientHeight - head;
  if (top < grid.scrollTop || top + ROW > grid.scrollTop + room) grid.scrollTop = top - room / 2;
  const wide = grid.clientWidth - byId("head").firstElementChild.offsetWidth;
  if (left < grid.scrollLeft || left + CELL > grid.scrollLeft + wide) grid.scrollLeft = left - wide / 2;
  draw();
}
function move(rows, cells) {
  const one = shown[shown.indexOf(chosen.one) + rows], column = visible[visible.indexOf(chosen.column) + cells];
  if (!one || !column) return;
  choose(one, column);
  reveal();
  document.querySelector(".chosen")?.focus();
}
function press() {
  for (const button of byId("legend").children) {
    button.setAttribute("aria-pressed", origins.has(Number(button.dataset.origin)));
  }
}
function point(index) {
  document.querySelectorAll("#head .here").forEach(head => head.classList.remove("here"));
  byId("stripe").hidden = index === undefined;
  if (index === undefined) return;
  byId("rows").style.setProperty("--column", index);
  byId("head").children[Number(index) + 1]?.classList.add("here");
}

// Of the kinds of cells, those that are there: an operator that one side has not is missing there.
const kinds = new Set(operators.flatMap(one => [one.was, one.now]).flatMap(one => one ? [...one.pattern.origin] : [String(MISSING)]));
data.origins.forEach((origin, code) => {
  if (!kinds.has(String(code))) return;
  const button = make("button", { textContent: origin }, byId("legend"));
  button.dataset.origin = code;
  button.style.setProperty("--color", `var(--o${code})`);
});
byId("legend").addEventListener("click", event => {
  const code = Number(event.target.dataset.origin);
  if (Number.isNaN(code)) return;
  if (!origins.delete(code)) origins.add(code);
  press();
  search();
});
const counts = new Map();
for (const one of operators) counts.set(one.namespace, (counts.get(one.namespace) || 0) + 1);
make("option", { value: "", textContent: "all namespaces" }, byId("namespace"));
for (const [name, count] of counts) make("option", { value: name, textContent: `${name} (${count})` }, byId("namespace"));
for (const key of data.keys) make("option", { value: key }, byId("names"));
byId("head").addEventListener("click", event => {
  const column = visible[event.target.dataset.column];
  if (!column) return;
  byId("keys").value = visible.length === 1 ? "" : column.keys[0];
  search();
});
byId("rows").addEventListener("click", event => {
  const one = shown[event.target.closest(".row")?.dataset.row], column = visible[event.target.dataset.column];
  if (one) choose(one, column || chosen?.column || columns[1]);
});
byId("grid").addEventListener("mouseover", event => {
  point(event.target.dataset.column);
  const one = event.target.className === "name" && shown[event.target.closest(".row")?.dataset.row];
  if (one) event.target.title = detailsOf(one)[0] || one.name;
});
byId("grid").addEventListener("mouseleave", () => point());
byId("grid").addEventListener("keydown", event => {
  const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
  if (!step || !chosen) return;
  event.preventDefault();
  move(...step);
});
for (const id of ["search", "keys", "changes"]) byId(id).addEventListener("input", search);
byId("namespace").addEventListener("input", resize);
byId("grid").addEventListener("scroll", draw);
addEventListener("resize", resize);
addEventListener("hashchange", follow);
document.querySelector(".home").addEventListener("click", unfiltered);
if (data.before) {
  byId("only").hidden = false;
  byId("changes").checked = true;
}
press();
resize();
