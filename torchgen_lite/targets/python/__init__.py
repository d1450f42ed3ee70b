"""The Python target: a package of schemas, stubs, types and registrations for the dispatcher.

    <folder>/<package>/operators.py     stubs.py          <folder>/<package>/functions.py   functions.py
    <folder>/<package>/methods.py       methods.py        <folder>/<package>/ops.py         functions.py
    <folder>/<package>/register_*.py    registrations.py, key_file.py
    <folder>/<package>/nodes.py ...     differentiation.py, autograd.py, nodes.py

`overloads.py` says how a call chooses between overloads; `package.py` has names and imports.
"""
