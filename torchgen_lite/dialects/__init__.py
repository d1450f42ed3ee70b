"""One operator in one language. Each language has the same verbs: `name`, `argument`, `returns`,
`signature`.

`text.py` writes Python literals, `python_names.py` has reserved words and
identifiers, `python_types.py` maps schema types, `python.py` maps defaults and signatures, and
`python_operators.py` is the table of Python's operators. Nothing here reads files, knows YAML or
imports a template engine.
"""
