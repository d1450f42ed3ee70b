"""How an operator is called in a target's generated code, mainly for editors.

def add(self: Tensor, other: Tensor, *, alpha: Number = 1) -> Tensor: ...
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from torchgen_lite.languages.cpp import public, runtime, stable
from torchgen_lite.languages.cpp.signature import CppSignature
from torchgen_lite.languages.cpp.torch_types import base_type
from torchgen_lite.languages.python import runtime as python
from torchgen_lite.languages.python import torch_library, torch_ops
from torchgen_lite.languages.python.names import identifier
from torchgen_lite.languages.python.signature import Annotation, Parameter, returned
from torchgen_lite.targets.cpp_torch.types import own_types
from torchgen_lite.targets.output import Signatures

if TYPE_CHECKING:
    from torchgen_lite.loader.entry.entry import NativeFunction
    from torchgen_lite.targets.cpp_runtime.options import RuntimeOptions
    from torchgen_lite.targets.cpp_torch.options import TorchOptions


def of_python(function: NativeFunction, options: object) -> Signatures:
    """The function of the package."""
    schema = function.func
    name = identifier(schema.base_name)
    return _python(name, python.parameters(schema), returned(python.returns(schema.returns)))


def of_torch_python(function: NativeFunction, options: object) -> Signatures:
    """The typed function; it has the overload in its name."""
    schema = function.func
    parameters = torch_library.parameters(schema)
    return _python(schema.flat_name, parameters, torch_ops.returns_type(schema))


def of_torch_stubs(function: NativeFunction, options: object) -> Signatures:
    """The call of the overload's handle."""
    schema = function.func
    return _python("__call__", torch_ops.parameters(schema), torch_ops.returns_type(schema))


def torch_signatures(function: NativeFunction, options: TorchOptions) -> Sequence[CppSignature]:
    """The functions with defaults, and the faithful ones, then the methods, with the author's classes in place of the
    schema's."""
    signatures = public.signatures(function)
    if not options.types:
        return signatures
    classes = {base_type(name): type_ for name, type_ in options.types.items()}
    return [own_types(function, signature, classes) for signature in signatures]


def stable_signatures(function: NativeFunction, options: object) -> Sequence[CppSignature]:
    """The function; none with a type that the stable ABI does not carry."""
    schema = function.func
    given = any(stable.unsupported(a.type) for a in schema.arguments)
    if given or any(stable.unsupported_result(r.type) for r in schema.returns):
        return []
    return [stable.signature(schema)]


def runtime_signatures(function: NativeFunction, options: RuntimeOptions) -> Sequence[CppSignature]:
    """The function, in the types of the framework; none where it has no name for one of them."""
    schema = function.func
    types = options.framework
    if any(runtime.missing(type_, types) for type_ in schema.types):
        return []
    return [runtime.signature(schema, types)]


def _python(name: str, parameters: Sequence[Parameter], returns: Annotation) -> Signatures:
    listed = ", ".join(map(str, parameters))
    return Signatures("python", (f"def {name}({listed}) -> {returns}: ...",))


def _in_cpp(
    signatures_of: Callable[[NativeFunction, Any], Sequence[CppSignature]],
    function: NativeFunction,
    options: object,
) -> Signatures:
    return Signatures("cpp", [f"{signature};" for signature in signatures_of(function, options)])


of_cpp_torch = partial(_in_cpp, torch_signatures)
of_cpp_stable = partial(_in_cpp, stable_signatures)
of_cpp_runtime = partial(_in_cpp, runtime_signatures)
