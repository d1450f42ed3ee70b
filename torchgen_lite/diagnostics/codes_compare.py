"""Codes 35x and 36x: what `breaking` finds between two versions of the schema files."""

from __future__ import annotations

from .code import Code


def _versions(old: str, new: str, more: str = "") -> str:
    files = f"-- old.yaml --\n{old}\n-- native_functions.yaml --\n{new}"
    return f"{files}\n$ torchgen-lite breaking --against old.yaml{more}"


_F = "- func: f(Tensor self, int dim=0) -> Tensor"

COMPARE_CODES = (
    Code(
        "TG350",
        "an operator was removed",
        "error",
        "An operator of the old version isn't declared any more, under any overload name. Every call of it "
        "fails. The label is where it was.",
        _versions(f"{_F}\n- func: g(Tensor self) -> Tensor", _F),
        _versions(_F, f"{_F}\n- func: g(Tensor self) -> Tensor"),
    ),
    Code(
        "TG351",
        "an overload was removed or renamed",
        "error",
        "The operator is still there, and this overload of it is not. Callers that name the overload, "
        "exported programs and kernels registered for it fail.",
        _versions(
            "- func: f.x(Tensor self) -> Tensor\n- func: f.y(int self) -> Tensor",
            "- func: f.z(Tensor self) -> Tensor\n- func: f.y(int self) -> Tensor",
        ),
        _versions(
            "- func: f.x(Tensor self) -> Tensor",
            "- func: f.x(Tensor self) -> Tensor\n- func: f.y(int self) -> Tensor",
        ),
    ),
    Code(
        "TG352",
        "an argument was removed",
        "error",
        "Callers that pass the argument fail. Keep it, and ignore it in the kernel.",
        _versions(_F, "- func: f(Tensor self) -> Tensor"),
        _versions("- func: f(Tensor self) -> Tensor", _F),
    ),
    Code(
        "TG353",
        "an argument was renamed",
        "error",
        "Callers that pass the argument by name fail. For a positional argument this counts at "
        "`--level source` only.",
        _versions(_F, "- func: f(Tensor self, int axis=0) -> Tensor"),
        _versions(_F, "- func: f(Tensor self, int? dim=0) -> Tensor"),
    ),
    Code(
        "TG354",
        "the order of the arguments changed",
        "error",
        "Arguments changed places, or a new one was put before old ones; callers pass them by position. "
        "A new argument belongs at the end.",
        _versions(_F, "- func: f(Tensor self, bool keep=False, int dim=0) -> Tensor"),
        _versions(_F, "- func: f(Tensor self, int dim=0, bool keep=False) -> Tensor"),
    ),
    Code(
        "TG355",
        "an argument became keyword-only",
        "error",
        "Callers that pass it by position fail.",
        _versions(_F, "- func: f(Tensor self, *, int dim=0) -> Tensor"),
        _versions("- func: f(Tensor self, *, int dim=0) -> Tensor", _F),
    ),
    Code(
        "TG356",
        "a new argument has no default",
        "error",
        "Old callers don't pass it. Give it the default that keeps the old behaviour.",
        _versions(_F, "- func: f(Tensor self, int dim=0, *, bool keep) -> Tensor"),
        _versions(_F, "- func: f(Tensor self, int dim=0, *, bool keep=False) -> Tensor"),
    ),
    Code(
        "TG357",
        "a default changed",
        "error",
        "A call that leaves the argument out now means something else, and nothing fails.",
        _versions(_F, "- func: f(Tensor self, int dim=-1) -> Tensor"),
        _versions(
            "- func: f(Tensor self, float eps=1e-5) -> Tensor",
            "- func: f(Tensor self, float eps=0.00001) -> Tensor",
        ),
    ),
    Code(
        "TG358",
        "a default was dropped",
        "error",
        "Callers that leave the argument out fail.",
        _versions(_F, "- func: f(Tensor self, int dim) -> Tensor"),
        _versions("- func: f(Tensor self, int dim) -> Tensor", _F),
    ),
    Code(
        "TG359",
        "the type of an argument was narrowed",
        "error",
        "The new type doesn't take every value that the old one took. `Tensor` may become `Tensor?`, `int` "
        "may become `Scalar`, anything may become `Any`; the size of a list has to stay.",
        _versions(
            "- func: f(Tensor? self) -> Tensor",
            "- func: f(Tensor self) -> Tensor",
        ),
        _versions(
            "- func: f(Tensor self) -> Tensor",
            "- func: f(Tensor? self) -> Tensor",
        ),
    ),
    Code(
        "TG360",
        "an alias annotation changed",
        "error",
        "What the operator writes to, or returns a view of, is part of its contract: functionalization and "
        "autograd rely on it. PyTorch compares the names of the alias sets too.",
        _versions(
            "- func: f(Tensor self) -> Tensor",
            "- func: f(Tensor(a) self) -> Tensor(a)",
        ),
        _versions(
            "- func: f(Tensor(a) self) -> Tensor(a)",
            "- func: f(Tensor(a) self, int dim=0) -> Tensor(a)",
        ),
    ),
    Code(
        "TG361",
        "the returns changed",
        "error",
        "There are more or fewer return values, or one has a wider type than callers expect. A return type "
        "may become narrower: `Tensor?` may become `Tensor`.",
        _versions(_F, "- func: f(Tensor self, int dim=0) -> (Tensor, Tensor)"),
        _versions(
            "- func: f(Tensor self) -> Tensor?",
            "- func: f(Tensor self) -> Tensor",
        ),
    ),
    Code(
        "TG362",
        "a return value was renamed",
        "error",
        "The fields of a named tuple have the names of the returns. Counts at `--level source` only.",
        _versions(
            "- func: f(Tensor self) -> (Tensor values, Tensor indices)",
            "- func: f(Tensor self) -> (Tensor values, Tensor places)",
        ),
        _versions(
            "- func: f(Tensor self) -> (Tensor values, Tensor indices)",
            "- func: f(Tensor? self) -> (Tensor values, Tensor indices)",
        ),
    ),
    Code(
        "TG363",
        "`...` was added or removed",
        "error",
        "Whether an operator takes or returns any number of values is not changed compatibly.",
        _versions("- func: f(Tensor self, ...) -> Tensor", "- func: f(Tensor self) -> Tensor"),
        _versions(
            "- func: f(Tensor self, ...) -> Tensor", "- func: f(Tensor? self, ...) -> Tensor"
        ),
    ),
    Code(
        "TG364",
        "a dispatch key was removed",
        "error",
        "The operator had a kernel for this key, and no key that stands for it has one now. Calls with such "
        "tensors raise. A key may give way to a more general one: CPU to CompositeExplicitAutograd.",
        _versions(f"{_F}\n  dispatch:\n    CPU, CUDA: f", f"{_F}\n  dispatch:\n    CPU: f"),
        _versions(
            f"{_F}\n  dispatch:\n    CPU, CUDA: f",
            f"{_F}\n  dispatch:\n    CompositeExplicitAutograd: f",
        ),
    ),
    Code(
        "TG365",
        "a variant was removed",
        "error",
        "The operator was a method of tensors, or a function, and isn't any more. Counts at "
        "`--level source` only.",
        _versions(f"{_F}\n  variants: function, method", f"{_F}\n  variants: function"),
        _versions(f"{_F}\n  variants: function", f"{_F}\n  variants: function, method"),
    ),
    Code(
        "TG366",
        "kernels have another type",
        "error",
        "The operator has other C++ types than before, and a library that registers the kernel of before aborts when it "
        "is loaded. Only `--level kernel` says so: callers may not notice.",
        _versions(
            _F, "- func: f(Tensor self, int dim=0, bool keep=False) -> Tensor", " --level kernel"
        ),
        _versions(_F, "- func: f(Tensor self, SymInt axis=1) -> Tensor", " --level kernel"),
    ),
)
