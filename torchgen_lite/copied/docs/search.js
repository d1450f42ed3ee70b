"use strict";

const field = document.querySelector("header input");
const found = document.getElementById("found");

// Matches in the name come before those in the text, whole matches before prefixes.
function rank(entry, words) {
  if (!words.every(word => entry.text.includes(word))) return 9;
  const name = entry.name;
  const word = words[words.length - 1];
  if (name === word) return 0;
  if (name.split(".")[0] === word) return 1;
  if (name.startsWith(word)) return 2;
  return name.includes(word) ? 3 : 4;
}

function prepare() {
  const sections = [...document.querySelectorAll(".index")].map(section => {
    const namespace = section.querySelector("h2").textContent;
    const entries = [...section.querySelectorAll("li")].map(item => {
      const link = item.querySelector("a");
      const name = link.textContent.toLowerCase();
      return { item, link, name, text: `${namespace}::${item.textContent}`.toLowerCase() };
    });
    return { section, entries };
  });
  let best = null;

  function filter() {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    let least = 9;
    if (best) best.item.classList.remove("best");
    best = null;
    for (const { section, entries } of sections) {
      let here = 0;
      for (const entry of entries) {
        const place = words.length ? rank(entry, words) : 8;
        entry.item.hidden = place === 9;
        if (place === 9) continue;
        here += 1;
        if (place < least && place < 8) {
          least = place;
          best = entry;
        }
      }
      section.hidden = here === 0;
      count += here;
    }
    found.textContent = words.length ? `${count} found` : "";
    if (best) best.item.classList.add("best");
  }

  field.value = new URLSearchParams(location.search).get("q") || "";
  field.addEventListener("input", filter);
  field.form.addEventListener("submit", event => {
    event.preventDefault();
    if (best) location.href = best.link.href;
  });
  filter();
}

if (found) prepare();
document.addEventListener("keydown", event => {
  if (event.key === "/" && document.activeElement !== field) {
    event.preventDefault();
    field.focus();
  }
});
