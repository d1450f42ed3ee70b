// The theme makes a landmark of the button of each block, all without a name; whoever jumps from one to the next finds nothing.
new MutationObserver(() => {
  for (const one of document.querySelectorAll(".md-code__nav:not([role])")) one.setAttribute("role", "presentation");
}).observe(document.body, { childList: true, subtree: true });
