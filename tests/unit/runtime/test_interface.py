"""`INTERFACE` is the number of the interface that generated code uses; a change needs a new number."""

from __future__ import annotations

import inspect
import re

from tests.conftest import ROOT
from torchgen_lite import runtime
from torchgen_lite.languages.python.formula import ARITHMETIC
from torchgen_lite.runtime.interface import INTERFACE

TEMPLATES = {path.name: path.read_text() for path in (ROOT / "templates/python").glob("*.j2")}
# The methods that generated code calls.
METHODS = (
    runtime.Dispatcher.rename_privateuse1,
    runtime.Library.define_stubs,
    runtime.Library.impl,
    runtime.Library.impl_deferred,
    runtime.OperatorHandle.as_tuple,
    runtime.OperatorHandle.resolve,
    runtime.OperatorHandle.resolve_redispatch,
)
EXPECTED = """
Candidate(stub, types, out=None, out_names=('out',), varargs=None)
DispatchKeySet(*keys)
Dispatcher()
Library(namespace, kind, dispatch_key='', dispatcher=None, *, debug=None)
below_adinplaceorview: StateBelow
below_autograd: StateBelow
check_interface(made_for, package, remedy='')
fallthrough_kernel(*arguments, **keywords)
list_keyset(values)
local_state: builtin_function_or_method
optional_keyset(value)
packet(qualname, *candidates)
quotient(a, b)
real_number(value)
redispatch_packet(function)
remainder(a, b)
row_kernel: _lru_cache_wrapper
set_local_state: builtin_function_or_method
uncovered(of, /, **given)
with_overloads(function, /, **overloads)
Dispatcher.rename_privateuse1(self, name)
Library.define_stubs(self, schema, kinds, call, redispatch, tags=(), returns=1, sized=mappingproxy({}))
Library.impl(self, name, fn, dispatch_key='', *, with_keyset=False, allow_override=True, debug=None)
Library.impl_deferred(self, load, kernels, *, with_keyset=False)
OperatorHandle.as_tuple(self, position, value)
OperatorHandle.resolve(self, *arguments)
OperatorHandle.resolve_redispatch(self, keyset)
"""


def described(name: str, value: object) -> str:
    if not inspect.isfunction(value) and not inspect.isclass(value):
        return f"{name}: {type(value).__name__}"
    parameters = inspect.signature(value).parameters.values()
    plain = [p.replace(annotation=inspect.Parameter.empty) for p in parameters]
    return f"{name}{inspect.Signature(plain)}"


def test_what_generated_code_calls() -> None:
    imported = re.findall(r"from \{\{ runtime \}\} import (.*)", "\n".join(TEMPLATES.values()))
    # One name is imported only where it is needed: `Library{{ ", fallthrough_kernel as _f" if … }}`.
    plain = [re.sub(r"\{\{ \"(.*?)\".*?\}\}", r"\1", line) for line in imported if "{%" not in line]
    names = {part.split(" as ")[0] for line in plain for part in line.split(", ")}
    # `nodes.py` imports what its formulas calculate with.
    names |= {*ARITHMETIC.values(), "real_number"}
    lines = [described(name, getattr(runtime, name)) for name in sorted(names)]
    lines += [described(method.__qualname__, method) for method in METHODS]
    assert lines == EXPECTED.strip().splitlines()


def test_the_templates_and_the_second_distribution_have_the_number() -> None:
    handed_on = (ROOT / "runtime/torchgen_lite_runtime/__init__.py").read_text()
    for text in (TEMPLATES["package.py.j2"], handed_on):
        assert f"check_interface({INTERFACE}, __name__" in text
