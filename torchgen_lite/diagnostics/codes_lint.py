"""Codes 4xx, of lint: overloads, aliasing, dispatch, variants."""

from __future__ import annotations

from .code import Code

LINT_CODES = (
    Code(
        "TG401",
        "mutation of something that is not a tensor",
        "warning",
        "A `!` behind an `int` or another type that is passed by value says that the operator changes "
        "it, which it cannot.",
        "- func: f(int(a!)? x) -> ()",
        "- func: f(int? x) -> ()",
    ),
    Code(
        "TG402",
        "in-place name, but `self` is not written",
        "warning",
        "A name that ends in an underscore promises that the first argument is changed.",
        "- func: relu_(Tensor self) -> Tensor",
        "- func: relu_(Tensor(a!) self) -> Tensor(a!)",
    ),
    Code(
        "TG403",
        "`self` is written and returned, but the name is not in-place",
        "warning",
        "An operator that changes `self` and returns it is the in-place variant and is called so.",
        "- func: relu(Tensor(a!) self) -> Tensor(a!)",
        "- func: relu_(Tensor(a!) self) -> Tensor(a!)",
    ),
    Code(
        "TG404",
        "out argument that is not keyword-only",
        "warning",
        "Out arguments come behind `*`; a caller must not pass one by position.",
        "- func: relu.out(Tensor self, Tensor(a!) out) -> Tensor(a!)",
        "- func: relu.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    ),
    Code(
        "TG405",
        "returned alias that no argument has",
        "warning",
        "A return value says that it aliases set `b`, and no argument is in that set.",
        "- func: view(Tensor(a) self) -> Tensor(b)",
        "- func: view(Tensor(a) self) -> Tensor(a)",
    ),
    Code(
        "TG406",
        "kernel that no call can reach",
        "warning",
        "No argument carries a dispatch key (no Tensor, no Generator), so a kernel for a backend is "
        "never chosen. Register it for CompositeExplicitAutograd, or give the operator a device argument "
        "and let BackendSelect choose.",
        "- func: version(int n) -> int\n  dispatch:\n    CPU: version",
        "- func: version(int n) -> int\n  dispatch:\n    CompositeExplicitAutograd: version",
    ),
    Code(
        "TG407",
        "composite kernel that is shadowed everywhere",
        "warning",
        "CompositeExplicitAutograd stands before CompositeImplicitAutograd for every backend, and for "
        "Autograd keys the latter is not used once the former is there.",
        """\
- func: f(Tensor self) -> Tensor
  dispatch:
    CompositeImplicitAutograd: f
    CompositeExplicitAutograd: g""",
        """\
- func: f(Tensor self) -> Tensor
  dispatch:
    CompositeExplicitAutograd: g""",
    ),
    Code(
        "TG408",
        "ambiguous AutogradOther",
        "warning",
        "The operator has a CompositeImplicitAutograd kernel and a kernel of a backend that shares the "
        "AutogradOther key. A call on any such backend gets an error about the ambiguity.",
        """\
- func: f(Tensor self) -> Tensor
  dispatch:
    CompositeImplicitAutograd: f
    FPGA: f_fpga""",
        """\
- func: f(Tensor self) -> Tensor
  dispatch:
    CompositeExplicitAutograd: f
    FPGA: f_fpga""",
    ),
    Code(
        "TG409",
        "backend kernels without a Meta kernel",
        "warning",
        "Tracing and shape inference run operators on Meta tensors. This one has kernels for backends, "
        "and neither a Meta kernel nor a composite one.",
        """\
- func: f(Tensor self) -> Tensor
  dispatch:
    CPU: f_cpu""",
        """\
- func: f(Tensor self) -> Tensor
  dispatch:
    CPU: f_cpu
    Meta: f_meta""",
    ),
    Code(
        "TG410",
        "CompositeImplicitAutograd together with Autograd",
        "warning",
        "A composite implicit kernel is its own derivative formula. The Autograd kernel replaces it on "
        "every Autograd key.",
        """\
- func: f(Tensor self) -> Tensor
  dispatch:
    CompositeImplicitAutograd: f
    Autograd: f_autograd""",
        """\
- func: f(Tensor self) -> Tensor
  dispatch:
    CompositeExplicitAutograd: f
    Autograd: f_autograd""",
    ),
    Code(
        "TG411",
        "overloads that a caller cannot tell apart",
        "warning",
        "Two overloads of one operator take the same arguments in Python, so only one can be called "
        "without naming the overload.",
        "- func: f.a(Tensor x) -> Tensor\n- func: f.b(Tensor y) -> Tensor",
        "- func: f.a(Tensor x) -> Tensor\n- func: f.b(Tensor x, *, int n) -> Tensor",
    ),
    Code(
        "TG412",
        "empty version range",
        "warning",
        "No version lies in the range, so the operator is never built.",
        '- func: f(Tensor x) -> Tensor\n  torch: ">=2.9,<2.6"',
        '- func: f(Tensor x) -> Tensor\n  torch: ">=2.6,<2.9"',
    ),
    Code(
        "TG413",
        "one kernel for two schemas",
        "warning",
        "Two operators with different argument types name the same kernel for the same key.",
        """\
- func: f(Tensor x) -> Tensor
  dispatch:
    CPU, Meta: k
- func: g(Tensor x, int n) -> Tensor
  dispatch:
    CPU, Meta: k""",
        """\
- func: f(Tensor x) -> Tensor
  dispatch:
    CPU, Meta: k_f
- func: g(Tensor x, int n) -> Tensor
  dispatch:
    CPU, Meta: k_g""",
    ),
    Code(
        "TG414",
        "in-place operator that does not return `self`",
        "warning",
        "In-place operators return their first argument, `-> Tensor(a!)`, so that calls can be chained; "
        "only those over lists of tensors return nothing.",
        "- func: relu_(Tensor(a!) self) -> Tensor",
        "- func: relu_(Tensor(a!) self) -> Tensor(a!)",
    ),
    Code(
        "TG415",
        "autogen is not what is derived",
        "warning",
        "A group of variants is completed where `autogen` asks for it, and its lines have to name exactly what "
        "is derived then; PyTorch's generator refuses the file otherwise.",
        """\
- func: foo_(Tensor(a!) self) -> Tensor(a!)
  dispatch:
    CPU, Meta: foo_
  autogen: foo.out""",
        """\
- func: foo_(Tensor(a!) self) -> Tensor(a!)
  dispatch:
    CPU, Meta: foo_
  autogen: foo, foo.out""",
    ),
    Code(
        "TG416",
        "variant with other arguments than its functional one",
        "warning",
        "PyTorch finds the in-place and out variants of an operator by their arguments and their defaults. One "
        "that differs stands alone: it gets no derivative from the functional variant, and functionalization "
        "cannot replace it.",
        "- func: clip(Tensor self, float high) -> Tensor\n  dispatch:\n    CPU, Meta: clip\n"
        "- func: clip_(Tensor(a!) self, float limit) -> Tensor(a!)\n  dispatch:\n    CPU, Meta: clip_",
        "- func: clip(Tensor self, float high) -> Tensor\n  dispatch:\n    CPU, Meta: clip\n"
        "- func: clip_(Tensor(a!) self, float high) -> Tensor(a!)\n  dispatch:\n    CPU, Meta: clip_",
    ),
    Code(
        "TG417",
        "view without its copy",
        "warning",
        "PyTorch's functionalization calls `<name>_copy`, with the arguments of the view and the tag "
        "`view_copy`, in the place of a view. Its generator refuses a file in which one is missing or takes "
        "other arguments.",
        "- func: row(Tensor(a) self, int i) -> Tensor(a)\n  dispatch:\n    CPU, Meta: row\n"
        "- func: row_copy(Tensor self, int index) -> Tensor\n  dispatch:\n"
        "    CompositeExplicitAutograd: row_copy\n  tags: view_copy",
        "- func: row(Tensor(a) self, int i) -> Tensor(a)\n  dispatch:\n    CPU, Meta: row\n"
        "- func: row_copy(Tensor self, int i) -> Tensor\n  dispatch:\n"
        "    CompositeExplicitAutograd: row_copy\n  tags: view_copy",
    ),
    Code(
        "TG418",
        "autogen of what is composed of other operators",
        "warning",
        "Variants are derived from operators with kernels of their own. One with a CompositeImplicitAutograd "
        "kernel, also by not having a `dispatch:` table, is made of operators that have theirs, and only the "
        "core set of PyTorch is treated otherwise.",
        "- func: twice(Tensor self) -> Tensor\n  autogen: twice.out",
        "- func: twice(Tensor self) -> Tensor\n  dispatch:\n    CompositeExplicitAutograd: twice\n"
        "  autogen: twice.out",
    ),
)
