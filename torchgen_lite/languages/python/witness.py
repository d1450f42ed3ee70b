"""A call that shows a change, as a line of Python: `torch.ops.lib.f(torch.ones(2), dim=0)`.

A gradient is `torch.func.grad(lambda self: torch.ops.lib.f(self).sum())(torch.ones(2))`. What a caller has of a type
that no value can be written of has the name of the argument.
"""

from __future__ import annotations

from collections.abc import Sequence

from torchgen_lite.analysis.comparison.witness import Given, given_in, is_literal
from torchgen_lite.analysis.finding import Witness
from torchgen_lite.analysis.kernels import COMPOSITE_KEYS, DEVICES
from torchgen_lite.analysis.operators import Operator
from torchgen_lite.formulas.model import ListDisplay, walk
from torchgen_lite.languages.python.names import identifier, is_reserved, overload_attribute
from torchgen_lite.languages.python.torch_expressions import in_sample
from torchgen_lite.languages.text import quote
from torchgen_lite.schema.model import bare_type

# How a tensor on the CPU gets each dispatch key. Others have no tensors that one line can make.
_MOVES = {
    "": "",
    "CPU": "",
    "SparseCPU": ".to_sparse()",
    "Meta": '.to("meta")',
    **{key: f".to({quote(device)})" for key, device in DEVICES.items() if key != "PrivateUse1"},
}


def of_operator(operator: Operator, witness: Witness, device: str) -> str:
    """A call of what PyTorch has under `torch.ops`. `device` is an expression for the device of the key PrivateUse1."""
    function = operator.function
    name = function.func.base_name
    packet = f"torch.ops.{function.namespace}.{identifier(name)}"
    overload = f"{packet}.{overload_attribute(function.func.overload_name)}"
    if witness.way == "tags":
        return f"{overload}.tags"
    overloads = operator.others.overloads.get((function.namespace, name), ())
    if witness.way in ("function", "method"):
        return _of_variant(operator, witness, device)
    is_alone = len(overloads) == 1 and not function.func.overload_name
    if is_alone or witness.way == "packet":
        return of_torch(operator, witness, packet, device)
    return of_torch(operator, witness, overload, device)


def _of_variant(operator: Operator, witness: Witness, device: str) -> str:
    """`torch.f(...)`, or the method of a tensor, which only PyTorch's own operators have."""
    if not operator.function.is_pytorchs:
        return ""
    return of_torch(operator, witness, f"torch.{identifier(operator.schema.base_name)}", device)


def of_torch(operator: Operator, witness: Witness, function: str, device: str = "") -> str:
    """A call of this function with tensors of PyTorch; empty where no line shows the change."""
    moves = {**_MOVES, "PrivateUse1": f".to({device})"}
    move = moves.get(witness.key or _own_key(operator))
    if move is None:
        return ""
    if witness.way == "autocast" and witness.value:
        move = f".to(torch.{witness.value})"
    texts = [(value, _written(value, move)) for value in given_in(operator, witness)]
    first = next((value.argument.name for value, _ in texts if _bare(value) == "Tensor"), "")
    if witness.way == "gradient":
        whole = "{}.sum()"
        if len(operator.schema.returns) > 1:
            whole = "sum(one.sum() for one in {})"
        argument = witness.argument or first
        return _transformed("torch.func.grad", function, texts, argument, whole)
    if witness.way == "vmap":
        return _transformed("torch.vmap", function, texts, first, "{}", "[None]")
    if witness.way == "method":
        return _method(operator, texts)
    if witness.way == "functionalize":
        function = f"torch.func.functionalize({function})"
    if witness.way == "autocast":
        function = f'torch.autocast("cpu")({function})'
    return f"{function}({_listed(texts)})"


def of_framework(operator: Operator, witness: Witness, function: str) -> str:
    """The same with tensors, dtypes and devices of whatever framework it is: the caller has them, on the CPU."""
    is_call = witness.way in ("call", "packet", "function", "method")
    if not is_call or witness.key not in ("", "CPU"):
        return ""
    texts = []
    for given in given_in(operator, witness):
        if given.value is None or not all(map(is_literal, walk(given.value))):
            given = given._replace(value=None)
        texts.append((given, _written(given, "")))
    if witness.way == "method":
        return _method(operator, texts)
    return f"{function}({_listed(texts)})"


def _own_key(operator: Operator) -> str:
    """The key of the tensors that the operator has a kernel for: the CPU's, if it has that."""
    if not operator.keys.isdisjoint(("CPU", *COMPOSITE_KEYS)):
        return ""
    return operator.own_kernels[0].key if operator.own_kernels else ""


def _written(given: Given, move: str) -> str:
    value = given.value
    if value is None:
        return identifier(given.argument.name)
    name = _bare(given)
    if move and name == "Tensor":
        return f"{in_sample(value)}{move}"
    if move and name == "Tensor[]" and isinstance(value, ListDisplay):
        return f"[{', '.join([f'{in_sample(item)}{move}' for item in value.items])}]"
    return in_sample(value)


def _bare(given: Given) -> str:
    return bare_type(given.argument.type).removesuffix("?")


_Texts = Sequence[tuple[Given, str]]


def _method(operator: Operator, texts: _Texts) -> str:
    """A call of the method of `self`."""
    owner = next((text for given, text in texts if given.argument.name == "self"), "")
    others = [pair for pair in texts if pair[0].argument.name != "self"]
    return f"{owner}.{identifier(operator.schema.base_name)}({_listed(others)})"


def _listed(texts: _Texts) -> str:
    items = []
    for given, text in texts:
        name = given.argument.name
        if not given.by_name:
            items.append(text)
        elif is_reserved(name):
            items.append(f"**{{{quote(name)}: {text}}}")
        else:
            items.append(f"{name}={text}")
    return ", ".join(items)


def _transformed(
    transform: str, function: str, texts: _Texts, argument: str, whole: str, of_value: str = ""
) -> str:
    """`torch.vmap(lambda self: torch.ops.lib.f(self))(torch.ones(2)[None])`; empty without the argument."""
    value = next((text for given, text in texts if given.argument.name == argument), "")
    name = identifier(argument)
    if not value:
        return ""
    inner = [(given, name if given.argument.name == argument else text) for given, text in texts]
    result = whole.format(f"{function}({_listed(inner)})")
    return f"{transform}(lambda {name}: {result})({value}{of_value})"
