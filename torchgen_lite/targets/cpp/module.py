"""`module.cpp`: what makes the library importable from Python.

Note [The module of a library]
`import mylib._C` loads the shared library, and loading it runs the registrations; the module itself is
empty. It uses the limited API, so one build serves every Python from 3.10 on, and declares that it
needs no GIL. Free-threaded Python has no limited API, so the full API is used there.
"""

from __future__ import annotations

from torchgen_lite.targets.cpp.layout import Layout
from torchgen_lite.targets.output import OutputFile


def module_file(layout: Layout, module: str) -> OutputFile:
    """The file for the module `_C` of the library."""
    context = {"module": module, "namespace": layout.namespace}
    return OutputFile(layout.source("module.cpp"), "cpp/module.cpp.j2", context)
