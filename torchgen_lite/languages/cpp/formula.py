"""A derivative formula in C++.

    grads[0].defined() ? where(self >= 0, grads[0], weight) : zeros_like(self)

is `grads[0].defined() ? at::where(self >= 0, grads[0], weight) : self_info.zeros()`. Operators of
PyTorch are `at` functions or tensor methods; the library's operators are functions of its own. Each
node of the typed tree is written once, from the text of its operands; Note [Kinds in formulas]
explains kinds.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from torchgen_lite.analysis.derive.layout import argument_layout, has_symint
from torchgen_lite.formulas import model as nodes
from torchgen_lite.formulas.callees import Callee
from torchgen_lite.formulas.facts import Fact
from torchgen_lite.formulas.kinds import TENSOR, Kind, Sort
from torchgen_lite.formulas.model import PRECEDENCE, UNARY_PRECEDENCE
from torchgen_lite.formulas.operands import BITWISE, COMPARISONS, INTEGERS, is_nonzero
from torchgen_lite.formulas.tree import Typed
from torchgen_lite.languages.cpp.defaults import as_written
from torchgen_lite.languages.cpp.text import function_name, identifier, quote
from torchgen_lite.schema.model import bare_type

POSTFIX = UNARY_PRECEDENCE + 1
_CONDITIONAL = 1
_CONSTANTS = {
    "None": "std::nullopt",
    **dict.fromkeys(("True", "true"), "true"),
    **dict.fromkeys(("False", "false"), "false"),
}
ATTRIBUTES = {
    "T": "numpy_T()",
    "H": "matrix_H()",
    "mT": "mT()",
    "mH": "mH()",
    "device": "device()",
    "dtype": "scalar_type()",
    "imag": "imag()",
    "layout": "layout()",
    "ndim": "dim()",
    "real": "real()",
    "requires_grad": "requires_grad()",
    "shape": "sym_sizes()",
}
"""Tensor attributes in Python."""
# Methods with another name in C++, with arguments and without.
_METHODS = {"numel": "sym_numel", "size": "sym_size", "sizes": "sym_sizes", "stride": "sym_stride"}
_WITHOUT_ARGUMENTS = (
    _METHODS | dict.fromkeys(("size", "sym_size"), "sym_sizes") | {"stride": "sym_strides"}
)
OPTIONS = {
    "dtype": "dtype",
    "layout": "layout",
    "device": "device",
    "pin_memory": "pinned_memory",
}
"""The arguments that C++ combines into one, and how each is set on it."""


REFLECTED = {"-": "rsub", "/": "reciprocal", "%": "remainder"}
"""What computes a number and a tensor, in this order."""


@dataclass(frozen=True, slots=True)
class Functions:
    """What formulas may call: the library's operators in `namespace`, by name, with the struct of
    their typed call. `has_headers`: the author's headers may define more functions. `python` are
    functions that only Python has."""

    namespace: str
    structs: Mapping[str, str] = field(default_factory=dict)
    has_headers: bool = False
    python: Collection[str] = ()


@dataclass(frozen=True, slots=True)
class Written:
    """The text of a node, and how tightly it binds."""

    tree: Typed
    text: str
    level: int = POSTFIX

    @property
    def kind(self) -> Kind:
        return self.tree.kind

    def at(self, level: int) -> str:
        """The text, in brackets if it binds looser than `level`."""
        return f"({self.text})" if self.level < level else self.text

    def value(self) -> Written:
        """The expression as an operand: an optional number is unpacked."""
        if not self.kind.is_optional:
            return self
        return Written(self.tree, f"{self.at(POSTFIX)}.value()")

    def result(self) -> str:
        """The expression as a gradient, which is a tensor."""
        return "at::Tensor()" if self.tree.is_none else self.text


def write(tree: Typed, functions: Functions) -> Written:
    """A formula in C++."""
    if tree.saved is not None:
        local = identifier(tree.saved.name)
        return Written(tree, f"{local}.zeros()" if tree.saved.fact is Fact.info else local)
    text, level = _text(tree, [write(part, functions) for part in tree.parts], functions)
    return Written(tree, text, level)


def _text(tree: Typed, parts: Sequence[Written], functions: Functions) -> tuple[str, int]:
    node = tree.node
    if isinstance(node, (nodes.Name, nodes.Literal, nodes.Lambda)):
        return _leaf(node), POSTFIX
    if isinstance(node, nodes.Call):
        head, items = _called(tree, parts, functions)
        return f"{head}({', '.join(items)})", POSTFIX
    if isinstance(node, nodes.Member):
        value = parts[0].value().at(POSTFIX)
        name = node.name if node.arrow else ATTRIBUTES.get(node.name, node.name)
        return f"{value}{'->' if node.arrow else '.'}{name}", POSTFIX
    if isinstance(node, nodes.Subscript):
        return _item(node, parts[0], parts[1].text), POSTFIX
    if isinstance(node, nodes.ListDisplay):
        has_tensors = any(part.kind == TENSOR for part in parts)
        texts = [part.result() if has_tensors else part.text for part in parts]
        return f"{node.type}{{{', '.join(texts)}}}", POSTFIX
    if isinstance(node, nodes.Unary):
        one = parts[0] if node.operator == "*" else parts[0].value()
        operand = (_plain_number(one) if node.operator == "!" else one).at(UNARY_PRECEDENCE)
        if operand[0] == node.operator in "-+":  # `--x` is one operator.
            operand = f"({operand})"
        return f"{node.operator}{operand}", UNARY_PRECEDENCE
    if isinstance(node, nodes.Conditional):
        # Both branches have one type in C++, and `None` alone has none.
        yes, no = (part.result() if part.tree.is_none else part.at(2) for part in parts[1:])
        return f"{_plain_number(parts[0]).at(2)} ? {yes} : {no}", _CONDITIONAL
    return _binary(node, parts[0].value(), parts[1].value())


def _item(node: nodes.Subscript, of: Written, index: str) -> str:
    """An element of a list or of a tensor. C++ lists have no negative indices, and check none."""
    value = node.value
    has_it = isinstance(value, nodes.Name) and value.text in ("grads", "grad_input_mask")
    is_written = has_it and isinstance(node.index, nodes.Literal)
    if not of.kind.is_list or is_written:
        return f"{of.at(POSTFIX)}[{index}]"
    return f"autograd::item({of.text}, {index})"


def _leaf(node: nodes.Name | nodes.Literal | nodes.Lambda) -> str:
    if isinstance(node, nodes.Literal):
        return quote(node.text[1:-1]) if node.text[:1] in "'\"" else node.text
    if isinstance(node, nodes.Lambda) or "::" in node.text:
        return node.text  # A constant such as `at::MemoryFormat::Contiguous`.
    return _CONSTANTS.get(node.text) or identifier(node.text)


def _binary(node: nodes.Binary, left: Written, right: Written) -> tuple[str, int]:
    operator, level = node.operator, PRECEDENCE[node.operator]
    kinds = left.kind.present, right.kind.present
    if all(kind.is_number for kind in kinds):
        left, right = _plain_number(left), _plain_number(right)
        sorts = {kind.sort for kind in kinds}
        if operator == "/" and sorts <= INTEGERS:
            if Sort.symint in sorts:
                return f"c10::SymFloat({left.text}) / c10::SymFloat({right.text})", level
            return f"static_cast<double>({left.text}) / {right.at(level + 1)}", level
        if operator == "%" and not is_nonzero(node.right):
            return f"autograd::remainder({left.text}, {right.text})", POSTFIX
    if is_before_tensor(node, kinds):
        return _before_tensor(operator, left, right)
    first, second = (_clear(side, operator) for side in (left, right))
    return f"{first.at(level)} {operator} {second.at(level + 1)}", level


def is_before_tensor(node: nodes.Binary, kinds: Sequence[Kind]) -> bool:
    """Whether a number stands before a tensor. C++'s operators would give it the dtype of the tensor, which cuts
    `2.5` off before integers, and divides no integers."""
    return node.operator in REFLECTED and kinds[0].present.is_number and kinds[1].present == TENSOR


def _before_tensor(operator: str, number: Written, tensor: Written) -> tuple[str, int]:
    if operator == "-":
        return f"at::rsub({tensor.text}, {number.text})", POSTFIX
    if operator == "%":
        return f"at::remainder({number.text}, {tensor.text})", POSTFIX
    inverse, level = f"{tensor.at(POSTFIX)}.reciprocal()", PRECEDENCE["*"]
    is_one = number.text in ("1", "1.0")
    return (inverse, POSTFIX) if is_one else (f"{number.at(level)} * {inverse}", level)


def _clear(side: Written, operator: str) -> Written:
    """An operand, in brackets where compilers ask for them: few readers know how tightly these bind."""
    node = side.tree.node
    if not isinstance(node, nodes.Binary) or not _is_unclear(operator, node.operator):
        return side
    return Written(side.tree, side.at(POSTFIX))


def _is_unclear(outer: str, inner: str) -> bool:
    if outer in BITWISE:
        return inner != outer
    return (outer in COMPARISONS and inner in COMPARISONS) or (outer, inner) == ("||", "&&")


def _plain_number(written: Written) -> Written:
    """A number that C++ calculates with: arithmetic of two `at::Scalar`s does not exist."""
    if written.kind.sort is not Sort.scalar:
        return written
    return Written(written.tree, f"{written.at(POSTFIX)}.toDouble()")


def _called(
    tree: Typed, parts: Sequence[Written], functions: Functions
) -> tuple[str, Sequence[str]]:
    """What precedes a call's parenthesis, and its arguments."""
    node = tree.node
    assert isinstance(node, nodes.Call)
    if isinstance(node.function, nodes.Member):
        return _method(tree, node, node.function, parts, functions)
    if tree.operator is not None and tree.operator.is_own:
        return _own(tree.operator, node, parts, functions)
    if not isinstance(node.function, nodes.Name):
        return parts[0].at(POSTFIX), [part.text for part in parts[1:]]
    items, is_symbolic = _arguments(tree, node, parts)
    name = node.function.text
    if "::" in name:
        return name, items
    if name == "not_implemented":
        return f"autograd::{name}", items
    # If the author has functions too, the namespace `formulas` sees both theirs and PyTorch's.
    scope = "formulas" if functions.has_headers else "at"
    return f"{scope}::{_symbolic(name, is_symbolic)}", items


def _method(
    tree: Typed,
    node: nodes.Call,
    method: nodes.Member,
    parts: Sequence[Written],
    functions: Functions,
) -> tuple[str, Sequence[str]]:
    value, kind, name = parts[0].at(POSTFIX), parts[0].kind, method.name
    if name == "size" and kind.is_list and not node.arguments:
        return f"{value}.size", ()
    if name == "defined" and kind.is_optional:
        return f"{value}.has_value", ()
    if name == "conj" and kind.is_number and kind.sort is not Sort.scalar:
        return "", [parts[0].text]
    if tree.operator is not None and tree.operator.is_own:
        return _own(tree.operator, node, parts, functions)
    items, is_symbolic = _arguments(tree, node, parts)
    name = (_METHODS if items else _WITHOUT_ARGUMENTS).get(name, name)
    return f"{value}{'->' if method.arrow else '.'}{_symbolic(name, is_symbolic)}", items


def _symbolic(name: str, is_symbolic: bool) -> str:
    """The variant of a function that takes symbolic sizes, which a formula may name itself."""
    return f"{name}_symint" if is_symbolic and not name.endswith("_symint") else name


def _own(
    operator: Callee, node: nodes.Call, parts: Sequence[Written], functions: Functions
) -> tuple[str, Sequence[str]]:
    """A call of an operator of the library."""
    bound = _bound(operator, node, parts, (), every=not operator.is_function)
    is_symbolic = has_symint(operator.func) and any(sort is Sort.symint for _, sort in bound)
    texts = [
        (
            f"autograd::optional({text})"
            if bare_type(argument.type) == "Tensor?" and sort is not Sort.unknown
            else text
        )
        for (text, sort), argument in zip(bound, operator.func.arguments)
    ]
    name = f"functions::{function_name(operator.func.base_name)}{'_symint' * is_symbolic}"
    if not operator.is_function:
        name = f"ops::{functions.structs[operator.name]}::call"
    return f"::{functions.namespace}::{name}", texts


def _arguments(tree: Typed, node: nodes.Call, parts: Sequence[Written]) -> tuple[list[str], bool]:
    """The arguments of a call of a PyTorch function, less the object of a method, and whether one is symbolic."""
    named = dict(zip([key for key, _ in node.keywords], parts[len(parts) - len(node.keywords) :]))
    options = {key: named[key].text for key in OPTIONS if key in named}
    given = parts[: len(parts) - len(node.keywords)]
    bound = [(part.text, part.kind.sort) for part in given]
    if tree.operator is not None and len(options) < len(named):
        bound = _bound(tree.operator, node, parts, options)
    bound = bound[len(given) - len(node.arguments) :]
    texts = [text for text, _ in bound]
    if options:
        setters = "".join(f".{OPTIONS[key]}({text})" for key, text in options.items())
        texts.append(f"at::TensorOptions(){setters}")
    return texts, any(sort is Sort.symint for _, sort in bound)


def _bound(
    operator: Callee,
    node: nodes.Call,
    parts: Sequence[Written],
    ignored: Collection[str],
    *,
    every: bool = False,
) -> list[tuple[str, Sort]]:
    """Arguments in the order of the schema, with its defaults between; all of them, or what is needed."""
    count = len(parts) - len(node.keywords)
    bound = [(part.text, part.kind.sort) for part in parts[:count]]
    keywords = dict(zip([key for key, _ in node.keywords], parts[count:]))
    left = keywords.keys() - set(ignored)
    for argument in argument_layout(operator.func).inputs[count:]:
        if not left and not every:
            break
        if argument.name in left:
            left.discard(argument.name)
            bound.append((keywords[argument.name].text, keywords[argument.name].kind.sort))
        else:
            default = as_written(
                argument.default or "None", argument.type, "SymInt" if every else "int"
            )
            bound.append((default.text, Sort.unknown))
    return bound
