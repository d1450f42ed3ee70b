// The theme makes a landmark of the button of each block, all without a name; whoever jumps from one to the next finds
// nothing. And where nothing hovers it takes blocks that scroll from those who have a keyboard.
new MutationObserver(() => {
  for (const one of document.querySelectorAll(".md-code__nav:not([role])")) one.setAttribute("role", "presentation");
  for (const one of document.querySelectorAll("pre > code:not([tabindex])")) one.tabIndex = 0;
}).observe(document.body, { childList: true, subtree: true, attributeFilter: ["tabindex"] });
