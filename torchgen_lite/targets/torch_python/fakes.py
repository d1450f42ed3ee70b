"""`_fakes.py`: what each operator returns when only shapes are known.

def muladd(a: Tensor, b: Tensor, s: float) -> Tensor:
    return a.new_empty(_support.broadcast(a, b))
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from torchgen_lite.analysis.dispatch_index import COMPOSITE_KEYS
from torchgen_lite.analysis.fakes import Result, kind_of_type, results_of, rules_by_result
from torchgen_lite.dialects import python, torch_library, torch_ops
from torchgen_lite.dialects.python_names import identifier
from torchgen_lite.dialects.text import docstring, quote
from torchgen_lite.dialects.torch_expressions import (
    RULE_WRITER,
    in_python,
    method_call,
    returned,
    torch_call,
)
from torchgen_lite.loader.fakes import FakeRule
from torchgen_lite.schema.formula import Expression, Member, Name
from torchgen_lite.targets.output import OutputFile
from torchgen_lite.targets.torch_python.model import Operator, Package

_IMPLICIT = "CompositeImplicitAutograd"


@dataclass(frozen=True, slots=True)
class FunctionView:
    """One generated function: `lines` is its body."""

    name: str
    parameters: str
    returns: str
    doc: str
    lines: tuple[str, ...]


def build_fakes(package: Package) -> tuple[list[OutputFile], dict[str, str]]:
    """The file, and the expression for the fake of each operator: `_fakes.muladd`."""
    views: list[FunctionView] = []
    schemas = []
    expressions: dict[str, str] = {}
    for operator in package.own:
        fake = operator.function.fake
        if not takes_fake(operator):
            continue
        if fake is not None and fake.function:
            found = package.module_of("fakes", fake.function)
            if found is not None:
                expressions[operator.name] = named_function(operator, "fake", found)
            continue
        if fake is None and any(r.argument is None for r in results_of(operator.schema)):
            continue
        expressions[operator.name] = f"_fakes.{_name(operator)}"
        schemas.append(operator.schema)
        views.append(_view(operator))
    context = {
        "imports": torch_library.type_imports(schemas),
        "functions": views,
    }
    return [
        OutputFile(f"{package.root}/_fakes.py", "torch_python/fakes.py.j2", context)
    ], expressions


def takes_fake(operator: Operator) -> bool:
    """Whether PyTorch wants a fake: not where a Meta kernel or a composite implicit one is it."""
    keys = operator.keys
    return "Meta" not in keys and not (_IMPLICIT in keys and keys <= COMPOSITE_KEYS)


def named_function(operator: Operator, field: str, found: tuple[str, str]) -> str:
    """`_library.named("ops.yaml:12", "my_fakes", "nonzero_fake")`: imported at its first call."""
    items = [quote(operator.place_of(field)), quote(found[0]), quote(found[1])]
    return f"_library.named({', '.join(items)})"


def _name(operator: Operator) -> str:
    """The function's name: no type's, which annotations of the file mean."""
    name = operator.flat
    return f"{name}_" if name.rstrip("_") in torch_ops.TYPE_MODULES else name


def _view(operator: Operator) -> FunctionView:
    schema = operator.schema
    return FunctionView(
        _name(operator),
        python.signature(torch_library.parameters(schema, inside=True)),
        torch_ops.returns_type(schema),
        docstring(f"{operator.name}, {operator.place_of('fake')}"),
        tuple(_body(operator)),
    )


def _body(operator: Operator) -> Iterator[str]:
    results = results_of(operator.schema)
    rules = rules_by_result(operator.function)
    if not results:
        yield "return None"
        return
    if len(results) == 1:
        yield from _single(operator, results[0], rules)
        return
    names = []
    for result in results:
        if result.argument is not None:
            names.append(identifier(result.argument.name))
            continue
        name = f"_result{result.index}"
        names.append(name)
        yield from _assigned(name, operator, result, rules[result.index])
    yield f"return {', '.join(names)}"


def _single(operator: Operator, result: Result, rules: Mapping[int, FakeRule]) -> Iterator[str]:
    if result.argument is not None:
        yield f"return {identifier(result.argument.name)}"
        return
    rule = rules[result.index]
    if _is_list(result):
        yield from _assigned("_results", operator, result, rule)
        yield "return _results"
        return
    yield from returned(RULE_WRITER, _value(operator, result, rule))


def _is_list(result: Result) -> bool:
    return kind_of_type(result.value.type) == "Tensors"


def _assigned(name: str, operator: Operator, result: Result, rule: FakeRule) -> Iterator[str]:
    """Statements that give a local the value of a rule."""
    if not _is_list(result):
        yield from RULE_WRITER.lines(name, _value(operator, result, rule), indent=4)
        return
    count, like = rule.get("count"), rule.get("like")
    yield f"{name}: list[Tensor] = []"
    if count is not None:
        values = _arguments(operator)
        inner = _value(operator, result, rule)
        yield f"for _ in _support.times({RULE_WRITER.text(in_python(count, values))}):"
    else:
        assert like is not None
        values = _arguments(operator)
        yield f"for _like in {RULE_WRITER.text(in_python(like, values))}:"
        inner = _tensor(operator, rule, Name("_like"))
    lines = RULE_WRITER.lines("_each", inner, indent=8)
    yield from (f"    {line}" for line in lines)
    yield f"    {name}.append(_each)"


def _arguments(operator: Operator) -> set[str]:
    return {a.name for a in operator.schema.arguments}


def _value(operator: Operator, result: Result, rule: FakeRule) -> Expression:
    values = _arguments(operator)
    value = rule.get("value")
    if value is not None:
        return in_python(value, values)
    view = rule.get("view")
    if view is not None:
        return _view_of(in_python(view, values), _python_fields(rule, values))
    like = rule.get("like")
    return _tensor(operator, rule, in_python(like, values) if like is not None else None)


def _python_fields(rule: FakeRule, values: set[str]) -> dict[str, Expression]:
    return {name: in_python(tree, values) for name, tree in rule.fields}


def _view_of(base: Expression, fields: Mapping[str, Expression]) -> Expression:
    shape, stride, offset = fields.get("shape"), fields.get("stride"), fields.get("offset")
    if stride is None and offset is None:
        return method_call(base, "view", shape or Member(base, "shape"))
    start = method_call(base, "storage_offset")
    stride = stride or method_call(base, "stride")
    shape = shape or Member(base, "shape")
    return method_call(base, "as_strided", shape, stride, offset or start)


def _tensor(operator: Operator, rule: FakeRule, like: Expression | None) -> Expression:
    """The call that makes a tensor of the rule's shape, dtype and device."""
    fields = _python_fields(rule, _arguments(operator))
    shape, dtype, device = fields.get("shape"), fields.get("dtype"), fields.get("device")
    stride, memory_format = fields.get("stride"), fields.get("memory_format")
    if shape is None:
        assert like is not None
        return torch_call(
            "empty_like", like, dtype=dtype, device=device, memory_format=memory_format
        )
    base = like if like is not None else _first_tensor(operator)
    if stride is None and memory_format is None and base is not None:
        return method_call(base, "new_empty", shape, dtype=dtype, device=device)
    if base is not None:
        dtype, device = dtype or Member(base, "dtype"), device or Member(base, "device")
    if stride is not None:
        return torch_call("empty_strided", shape, stride, dtype=dtype, device=device)
    return torch_call("empty", shape, dtype=dtype, device=device, memory_format=memory_format)


def _first_tensor(operator: Operator) -> Expression | None:
    for argument in operator.schema.arguments:
        if kind_of_type(argument.type) == "Tensor":
            return Name(identifier(argument.name))
    return None


def is_view(operator: Operator) -> bool:
    """Whether the fake is a view of an argument, which can stand for the operator itself."""
    rules = rules_by_result(operator.function)
    results = results_of(operator.schema)
    return len(results) == 1 and 0 in rules and rules[0].get("view") is not None
