"""One operator in one language. Each language has the same verbs: `name`, `argument`, `returns`,
`signature`.

`python/` and `cpp/` have a module for each way in which a framework calls operators, beside the
names, types, signatures and formulas of the language. `text.py` writes literals, `markup.py` Markdown
and HTML, `export.py` JSON. Nothing here reads files of a project, knows YAML or imports a template engine.
"""
