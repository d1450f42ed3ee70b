"""Codes 35x and 36x: what `breaking` finds between two versions of the schema files."""

from __future__ import annotations

from .code import Code


def _versions(old: str, new: str, more: str = "") -> str:
    files = f"-- old.yaml --\n{old}\n-- native_functions.yaml --\n{new}"
    return f"{files}\n$ torchgen-lite breaking --against old.yaml{more}"


def _compiled(old: str, new: str) -> str:
    """The same for operators of torch.library."""
    return f'-- torchgen_lite.toml --\ntargets = ["torch-python"]\n{_versions(old, new)}'


_SCALE = """\
- func: mylib::scale(Tensor self) -> Tensor
  dispatch:
    CPU: scale
"""
_SCALE_ = """\
- func: mylib::scale_(Tensor(a!) self) -> Tensor(a!)
  dispatch:
    CPU: scale_
"""
_F = "- func: f(Tensor self, int dim=0) -> Tensor"

COMPARE_CODES = (
    Code(
        "TG350",
        "an operator was removed",
        "error",
        "An operator of the old version is no longer declared, under any overload name. Every call of it "
        "fails. The label shows where it was declared.",
        _versions(f"{_F}\n- func: g(Tensor self) -> Tensor", _F),
        _versions(_F, f"{_F}\n- func: g(Tensor self) -> Tensor"),
    ),
    Code(
        "TG351",
        "an overload was removed or renamed",
        "error",
        "The operator still exists, but not this overload. Callers that name the overload, "
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
        "Arguments were reordered, or a new one was inserted before existing ones, and callers pass them by position. "
        "Add new arguments at the end.",
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
        "A call that omits the argument now means something else, and nothing fails.",
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
        "Callers that omit the argument fail.",
        _versions(_F, "- func: f(Tensor self, int dim) -> Tensor"),
        _versions("- func: f(Tensor self, int dim) -> Tensor", _F),
    ),
    Code(
        "TG359",
        "the type of an argument was narrowed",
        "error",
        "The new type does not accept every value that the old one accepted. `Tensor` may become `Tensor?`, `int` "
        "may become `Scalar`, anything may become `Any`; the size of a list must not change.",
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
        "Whether an operator takes or returns any number of values cannot be changed compatibly.",
        _versions("- func: f(Tensor self, ...) -> Tensor", "- func: f(Tensor self) -> Tensor"),
        _versions(
            "- func: f(Tensor self, ...) -> Tensor", "- func: f(Tensor? self, ...) -> Tensor"
        ),
    ),
    Code(
        "TG364",
        "a dispatch key was removed",
        "error",
        "The operator had a kernel for this key, and now neither the key nor an alias of it has one: the cells of its "
        "dispatch table are `missing`, and calls with such tensors fail. A key may be replaced by a more general one: "
        "CPU by CompositeExplicitAutograd. What is registered depends on the configured targets, as in `table`.",
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
        "The operator is no longer a method of tensors, or no longer a function. Counts at "
        "`--level source` only.",
        _versions(f"{_F}\n  variants: function, method", f"{_F}\n  variants: function"),
        _versions(f"{_F}\n  variants: function", f"{_F}\n  variants: function, method"),
    ),
    Code(
        "TG366",
        "type of the kernels changed",
        "error",
        "The C++ types of the operator changed, and a library that registers a kernel of the old type aborts when it "
        "is loaded. Only `--level kernel` reports this, as callers may not notice.",
        _versions(
            _F, "- func: f(Tensor self, int dim=0, bool keep=False) -> Tensor", " --level kernel"
        ),
        _versions(_F, "- func: f(Tensor self, SymInt axis=1) -> Tensor", " --level kernel"),
    ),
    Code(
        "TG367",
        "a functionalization was lost",
        "error",
        "The operator writes to its arguments, and had a kernel that says the same without writing, made from its "
        "functional variant or written by hand. Without that, torch.compile and torch.export refuse the operator. "
        "Keep the functional variant, with the same arguments.",
        _compiled(_SCALE + _SCALE_, _SCALE.replace("self", "self, float by=2.0") + _SCALE_),
        _compiled(_SCALE + _SCALE_, _SCALE + _SCALE_),
    ),
    Code(
        "TG368",
        "a gradient was lost",
        "error",
        "A call used to record a gradient, by formulas or because the kernel is composed of operators that do, and now "
        "records none. Training goes on without an error, or fails far from here. Keep `derivatives`, or write them "
        "for a kernel that is no longer composed.",
        _versions(
            f"{_F}\n  dispatch:\n    CompositeImplicitAutograd: f",
            f"{_F}\n  dispatch:\n    CompositeExplicitAutograd: f",
        ),
        _versions(
            f"{_F}\n  dispatch:\n    CompositeImplicitAutograd: f",
            f"{_F}\n  dispatch:\n    CompositeExplicitAutograd: f\n  derivatives:\n    self: grad",
        ),
    ),
    Code(
        "TG369",
        "only a fallback is left",
        "error",
        "The operator had a kernel for this key, and now such calls get what serves every operator: a slow loop for "
        "vmap, and no cast under autocast.",
        _compiled(f"{_SCALE}  vmap: scale_vmap\n", _SCALE),
        _compiled(f"{_SCALE}  vmap: scale_vmap\n", f"{_SCALE}  vmap: scale_batch\n"),
    ),
)
