"""Target `docs`: a reference of the operators, a page for each, in Markdown or as a small site."""
