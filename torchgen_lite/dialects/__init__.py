"""How one operator looks in one language: the same verbs (`name`, `argument`, `returns`, `signature`) in each.

`text.py` lays text out the way black would, `python_names.py` holds reserved words and identifiers,
`python_types.py` maps schema types, `python.py` defaults and signatures, `python_operators.py` is the table of Python's
operators. Nothing here reads files, knows YAML or imports a template engine.
"""
