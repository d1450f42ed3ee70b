"""The Python target: a package of schemas, stubs, types and registrations for the runtime dispatcher.

    python/<package>/schemas.py ...   stubs.py          python/<package>/functions.py   functions.py
    python/<package>/methods.py       methods.py        python/<package>/ops.py         ops.py
    python/<package>/register_*.py    registrations.py, structured.py, kernels.py
    python/<package>/nodes.py ...     differentiation.py, autograd.py, nodes.py

`views.py` and `overloads.py` work out what the templates print; `package.py` names things.
"""
