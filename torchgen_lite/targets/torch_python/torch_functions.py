"""PyTorch functions that a formula calls by their plain names.

Generated code takes a name that no module of `formulas` and no operator of the package has for `torch.NAME`, and
looks it up when it is imported.
"""

from __future__ import annotations

from collections.abc import Iterator
from keyword import iskeyword

from torchgen_lite.analysis.differentiability.vocabulary import (
    lacks_tensor,
    not_a_method,
    spread,
)
from torchgen_lite.analysis.finding import finding
from torchgen_lite.analysis.policy import Origin
from torchgen_lite.diagnostics import Diagnostic, did_you_mean
from torchgen_lite.formulas.facts import BROUGHT
from torchgen_lite.formulas.model import Call, called_name, name_called
from torchgen_lite.formulas.tree import every_part
from torchgen_lite.languages.python.formula import ATTRIBUTES, METHODS
from torchgen_lite.loader.torch_functions import functions_of_torch
from torchgen_lite.targets.author import is_of_cpp
from torchgen_lite.targets.torch_python.model import Package


def unknown_functions(package: Package) -> Iterator[Diagnostic]:
    """TG341: calls in formulas that would be `torch.NAME`, where PyTorch has no such function; TG323 where it
    takes a tensor, and gets none; TG322: methods that tensors do not have."""
    index = package.modules.get("formulas")
    helpers = index.names() if index is not None else ()
    in_torch = functions_of_torch().torch
    methods = functions_of_torch().python_methods.union(METHODS, ATTRIBUTES, ["defined"])
    known = {*helpers, *(o.schema.base_name for o in package.own)}
    for operator in package.own:
        if not package.registration(operator, Origin.formulas) or operator.function.is_auto:
            continue
        info = package.resolved.autograd[operator.name].info
        assert info is not None
        for part in [part for d in info.derivatives for part in every_part(d.tree)]:
            node, name = part.node, called_name(part.node)
            function, called = operator.function, name_called(node)
            lacks = not_a_method(part, "Python", methods)
            # A reserved word is reported by `check_formulas`.
            if lacks and not iskeyword(called):
                label = "no such method"
                yield finding(function, lacks.code, lacks.message, node.span, label, lacks.help)
            is_theirs = name in known or part.operator is not None
            problem = "" if is_theirs else spread(part, called)
            if problem:
                in_brackets = "write the list in brackets"
                yield finding(function, "TG323", problem, node.span, "in this call", in_brackets)
            if name is None or name in known or name in BROUGHT or iskeyword(name):
                continue
            if isinstance(node, Call) and is_of_cpp(str(node.function), is_called=True):
                continue
            if name in in_torch:
                if problem := lacks_tensor(name, part):
                    yield finding(operator.function, "TG323", problem, node.span, "in this call")
                continue
            where = "neither a module of `formulas` nor PyTorch has"
            message = f"the formula calls `{name}`, which {where}"
            hint = did_you_mean(name, known) or did_you_mean(name, in_torch)
            hint = hint or "define it in a module of `formulas`"
            label = f"assumed to be `torch.{name}`"
            yield finding(operator.function, "TG341", message, node.span, label, hint)
