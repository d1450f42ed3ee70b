"""The proof that the kernels have the types that their schemas demand: `verify/<operator>.h`, `verify_kernels.h`.

// mylib::scale(Tensor self, float s) -> Tensor

#line TORCHGEN_LITE_LINE
TORCHGEN_LITE_VERIFY(mylib, scale_CPU, "mylib::scale: kernel 'scale_cpu' must",
  (it<>,        is<0>,       is<1>,      result<>), &::mylib::scale_cpu, as_is, as_is, true,
    (at::Tensor (const at::Tensor&, double)), (schema),
    (" take 2 arguments",
     " take 'const at::Tensor&' for argument 'self' (schema: Tensor)",
     " take 'double' for argument 's' (schema: float)",
     " return 'at::Tensor' (schema: Tensor)"))

Note [The proof of kernels]
The header stands at the end of a file that defines kernels. A kernel that the file declares is
found by its qualified name. For any other, a using-directive in the namespace supplies a constant
of the same name: qualified lookup follows a using-directive only if the namespace itself lacks the
name. So no list of which kernel is in which file is needed.
Lookup in a class cannot fall back like this, so the using-directive supplies a class of such
constants for one that is not declared; a class that is declared has every kernel.
Among several kernels of one name, the one of the right type is taken; only taking the address in a
template can detect that there is none.

Note [Where a mistake is shown]
A kernel's file is recompiled when a header that it includes changes. So these headers contain no
line number of the YAML, no defaults and no documentation, and each covers one operator: it changes
only if that operator's types do.
Its fourth line, after the generated-file marker, is the schema, without defaults. `#line` makes a compiler take the
checks for part of it, and each stands in its argument's column, so that the argument is underlined. An argument takes
at least seven columns (`int n, `), and `is<10>,` no more.

Note [What libtorch takes]
A kernel need not have the types that generated code calls it with: libtorch registers `Tensor` by value, a
`std::vector` for a list, a `std::string` for a `str`, and makes what the kernel takes. So arguments of kernels that the
author's headers declare are compared by what they stand for (`kernel_types.h`, or as the stable ABI unpacks them), and
such a kernel is called with boxed arguments (`kernel_function.h`). It may also have numbers of other types, `int` and
`float`, without libtorch, too: these are converted in calls, with a check of the range (`kernel_numbers.h`). A kernel
that generated code calls by its name may not: C++ would convert without a check. Where `kernels.h` declares it, its type
must be the one there: what is called would be another function, which nothing defines, and the linker does not say so of
a shared library.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import NamedTuple

from torchgen_lite.languages.cpp.kernels import split_class
from torchgen_lite.languages.cpp.signature import CppSignature, unrooted_signature
from torchgen_lite.schema.grouped import grouped, names_of
from torchgen_lite.targets.cpp.layout import Blocks, Layout, copied_files
from torchgen_lite.targets.cpp.model import CppOperator
from torchgen_lite.targets.cpp.required import Kernel, kernels_headers
from torchgen_lite.targets.file_names import file_names
from torchgen_lite.targets.output import Context, Files, OutputFile

# How numbers of kernels in the author's headers are converted, and what registers these.
CONVERSIONS = "kernel_numbers.h"
FUNCTIONS = "kernel_function.h"


class Relation(NamedTuple):
    """How kernels are compared: the templates that make of the type of an argument, and of the result, what is
    compared; what `other` types than its own a kernel may have. The kernels `by_name`, which generated code calls by
    their full names, are compared through the two `exactly`. Where the author's headers declare the kernels, the
    library has the `copied` headers of a `folder`, of which the last has the templates."""

    taken: str = "as_is"
    returned: str = "as_is"
    other: Callable[[Kernel], CppSignature | None] | None = None
    by_name: Collection[str] = ()
    exactly: tuple[str, str] = ("as_is", "as_is")
    folder: str = ""
    copied: Sequence[str] = ()

    def templates(self, kernels: Sequence[Kernel]) -> str:
        """Those for the arguments and the result of the kernels of one operator."""
        if any(kernel.qualified in self.by_name for kernel in kernels):
            return ", ".join(self.exactly)
        return f"{self.taken}, {self.returned}"


class Proof(NamedTuple):
    """What `TORCHGEN_LITE_VERIFY` is told of a kernel, which is one of `kernels` for each key that it serves, for its
    arguments, or the next twenty of them: the checks in their columns, what it must do, the `other` types that it may
    have.
    `takes_keys`: the keys of the call precede the arguments of the schema."""

    kernels: Sequence[Kernel]
    checks: str
    messages: Sequence[str]
    takes_keys: bool
    other: CppSignature | None


# The arguments that one proof compares; `TORCHGEN_LITE_EXPAND` suffices for them and the result. A kernel
# with more has several proofs.
_MOST = 20


def proof_files(
    layout: Layout,
    kernels: Sequence[Kernel],
    includes: Callable[[Sequence[Kernel]], Blocks],
    relation: Relation,
    *,
    declares: bool,
    python: Sequence[str] = (),
) -> Files:
    """`kernel_check.h`, `verify_kernels.h`, and in `verify` a header for each operator; before them `kernels.h` if it
    `declares` the kernels, and not only the author's headers do.

    `includes` declare the types of signatures. The kernels `python` are functions of Python.
    """
    namespace = layout.namespace
    if declares:
        yield from kernels_headers(layout, kernels, includes(kernels))
    yield from copied_files(layout, "cpp", "kernel_check.h")
    # Classes of the same name share one entry with all their kernels.
    classes: dict[str, dict[str, None]] = {}
    for kernel in kernels:
        if kernel.is_member:
            classes.setdefault(split_class(kernel.scope)[1], {})[kernel.name] = None
    fallback = f"{namespace.replace('::', '_')}_absent_kernels"
    shown = {"namespace": namespace, "fallback": fallback}
    if classes:
        context = {**shown, "folder": layout.folder, "classes": classes}
        yield OutputFile(layout.header(_CLASSES), "cpp/verify_classes.h.j2", context)
    by_operator = grouped(kernels, lambda kernel: kernel.operator.flat)
    stems = file_names(by_operator)
    for flat_name, of_operator in by_operator.items():
        entries = grouped(of_operator, lambda kernel: kernel.operator.function.torch)
        # The header of the first entry includes those for other releases, whose names no operator has.
        path = f"verify/{stems[flat_name]}"
        further = [f"{path}-v{number}.h" for number in range(2, len(entries) + 1)]
        for name, of_entry in zip([f"{path}.h", *further], entries.values()):
            local = ["kernel_check.h"]
            if any(kernel.is_member for kernel in of_entry):
                local.append(_CLASSES)
            if name not in further:
                local += further
            local += relation.copied[-1:]
            proof = {**shown, **_operator_context(of_entry, relation)}
            proof["includes"] = [list(map(layout.own, local)), *includes(of_entry)]
            yield OutputFile(layout.header(name), "cpp/verify_operator.h.j2", proof)
    names = [layout.own(f"verify/{stem}.h") for stem in stems.values()]
    every = {"namespace": namespace, "python": python, "includes": [names] if names else []}
    yield OutputFile(layout.header("verify_kernels.h"), "cpp/verify_kernels.h.j2", every)
    if relation.folder:
        yield from copied_files(layout, "cpp", CONVERSIONS)
        yield from copied_files(layout, relation.folder, *relation.copied)


_CLASSES = "verify_classes.h"


def _operator_context(kernels: Sequence[Kernel], relation: Relation) -> Context:
    """What the header of one operator contains."""
    free = [kernel for kernel in kernels if not kernel.is_member]
    members = [split_class(kernel.scope)[0] for kernel in kernels if kernel.is_member]
    operator = kernels[0].operator
    comment, columns = schema_line(operator)
    # A kernel that serves several keys is proven once.
    keys = grouped(kernels, lambda kernel: (kernel.qualified, kernel.signature.type))
    return {
        "operator": operator,
        "taken": relation.templates(kernels),
        "comment": comment,
        "absent": tuple(dict.fromkeys(names_of(free))),
        "scopes": tuple(dict.fromkeys([*[kernel.scope for kernel in free], *members])),
        "proofs": [
            _proof(alike, columns, first, relation)
            for alike in keys.values()
            for first in range(0, len(operator.schema.arguments) or 1, _MOST)
        ],
    }


def schema_line(operator: CppOperator) -> tuple[str, list[int]]:
    """The schema after `// `, on one line and without defaults; the column of each argument, and of the result."""
    schema = operator.schema
    columns = []
    text = f"// {operator.function.name}("
    separator = ""
    star = "*, "
    for argument in schema.arguments:
        text += separator
        if argument.kwarg_only:
            text += star
            star = ""
        columns.append(len(text))
        text += f"{argument.type} {argument.name}"
        separator = ", "
    text += ") -> "
    results = [f"{result.type} {result.name or ''}".rstrip() for result in schema.returns]
    is_one = len(results) == 1
    columns.append(len(text) + (not is_one))
    text += results[0] if is_one else f"({', '.join(results)})"
    return text, columns


def _proof(
    alike: Sequence[Kernel], columns: Sequence[int], first: int, relation: Relation
) -> Proof:
    """The checks of a kernel, which several keys may have, for its arguments from the `first` on."""
    kernel, *_ = alike
    extra = len(kernel.signature.types) - len(kernel.operator.schema.arguments)
    *arguments, result = columns
    compared = slice(first, first + _MOST)
    checks = [(column, f"is<{i}>") for i, column in [*enumerate(arguments, extra)][compared]]
    return Proof(
        alike,
        _at([(len("// "), "it<>"), *checks, (result, "result<>")]),
        list(_messages(kernel, unrooted_signature(kernel.signature), extra, compared)),
        bool(extra),
        relation.other and relation.other(kernel),
    )


def _at(checks: Sequence[tuple[int, str]]) -> str:
    """The checks as a list in brackets, each at its column."""
    text = ""
    for column, check in checks:
        start = f"{text},".ljust(column) if text else "(".rjust(column)
        text = start + check
    return f"{text})"


def _messages(
    kernel: Kernel, signature: CppSignature, extra: int, compared: slice
) -> Iterator[str]:
    """What a kernel must do: take so many arguments, each of its type, and return its result.

    `extra` is the number of those before the schema's: the keys of the call.
    """
    schema = kernel.operator.schema
    count = len(signature.types)
    first = ""
    if extra:
        first = ", the first the keys of the call"
    yield f" take {count} argument{'' if count == 1 else 's'}{first}"
    types = signature.types[extra:][compared]
    for argument, type_ in zip(schema.arguments[compared], types):
        yield f" take '{type_}' for argument '{argument.name}' (schema: {argument.type})"
    results = [str(r.type) for r in schema.returns]
    result = results[0] if len(results) == 1 else f"({', '.join(results)})"
    yield f" return '{signature.returns}' (schema: {result})"
