"""The kernels in `selected_cpu.py`, each of which calls the first of the author's whose condition holds.

def selected_rms_norm(x: Tensor, eps: float) -> Tensor:
    if x._dtype == _float16 and x._shape[-1] <= 8192:
        _kernel = row_kernel("mylib::rms_norm for CPU", "mylib.kernels", "rms_norm_small")
    else:
        _kernel = row_kernel("mylib::rms_norm for CPU", "mylib.kernels", "rms_norm_any")
    return _kernel(x, eps)

What a framework's tensors are asked is what formulas ask them, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from torchgen_lite.analysis.checks.selections import typed_condition
from torchgen_lite.analysis.finding import finding
from torchgen_lite.analysis.policy import Origin
from torchgen_lite.analysis.registrations import AUTOGRAD, VIEWS, Registration
from torchgen_lite.diagnostics.text import quoted
from torchgen_lite.formulas import model as nodes
from torchgen_lite.formulas.language import CONSTANTS, TRUTH
from torchgen_lite.formulas.model import Expression
from torchgen_lite.formulas.tree import Typed, every_part
from torchgen_lite.languages.python.conditions import ConditionNames, condition
from torchgen_lite.languages.python.names import identifiers
from torchgen_lite.schema import FunctionSchema
from torchgen_lite.schema.defaults import FIRST_NAMES
from torchgen_lite.schema.grouped import grouped, names_of
from torchgen_lite.targets.output import Findings, OutputFile
from torchgen_lite.targets.python import key_file
from torchgen_lite.targets.python.options import NO_FRAMEWORK, TARGET
from torchgen_lite.targets.python.package import Overload, Package, kernel_file

_ATTRIBUTES = {"dtype": "_dtype", "requires_grad": "_requires_grad", "shape": "_shape"}
# What a framework's tensor is asked; `numel` is a method.
_BUILTINS = ("len", "max", "min", "tuple")
_KNOWN = frozenset({*_ATTRIBUTES, "defined", "dim", "ndim", "numel", "size"})


Row = tuple[str, str, str]
"""A condition, which the rest has not, and the module and the name of the function that runs if it holds."""


def build_selected(
    package: Package, registered: Sequence[Registration], find: key_file.FindKernel
) -> tuple[list[OutputFile], list[key_file.Registered]]:
    """A module for each key, and what of it is registered."""
    by_name = package.by_name
    chosen = [registration for registration in registered if registration.origin is Origin.selected]
    files = []
    registrations = []
    for key, of_key in grouped(chosen, lambda registration: registration.key).items():
        module = f"selected_{key.lower()}"
        kernels = []
        overloads = []
        dtypes = set[str]()
        for registration in of_key:
            overload = by_name[registration.operator.name]
            overloads.append(overload)
            kernels.append((overload, _rows(registration, find)))
            registrations.append(key_file.generated(key, overload, module, "selected"))
            dtypes.update(name for name, _ in _dtypes_in(registration))
        file = kernel_file(
            package,
            module,
            "selected",
            overloads,
            runtime=package.runtime,
            key=key,
            with_keyset=key in (AUTOGRAD, VIEWS),
            dtypes=sorted(dtypes),
            hides_builtins=any(map(_hides_builtins, overloads)),
            selected=kernels,
        )
        files.append(file)
    return files, registrations


def _rows(registration: Registration, find: key_file.FindKernel) -> list[Row]:
    """Those up to the first without a condition, behind which none is reached."""
    assert registration.kernel is not None
    names = _names(registration.operator.schema)
    rows: list[Row] = []
    for row in registration.kernel.rows:
        kernel = find(row.kernel)
        module, name = ("", row.kernel) if kernel is None else (kernel.module, kernel.name)
        if row.when is None:
            rows.append(("", module, name))
            break
        tree = typed_condition(row.when, registration.operator.schema)
        rows.append((condition(tree, names), module, name))
    return rows


def _names(schema: FunctionSchema) -> ConditionNames:
    arguments = dict(zip(names_of(schema.arguments), identifiers(schema.arguments)))

    def asked(name: str, value: Expression, given: Sequence[Expression]) -> Expression | None:
        shape = nodes.Member(value, _ATTRIBUTES["shape"])
        if name in ("dim", "ndim"):
            return nodes.Call(nodes.Name(names.function("len")), (shape,))
        if name == "size":
            return nodes.Subscript(shape, given[0]) if given else shape
        if name in _ATTRIBUTES:
            return nodes.Member(value, _ATTRIBUTES[name])
        return None

    names = ConditionNames(arguments, "_{}".format, asked, "_builtins")
    return names


def _hides_builtins(overload: Overload) -> bool:
    names = set(names_of(overload.schema.arguments))
    return not names.isdisjoint(_BUILTINS)


def _dtypes_in(registration: Registration) -> Iterator[tuple[str, Expression]]:
    """The constants of the framework in the conditions of a kernel, and where they are."""
    for part in _parts_of(registration):
        text = str(part.node)
        if isinstance(part.node, nodes.Name) and text in CONSTANTS.keys() - TRUTH.keys():
            yield FIRST_NAMES.get(text, text), part.node


def _parts_of(registration: Registration) -> Iterator[Typed]:
    """Every node of the conditions of a kernel, without the names that are arguments."""
    if registration.kernel is None:
        return
    schema = registration.operator.schema
    names = set(names_of(schema.arguments))
    for row in registration.kernel.rows:
        if row.when is not None:
            parts = every_part(typed_condition(row.when, schema))
            yield from (part for part in parts if str(part.node) not in names)


def check_conditions(package: Package, registered: Sequence[Registration]) -> Findings:
    """TG515, where a condition asks for what the target, or the framework, does not have."""
    for registration in registered:
        if registration.origin is not Origin.selected:
            continue
        problems = chain(_unasked(package, registration), _lacking(package, registration))
        for node, message, hint in problems:
            yield finding(registration.operator.function, "TG515", message, node.span, "here", hint)


def _unasked(package: Package, registration: Registration) -> Iterator[tuple[Expression, str, str]]:
    has_framework = package.options.framework != NO_FRAMEWORK
    known = _KNOWN if has_framework else frozenset({"defined"})
    message = f"target `{TARGET}` knows nothing of tensors without a `framework`"
    hint = "name the module of your tensors with `framework`"
    for part in _parts_of(registration):
        asked = _asked_for(part.node)
        if not asked or asked in known:
            continue
        if has_framework:
            message = f"target `{TARGET}` does not ask a tensor for its `{asked}`"
            hint = f"there are {quoted(sorted(_KNOWN))}; or leave the operator out with `skip`"
        yield part.node, message, hint


def _lacking(package: Package, registration: Registration) -> Iterator[tuple[Expression, str, str]]:
    for name, node in _dtypes_in(registration):
        if package.known is not None and name not in package.known:
            message = f"`{package.framework}` has no `{name}`, which a condition needs"
            yield node, message, f"define or import `{name}` in `{package.framework}`"


def _asked_for(node: Expression) -> str:
    """What a node asks a tensor for; empty if it asks nothing."""
    match node:
        case nodes.Call(nodes.Name("capability")):
            return "capability"
        case nodes.Call(nodes.Member(_, name)) | nodes.Member(_, name):
            return name
    return ""
