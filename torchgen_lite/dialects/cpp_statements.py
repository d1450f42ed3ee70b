"""A formula as statements of C++ that fit into lines.

const auto grad_self_part = self.exp().log1p() * 2.5;
grad_self_ = grad * grad_self_part;
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count

from torchgen_lite.analysis.differentiability.typed import Typed
from torchgen_lite.dialects.cpp_formula import Functions, Written, called, write, write_node
from torchgen_lite.dialects.cpp_text import LINE_LENGTH, assigned, assignment
from torchgen_lite.schema.formula import Binary, Call, Conditional, Lambda, Member, Name, Unary
from torchgen_lite.schema.formula.kinds import SYMINTS, TENSOR


def statements(
    functions: Functions, target: str, tree: Typed, *, part: str, indent: int
) -> list[str]:
    """`target = formula;` in as many statements as fit into lines, each item one line.

    What doesn't fit is taken apart: operands, objects of methods and arguments of calls get a name of their
    own, `part`, `part_2` and on.
    """
    return _Splitter(functions, _names(part)).lines(target, write(tree, functions), indent)


def _names(part: str) -> Iterator[str]:
    yield part
    yield from (f"{part}_{number}" for number in count(2))


@dataclass(frozen=True, slots=True)
class _Splitter:
    functions: Functions
    names: Iterator[str] = field(repr=False)

    def lines(
        self, local: str, written: Written, indent: int, *, is_new: bool = False
    ) -> list[str]:
        """The statements that give `local` its value, and declare it where it `is_new`."""
        margin, target = " " * indent, f"const auto {local}" if is_new else local
        text, node = written.result(), written.tree.node
        is_conditional = isinstance(node, Conditional)
        if indent + len(f"{target} = {text};") <= LINE_LENGTH:
            return [f"{margin}{target} = {text};"]
        if indent + 4 + len(text) + 1 <= LINE_LENGTH and not is_conditional:
            head = f"{margin}{assigned(target, indent=indent)} ="
            return [*head.split("\n"), f"{margin}    {text};"]
        if is_conditional:
            lines = self._branches(local, written, indent, is_new=is_new)
            if lines:
                return lines
        index = _heaviest(written)
        # A list that belongs to a tensor without a name would not outlive the statement.
        if index is None or written.parts[index].kind == SYMINTS:
            return self._as_it_is(target, written, margin)
        return self._apart(local, written, index, indent, is_new=is_new)

    def _branches(
        self, local: str, written: Written, indent: int, *, is_new: bool
    ) -> list[str] | None:
        """The branches as statements, of which only one runs."""
        test, yes, no = written.parts
        margin = " " * indent
        if is_new:
            if not (yes.kind == no.kind == TENSOR):
                return None
            return [f"{margin}at::Tensor {local};", *self.lines(local, written, indent)]
        opening = f"{margin}if ({test.text}) {{"
        if len(opening) > LINE_LENGTH:
            return None
        branches = [self.lines(local, branch, indent + 2) for branch in (yes, no)]
        return [opening, *branches[0], f"{margin}}} else {{", *branches[1], f"{margin}}}"]

    def _apart(
        self, local: str, written: Written, index: int, indent: int, *, is_new: bool
    ) -> list[str]:
        """The heaviest operand under a name of its own, and then the rest."""
        name, parts = next(self.names), list(written.parts)
        inner = parts[index]
        parts[index] = write(Typed(Name(name), inner.kind), self.functions)
        rest = write_node(written.tree, parts, self.functions)
        lines = self.lines(name, inner, indent, is_new=True)
        return [*lines, *self.lines(local, rest, indent, is_new=is_new)]

    def _as_it_is(self, target: str, written: Written, margin: str) -> list[str]:
        """A statement that no line holds: a call with one argument a line, or as it comes."""
        node = written.tree.node
        if isinstance(node, Call) and not any(isinstance(a, Lambda) for a in node.arguments):
            head, items = called(written.tree, written.parts, self.functions)
            first, *rest = assignment(target, f"{head}(", items, indent=len(margin)).split("\n")
            if all(len(line) <= LINE_LENGTH for line in (margin + first, *rest)):
                return [margin + first, *rest]
        text = f"{margin}{target} = {written.result()};"
        return [f"{margin}// clang-format off", text, f"{margin}// clang-format on"]


def _heaviest(written: Written) -> int | None:
    """The longest operand that can have a name; the object of a method is the last choice."""
    node, choices = written.tree.node, list(range(len(written.parts)))
    if isinstance(node, Call):
        choices = choices[: len(choices) - len(node.keywords)]
        if isinstance(node.function, Member):
            choices.append(choices.pop(0))
    elif not isinstance(node, (Unary, Binary)):
        return None
    weights = [_weight(written.parts[index]) for index in choices]
    return choices[weights.index(max(weights))] if any(weights) else None


def _weight(part: Written) -> int:
    is_able = isinstance(part.tree.node, (Binary, Call, Unary, Conditional))
    return len(str(part.tree.node)) if is_able else 0
