"""Whether PyTorch can define an operator: its dispatcher's schema parser accepts less than ours.

Note [PyTorch's two parsers]
PyTorch's own file is parsed by torchgen, which accepts some things that the dispatcher's parser
rejects (`float x=inf`, dimension names). A library's schemas are parsed only by the dispatcher,
when the library is loaded, and anything it rejects aborts the process. It also accepts a few
defaults but gets them wrong: `complex x=2.5` becomes 2.5j, and a `Device?` with a default fails at
the first call.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from torchgen_lite.analysis.compatible import INTEGERS
from torchgen_lite.analysis.finding import Findings, Found, Reported, finding
from torchgen_lite.diagnostics import Span
from torchgen_lite.loader.entry.entry import NativeFunction
from torchgen_lite.loader.sources import words_beside
from torchgen_lite.loader.versions import meet
from torchgen_lite.schema import (
    BASE_TYPES,
    Argument,
    BaseType,
    FunctionSchema,
    ListType,
    OptionalType,
    Type,
    walk_type,
)
from torchgen_lite.schema.defaults import ENUMERATORS
from torchgen_lite.schema.grouped import first_text
from torchgen_lite.schema.lexer import IDENT, NUMBER, STRING, tokenize
from torchgen_lite.schema.model import GenericType, TupleType, bare_type
from torchgen_lite.schema.type_names import DEVICES, TYPES_UNTIL, is_type_variable

_WORDS = words_beside(__file__)
RESERVED = _WORDS["reserved"]
UNREAD_TYPES = _WORDS["types"]
INDUCTORS = _WORDS["inductor"]
FAKES = _WORDS["fakes"]
VMAPS = _WORDS["vmap"]
COUNTERS = _WORDS["counter"]
# Names that stand for a number wherever an integer is allowed.
NUMBER_NAMES = {"Mean": 1, "contiguous_format": 0, "float": 6, "long": 4, "strided": 0}
# The parser reads `uint8` and `int8`, but not their other names.
_SCALAR_TYPES = frozenset(ENUMERATORS["ScalarType"].keys() - {"byte", "char"})
_SINGLE = INTEGERS | {"Scalar", "bool", "complex", "float", "str"}
# For other element types the parser makes integer lists, which a kernel cannot take.
_LISTED = frozenset({"SymInt", "bool", "complex", "float", "int"})
# An index has 8 bits, and PyTorch makes another one of a larger.
_DEVICE = re.compile(r"""["'](?P<name>[a-z_0-9]+)(:([0-9]|[1-9][0-9]|1[01][0-9]|12[0-7]))?["']""")
# The escapes in strings that its lexer reads, as Python does.
_ESCAPE = re.compile(r"""\\(?:["'\\abfntv]|[01][0-7]{2})""")
_SMALLEST = 2.2250738585072014e-308

Atom = tuple[str, str]


def unregistrable(functions: Iterable[NativeFunction]) -> Reported:
    """TG512: everything in schemas that PyTorch's dispatcher would reject or misread; TG395: and what it
    cannot pass."""
    for function in functions:
        for fault in _check(function, function.func):
            yield finding(function, *fault)
        yield from _impassable(function)


def _impassable(function: NativeFunction) -> Reported:
    """Names of arguments that PyTorch passes on by name to a function of its own with a parameter of that name."""
    for argument in function.func.arguments:
        caller, label = _stumbling(function, argument)
        if caller:
            yield finding(
                function,
                "TG395",
                f"{caller} cannot call an operator whose argument is called `{argument.name}`",
                argument.name_span or argument.span,
                f"fails under `{label}`",
                f"call it `{argument.name}_`",
            )


def _stumbling(function: NativeFunction, argument: Argument) -> tuple[str, str]:
    """The part of PyTorch that cannot pass an argument, and what users call; empty if each can."""
    name = argument.name
    is_passed = argument.kwarg_only or argument.default is not None
    # A call that writes goes another way through inductor.
    if name in INDUCTORS and is_passed and not function.func.written:
        return "inductor", "torch.compile"
    if not argument.kwarg_only:
        return "", ""
    if name in FAKES:
        return "a trace", "torch.compile"
    if name in VMAPS and (function.vmap_function or function.axes):
        return "the rule for `torch.vmap`", "torch.vmap"
    if name in COUNTERS and (function.flops or function.axes):
        return "the counter of floating-point operations", "FlopCounterMode"
    return "", ""


def _check(function: NativeFunction, schema: FunctionSchema) -> Findings:
    if "::" in function.namespace:
        whole = function.namespace
        yield Found(
            "TG512",
            f"PyTorch has no namespaces in others: `{whole}` cannot be one",
            schema.name_span,
            "its `torch.ops` and `TORCH_LIBRARY` take one name",
            f"call it `{whole.replace('::', '_')}`",
        )
    for name in (function.namespace, schema.base_name, schema.overload_name):
        yield from _name(name, schema.name_span, "name")
    for argument in schema.arguments:
        yield from _name(argument.name, argument.name_span, "argument")
        yield from _types(argument.type, argument.type_span, function.torch)
        problem = default_problem(argument)
        if problem:
            yield Found(
                "TG512",
                f"PyTorch cannot take the default of argument `{argument.name}`: {problem}",
                argument.default_span or argument.span,
                "this default",
                "leave the default out, or take an optional argument with the default `None`",
            )
    for result in schema.returns:
        yield from _name(result.name, schema.name_span, "result")
        yield from _types(result.type, schema.span, function.torch)


def _name(name: str | None, span: Span | None, what: str) -> Findings:
    if name and name in RESERVED:
        yield Found(
            "TG512",
            f"`{name}` is a reserved word of PyTorch's schema language",
            span,
            f"this {what}",
            f"call it `{name.lower()}_`",
        )


def _types(type_: Type, span: Span | None, releases: str | None) -> Findings:
    for part in walk_type(type_):
        name = bare_type(part)
        last = TYPES_UNTIL.get(name)
        if last is not None and not meet(releases, f">={last[0]}.{last[1] + 1}"):
            continue
        is_unknown = isinstance(part, BaseType) and name not in BASE_TYPES
        if name in UNREAD_TYPES or (is_unknown and is_type_variable(name)):
            message = f"PyTorch's dispatcher does not know the type `{name}`"
        elif isinstance(part, OptionalType) and bare_type(part.elem) in ("None", "NoneType"):
            message = f"PyTorch's dispatcher cannot take `{name}`"
        elif isinstance(part, (GenericType, TupleType)) and part.annotation is not None:
            message = f"PyTorch's dispatcher does not accept an alias annotation after `{name}`"
        else:
            continue
        yield Found("TG512", message, span, "here")


def default_problem(argument: Argument) -> str:
    """Why PyTorch cannot take the default; empty if there is none or it can."""
    if argument.default is None:
        return ""
    tokens = tokenize(argument.default)
    texts = tokens.texts
    if "(" in texts:
        return "it does not accept parentheses"
    if "+" in texts:
        return "it does not accept the sign `+`"
    atoms = [pair for pair in zip(tokens.kinds, texts) if pair[0] in (IDENT, NUMBER, STRING)]
    for index, text in enumerate(texts):
        if text == "-" and tokens.kinds[index + 1] == IDENT:
            return f"it does not read `{texts[index + 1]}` as a number"
    return _shape_problem(argument.type, texts[0] == "[", atoms, texts.count("["))


def _shape_problem(type_: Type, is_list: bool, atoms: Sequence[Atom], depth: int) -> str:
    """`is_list`: the default is in brackets, nested as deep as `depth` at most."""
    name = bare_type(type_.elem if isinstance(type_, (OptionalType, ListType)) else type_)
    if depth > 1:
        return "it does not accept lists of lists"
    if isinstance(type_, ListType):
        if name not in _LISTED:
            return f"it cannot make a list of `{name}` from it"
        if not is_list and type_.size is None:
            return f"a list without a size, `{bare_type(type_)}`, needs one in brackets"
        # After a list size, the parser expects a name outside brackets to be `None`.
        if not is_list and atoms[0][0] == IDENT and name != "bool":
            return f"a list of `{name}` needs `{atoms[0][1]}` in brackets"
        if name == "bool" and is_list and len(atoms) != (type_.size or len(atoms)):
            return f"a `{bare_type(type_)}` has {type_.size} elements"
        return first_text(_atom_problem(name, atom) for atom in atoms)
    if isinstance(type_, OptionalType):
        if atoms == [(IDENT, "None")] and not is_list:
            return ""
        if is_list or not isinstance(type_.elem, BaseType) or name not in _SINGLE:
            return f"a `{bare_type(type_)}` may only be `None`"
        return _atom_problem(name, atoms[0], optional=True)
    if name in ("Generator", "Tensor"):
        return f"a `{name}` cannot have a default; a `{name}?` may be `None`"
    if name == "Device":
        device = None if is_list else _DEVICE.fullmatch(atoms[0][1])
        if device is None:
            return 'a device is written `"cuda"` or `"cuda:1"`, with an index up to 127'
        if device["name"] not in DEVICES:
            return f'it knows no device `{device["name"]}`; one of your own is `"privateuseone"`'
        return ""
    if is_list or not isinstance(type_, BaseType) or name not in _SINGLE:
        return f"a `{name}` has none"
    return _atom_problem(name, atoms[0])


def _atom_problem(name: str, atom: Atom, *, optional: bool = False) -> str:
    """What is wrong with one value of the type `name`."""
    kind, text = atom
    is_imaginary = kind == NUMBER and text.endswith("j")
    has_fraction = kind == NUMBER and re.search("[.eE]", text) is not None
    if name == "complex" and not is_imaginary:
        return f"it reads `{text}` as an imaginary number, or not as a value of this type"
    if name == "float" and optional and kind == NUMBER and not has_fraction:
        return f"it reads `{text}` as an `int`; write `{text}.0`"
    fits = {
        "Scalar": kind == NUMBER or text in ("True", "False"),
        "bool": text in ("True", "False"),
        "complex": True,
        "float": kind == NUMBER and not is_imaginary,
        "str": kind == STRING,
    }
    is_whole = kind == NUMBER and not is_imaginary and not has_fraction
    if not fits.get(name, is_whole or _is_named_number(name, text)):
        return f"it does not accept `{text}` as a value of type `{name}`"
    if kind == STRING and "\\" in _ESCAPE.sub("", text):
        return f"it does not read an escape in `{text}`; write the character itself"
    if kind == NUMBER and not _is_in_range(text, is_imaginary or has_fraction or name == "float"):
        return f"`{text}` does not fit into 64 bits"
    return ""


def _is_named_number(type_: str, text: str) -> bool:
    if type_ == "ScalarType":
        return text in _SCALAR_TYPES
    return type_ in INTEGERS and text in NUMBER_NAMES


def _is_in_range(text: str, is_float: bool) -> bool:
    if not is_float:
        return -(2**63) <= int(text) < 2**63
    text = text.rstrip("j")
    is_zero = not re.search("[1-9]", re.split("[eE]", text)[0])
    return is_zero or _SMALLEST <= abs(float(text)) < float("inf")
