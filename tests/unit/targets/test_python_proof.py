"""What a Python function's names, annotations and defaults say, beside the schema of what it is given."""

from __future__ import annotations

import typing
from collections.abc import Collection, Iterable, Sequence
from itertools import permutations
from types import SimpleNamespace, UnionType
from typing import Annotated, Any, Optional, Union, get_args, get_origin

import pytest

from torchgen_lite.analysis.python_calls import disagreement
from torchgen_lite.languages.python.torch_ops import returns_type
from torchgen_lite.loader.entry.entry import NativeFunction
from torchgen_lite.loader.python.kernel_modules import _read_module
from torchgen_lite.schema import FunctionSchema
from torchgen_lite.targets.author import Wanted, _misunderstood, passed


class Tensor:
    """Stands for PyTorch's, which is not imported here."""


class Device(str):
    """A string takes its place: what it is, a framework decides."""


class DType(str):
    """Likewise."""


HEAD = """\
import torch, typing
import torch as th
from collections.abc import Collection, Iterable, Sequence
from typing import Annotated, Any, List, Optional, Tuple, Union
from torch import Tensor, Tensor as T
if True:
    from torch import device as Device
Own = Optional[Tensor]
Numbers: typing.TypeAlias = "list[float]"
"""
TORCH = SimpleNamespace(Tensor=Tensor, device=Device, dtype=DType)
# What the names mean where the annotations are evaluated, for comparison.
MEANINGS = {
    "torch": TORCH,
    "th": TORCH,
    "Tensor": Tensor,
    "T": Tensor,
    "Device": Device,
    "Own": Optional[Tensor],
    "Numbers": list[float],
    "typing": typing,
    "Collection": Collection,
    "Iterable": Iterable,
    "Sequence": Sequence,
    "List": list,
    "Annotated": Annotated,
    "Any": Any,
    "Optional": Optional,
    "Tuple": tuple,
    "Union": Union,
}
# Types of schemas, and values that a call may pass.
VALUES: dict[str, list[object]] = {
    "Tensor": [Tensor()],
    "Tensor(a!)": [Tensor()],
    "Tensor?": [Tensor(), None],
    "Tensor[]": [[Tensor()]],
    "Tensor?[]": [[Tensor(), None]],
    "float": [0.5],
    "float?": [0.5, None],
    "int": [7],
    "SymInt": [7],
    "int?": [7, None],
    "int[]": [[7]],
    "SymInt[2]": [[7, 7]],
    "int[]?": [[7], None],
    "float[]": [[0.5]],
    "bool": [True],
    "bool[3]": [[True]],
    "str": ["a"],
    "str?": ["a", None],
    "Scalar": [0.5, 7, True],
    "Device": [Device()],
    "ScalarType?": [DType(), None],
}
ANNOTATIONS = (
    *("Tensor", "T", "torch.Tensor", "th.Tensor", "'Tensor'", "Own", "object", "Any"),
    *("float", "int", "bool", "str", "complex", "None", "'None | float'", "typing.Any"),
    *("Tensor | None", "Optional[torch.Tensor]", "Union[None, T]", "'Optional[Tensor]'"),
    *("int | None", "Optional[float]", "str | None", "Union[int, str]", "bool | Tensor"),
    *("list[Tensor]", "List[Optional[Tensor]]", "Sequence[int]", "Collection[float]", "Numbers"),
    *("Sequence[int] | None", "tuple[int, ...]", "Tuple[int, int]", "list[bool]", "list", "tuple"),
    *("Iterable[Tensor | None]", "Annotated[Tensor, 'rows']", "Annotated[int, 3] | None"),
    *("Device", "torch.dtype", "torch.dtype | None", "th.device", "list[str]"),
)


def takes(hint: Any, value: object) -> bool:
    """Whether a value is of a type, as type checkers see numbers; which sequence a list is does not count."""
    origin, arguments = get_origin(hint), get_args(hint)
    if isinstance(hint, str):
        return takes(eval(hint, MEANINGS), value)
    if origin in (Union, UnionType):
        return any(takes(argument, value) for argument in arguments)
    if origin is Annotated:
        return takes(arguments[0], value)
    if origin is not None or hint in (list, tuple):
        held = [argument for argument in arguments if argument is not ...]
        items = value if isinstance(value, list) else [value]
        fits = [not held or any(takes(one, item) for one in held) for item in items]
        return isinstance(value, list) and all(fits)
    if hint is None or hint is type(None):
        return value is None
    if hint in (Any, object):
        return True
    numbers = {complex: (int, float, complex), float: (int, float)}
    return isinstance(value, numbers.get(hint, hint))


def codes(
    schema: str, function: str, head: str = HEAD, *, leaves_out: bool = False, what: str = "k"
) -> list[str]:
    """The codes that one function gets, which can be called."""
    module, _ = _read_module("kernels", "kernels.py", f"{head}\n{function}\n")
    parsed = FunctionSchema.parse(schema)
    signature = module.signatures.get(what)
    if signature is None:
        return []
    given = passed(parsed.arguments, has_defaults=leaves_out)
    assert disagreement(signature, given) is None
    entry = NativeFunction(parsed, "my", ())
    wanted = Wanted(entry, "k", "CPU", None, given, list, returns_type(parsed))
    return [one.code for one in _misunderstood(wanted, signature)]


@pytest.mark.parametrize("type_", VALUES)
def test_every_annotation_of_every_type(type_: str) -> None:
    wrong = []
    for annotation in ANNOTATIONS:
        hint = eval(annotation, MEANINGS)
        expected = all(takes(hint, value) for value in VALUES[type_])
        for function in (f"def k(a: {annotation}): ...", f"def k(own: {annotation}, /): ..."):
            found = codes(f"my::f({type_} a) -> Tensor", function)
            if found != ([] if expected else ["TG426"]):
                wrong.append((annotation, function, found))
    assert wrong == []


def test_the_table_of_annotations_has_both_answers_for_each_type() -> None:
    for type_, values in VALUES.items():
        hints = [eval(annotation, MEANINGS) for annotation in ANNOTATIONS]
        answers = {all(takes(hint, value) for value in values) for hint in hints}
        assert answers == {True, False}, type_


ORDER = ("Tensor a", "float s", "Tensor b", "int n")


@pytest.mark.parametrize("order", list(permutations("asbn")), ids="".join)
@pytest.mark.parametrize("sign", ["", "_"])
def test_every_order_of_names(order: Sequence[str], sign: str) -> None:
    parameters = ", ".join(f"{sign}{name}" for name in order)
    expected = [] if "".join(order) == "asbn" else ["TG425"]
    for rest in ("", "=None", ", *more", ", /"):
        found = codes(f"my::f({', '.join(ORDER)}) -> Tensor", f"def k({parameters}{rest}): ...")
        assert found == expected, rest


@pytest.mark.parametrize("order", list(permutations(["Tensor", "float", "str", "int"])))
def test_every_order_of_annotations(order: Sequence[str]) -> None:
    """Under names that the schema does not have, annotations alone tell."""
    parameters = ", ".join(f"x{i}: {text}" for i, text in enumerate(order))
    found = codes("my::f(Tensor a, float s, str t, int n) -> Tensor", f"def k({parameters}): ...")
    is_right = order == ("Tensor", "float", "str", "int")
    assert set(found) == (set() if is_right else {"TG426"})


RIGHT = [
    "def k(x, factor, y): ...",
    "def k(a, factor, b): ...",
    "def k(a, s, other_b): ...",
    "def k(a, _unused, b): ...",
    "def k(_a, _s, _b): ...",
    "def k(*args): ...",
    "def k(b, *args): ...\ndef k(a, *args): ...",
    "def k(a, *rest, **more): ...",
    "def k(a: T, s: float, b: 'Tensor') -> Tensor: ...",
    "def k(a: Unknown, s: np.float64, b: Own2) -> Unknown: ...",
    "X = typing.TypeVar('X')\ndef k(a: X, s: float, b: X) -> X: ...",
    "X = X\ndef k(a: X, s: float, b: X) -> X: ...",
    "class Tensor: ...\ndef k(a: float | Tensor, s: float, b: Tensor): ...",
    "def k(a: Float[Tensor, 'n m'], s: 'not python', b: typing.Literal['x']): ...",
    "def k(a, s=2, b=None): ...",
    "async def k(a: Tensor, s: float, b: Tensor): ...",
    "@wrapped\ndef k(b, s, a): ...",
    "k = functools.partial(other, 1)",
    "class k:\n    def __call__(self, b, s, a): ...",
    "k = staticmethod(lambda b, s, a: a)",
    "def k(a, s, b) -> Any: ...",
    "def k(a, s, b) -> Own: ...",
    "def k(a, s, b) -> 'Tensor | NotImplementedType': ...",
]


@pytest.mark.parametrize("function", RIGHT)
def test_what_is_right_or_cannot_be_read(function: str) -> None:
    assert codes("my::f(Tensor a, float s, Tensor b) -> Tensor", function) == []


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        ("def k(a, c, *, by, b): ...", []),
        ("def k(a, c, *, b: Own, by): ...", []),
        ("def k(a, c, b, by): ...", []),
        ("def k(a, c, **more): ...", []),
        ("def k(a, by, **more): ...", ["TG425"]),
        ("def k(c, a, *, by, b): ...", ["TG425"]),
        ("def k(a, c, *, by: str, b): ...", ["TG426"]),
        ("def k(a, c, by: float, b: int): ...", ["TG426"]),
        ("def k(a, c, *, by: bool, b: Tensor): ...", ["TG426", "TG426"]),
        ("def k(a, c, *, by, b: Tensor = None): ...", []),
    ],
)
def test_arguments_by_keyword(function: str, expected: list[str]) -> None:
    schema = "my::f(Tensor a, Tensor c, *, float by, Tensor? b=None) -> Tensor"
    assert codes(schema, function) == expected


DEFAULTS = {
    "float x=1.0": ("1.0", "1", "True", "given", "2.0"),
    "int x=3": ("3", "3.0", "given", "4"),
    "int? x=None": ("None", "given", "0"),
    "bool x=True": ("True", "given", "False"),
    "str x='a'": ("'a'", "given", "'b'"),
    "int[2] x=1": ("1", "(1, 1)", "[1, 1]", "given", "(1, 2)"),
    "int[] x=[]": ("()", "[]", "given", "None"),
    "float[] x=[1, 2]": ("[1, 2]", "(1.0, 2.0)", "given", "[2, 1]"),
    "Scalar x=1": ("1", "1.0", "given", "-1"),
}


@pytest.mark.parametrize("argument", DEFAULTS)
@pytest.mark.parametrize("leaves_out", [True, False])
def test_defaults(argument: str, leaves_out: bool) -> None:
    """Each but the last is right. A kernel gets every argument, so its default is not compared."""
    *right, wrong = DEFAULTS[argument]
    for default in (*right, wrong):
        found = codes(
            f"my::f(Tensor a, {argument}) -> Tensor",
            f"def k(a, x={default}): ...",
            leaves_out=leaves_out,
        )
        assert found == (["TG427"] if leaves_out and default == wrong else []), default


@pytest.mark.parametrize(
    "argument", ["ScalarType x=float", "MemoryFormat x=contiguous_format", "int x"]
)
def test_defaults_that_are_not_compared(argument: str) -> None:
    """Names of PyTorch's, and what the schema has no default for."""
    schema = f"my::f(Tensor a, {argument}) -> Tensor"
    assert codes(schema, "def k(a, x=9): ...", leaves_out=True) == []


@pytest.mark.parametrize(
    ("returns", "right", "wrong"),
    [
        ("Tensor", "Tensor|Own|Any|Unknown|'T'", "float|None|tuple[Tensor, Tensor]|list[Tensor]"),
        ("Tensor[]", "list[Tensor]|List[T]|tuple[Tensor, ...]|tuple[T, T]|list", "Tensor|list[int]"),
        ("(Tensor, int)", "tuple[Tensor, int]|tuple|list|tuple[Unknown, float]|Tuple[T, int]", "Tensor"),
        ("(Tensor, Tensor)", "tuple[T, T]|tuple[Tensor, ...]", "tuple[T]|tuple[T, T, T]|tuple[T, int]|T"),
        ("()", "None|Own|Any", "Tensor|tuple[T, T]|int"),
        ("float", "float|int|bool", "str|Tensor|None"),
        ("int", "int|float", "Tensor|str|list[int]"),
        ("Scalar", "int|float|complex", "Tensor|str"),
    ],
)  # fmt: skip
def test_results(returns: str, right: str, wrong: str) -> None:
    for texts, expected in ((right, []), (wrong, ["TG426"])):
        for text in texts.split("|"):
            found = codes(f"my::f(Tensor a) -> {returns}", f"def k(a) -> {text}: ...")
            assert found == expected, text


def test_what_a_function_writes_it_need_not_give_back() -> None:
    schema = "my::f(Tensor(a!) a) -> Tensor(a!)"
    assert codes(schema, "def k(a) -> None: ...") == codes(schema, "def k(a) -> Tensor: ...") == []
