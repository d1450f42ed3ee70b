"""The calls that show a change, in the language of whoever makes them: see `analysis.comparison.witness`.

Where PyTorch has the operator, that is `torch.ops`. A finding about what one target generates is shown by a call of
that: of the function of a package, or of one in C++.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from torchgen_lite.analysis.comparison.sides import Writer
from torchgen_lite.analysis.comparison.witness import given_in
from torchgen_lite.analysis.finding import Witness
from torchgen_lite.analysis.operators import Operator
from torchgen_lite.analysis.program import Program
from torchgen_lite.languages.cpp import witness as cpp
from torchgen_lite.languages.cpp.signature import CppSignature
from torchgen_lite.languages.python import witness as python
from torchgen_lite.languages.python.names import identifier
from torchgen_lite.languages.text import quote
from torchgen_lite.loader.entry.entry import NativeFunction
from torchgen_lite.schema.grouped import names_of
from torchgen_lite.targets.cpp.options import LibraryOptions
from torchgen_lite.targets.cpp_torch.options import TorchOptions
from torchgen_lite.targets.generation import Generation, is_configured
from torchgen_lite.targets.options import default_namespace, default_package
from torchgen_lite.targets.output import Target
from torchgen_lite.targets.python.options import PythonOptions
from torchgen_lite.targets.signatures import (
    runtime_signatures,
    stable_signatures,
    torch_signatures,
)
from torchgen_lite.targets.torch_python.options import TorchPythonOptions

_Functions = Sequence[NativeFunction]


def witness_writer(program: Program, generation: Generation) -> Writer:
    """What writes the line of a witness; the line is empty where none shows the change."""
    named = program.config.privateuse1.lower()
    # Without an option, the name is what the backend gives it when it is loaded.
    device = quote(named) if named else "torch._C._get_privateuse1_backend_name()"
    takers = _takers(generation)

    def write(operator: Operator, witness: Witness) -> str:
        if witness.way == "import":
            return f"import {witness.value}"
        taking = takers.get(operator.name, ())
        if witness.target and witness.target not in names_of(taking):
            return ""
        target = _called(taking, witness)
        if target is None or not is_configured(program):
            return python.of_operator(operator, witness, device)
        functions = generation.select(target.name).functions
        return target.witness_of(program.config, operator, witness, functions)

    return write


def _takers(generation: Generation) -> Mapping[str, Sequence[Target]]:
    """The targets that take an operator, by its name."""
    takers: dict[str, list[Target]] = {}
    for target in generation.registering:
        for operator in generation.select(target.name).operators:
            takers.setdefault(operator.name, []).append(target)
    return takers


def _called(taking: Sequence[Target], witness: Witness) -> Target | None:
    """The target whose function is called; None where it is PyTorch's."""
    for target in taking:
        if target.name == witness.target:
            return target
    if any(target.policy.in_pytorch for target in taking):
        return None
    return next(iter(taking), None)


def of_python(
    operator: Operator, witness: Witness, options: PythonOptions, functions: _Functions
) -> str:
    function = f"{options.package}.{identifier(operator.schema.base_name)}"
    return python.of_framework(operator, witness, function)


def of_torch_python(
    operator: Operator, witness: Witness, options: TorchPythonOptions, functions: _Functions
) -> str:
    package = options.package or default_package(functions)
    return python.of_torch(operator, witness, f"{package}.{operator.schema.flat_name}")


def _in_cpp(
    signatures_of: Callable[[NativeFunction, Any], Sequence[CppSignature]],
    operator: Operator,
    witness: Witness,
    options: LibraryOptions,
    functions: _Functions,
) -> str:
    signatures = signatures_of(operator.function, options)
    if witness.way not in ("call", "full") or not signatures:
        return ""
    namespace = options.namespace or default_namespace(functions)
    return cpp.line(namespace, signatures[0], given_in(operator, witness))


def _torch_functions(function: NativeFunction, options: TorchOptions) -> Sequence[CppSignature]:
    return torch_signatures(function, options) if "function" in function.variants else ()


of_cpp_torch = partial(_in_cpp, _torch_functions)
of_cpp_stable = partial(_in_cpp, stable_signatures)
of_cpp_runtime = partial(_in_cpp, runtime_signatures)
