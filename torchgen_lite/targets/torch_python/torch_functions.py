"""PyTorch functions that a formula calls by their plain names.

Generated code takes a name that no module of `formulas` and no operator of the package has for `torch.NAME`, and
looks it up when it is imported.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from keyword import iskeyword

from torchgen_lite.analysis.differentiability.vocabulary import misused, not_a_method
from torchgen_lite.analysis.finding import finding, findings
from torchgen_lite.analysis.policy import Origin
from torchgen_lite.diagnostics import Diagnostic, did_you_mean
from torchgen_lite.formulas.facts import BROUGHT
from torchgen_lite.formulas.kinds import TENSOR
from torchgen_lite.formulas.model import Call, Member, called_name, name_called
from torchgen_lite.formulas.tree import Typed, every_part
from torchgen_lite.languages.python.formula import ATTRIBUTES, METHODS
from torchgen_lite.loader.entry.entry import NativeFunction
from torchgen_lite.loader.torch.functions import functions_of_torch
from torchgen_lite.targets.author import is_of_cpp
from torchgen_lite.targets.torch_python.model import Package


def unknown_functions(package: Package) -> Iterator[Diagnostic]:
    """TG341: calls in formulas that would be `torch.NAME`, where PyTorch has no such function; TG323 where it takes
    other arguments; TG322: methods that tensors do not have."""
    index = package.modules.get("formulas")
    helpers = index.names() if index is not None else ()
    known = {*helpers, *(o.schema.base_name for o in package.own)}
    methods = functions_of_torch().python_methods.union(METHODS, ATTRIBUTES, ["defined"])
    for operator in package.own:
        if not package.registration(operator, Origin.formulas) or operator.function.is_auto:
            continue
        info = package.resolved.autograd[operator.name].info
        assert info is not None
        for part in [part for d in info.derivatives for part in every_part(d.tree)]:
            lacks = not_a_method(part, "Python", methods)
            # A reserved word is reported by `check_formulas`.
            if lacks and not iskeyword(name_called(part.node)):
                span = part.node.span
                label = "no such method"
                yield finding(operator.function, lacks.code, lacks.message, span, label, lacks.help)
            elif isinstance(part.node, Call) and part.operator is None and part.saved is None:
                yield from _check_call(operator.function, part, part.node, known)


def _check_call(
    function: NativeFunction, call: Typed, node: Call, known: Collection[str]
) -> Iterator[Diagnostic]:
    """A call of what is no operator, where `known` are the functions of the author and the names of operators."""
    name, in_torch = called_name(node), functions_of_torch().torch
    if name in known or name in BROUGHT or (name is not None and iskeyword(name)):
        return
    if is_of_cpp(str(node.function), is_called=True):
        return
    is_method = isinstance(node.function, Member)
    if name in in_torch or (is_method and call.parts[0].kind.present == TENSOR):
        yield from findings(function, misused(call, node, name_called(node), "Python"))
    elif name is not None:
        message = (
            f"the formula calls `{name}`, which neither a module of `formulas` nor PyTorch has"
        )
        hint = did_you_mean(name, known) or did_you_mean(name, in_torch)
        hint = hint or "define it in a module of `formulas`"
        yield finding(function, "TG341", message, node.span, f"assumed to be `torch.{name}`", hint)
