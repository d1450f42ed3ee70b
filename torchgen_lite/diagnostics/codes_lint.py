"""Codes 4xx, of lint: overloads, aliasing, dispatch, variants."""

from __future__ import annotations

from .code import Code

LINT_CODES = (
    Code(
        "TG401",
        "mutation of something that is not a tensor",
        "warning",
        "A `!` after `int`, or after another type that is passed by value, says that the operator changes "
        "the argument, which it cannot.",
        "- func: f(int(a!)? x) -> ()",
        "- func: f(int? x) -> ()",
    ),
    Code(
        "TG402",
        "in-place name, but `self` is not written",
        "warning",
        "A name that ends in an underscore promises that the operator changes its first argument.",
        "- func: relu_(Tensor self) -> Tensor",
        "- func: relu_(Tensor(a!) self) -> Tensor(a!)",
    ),
    Code(
        "TG403",
        "`self` is written and returned, but the name is not in-place",
        "warning",
        "An operator that changes `self` and returns it is an in-place variant, whose name ends in an underscore.",
        "- func: relu(Tensor(a!) self) -> Tensor(a!)",
        "- func: relu_(Tensor(a!) self) -> Tensor(a!)",
    ),
    Code(
        "TG404",
        "out argument that is not keyword-only",
        "warning",
        "Out arguments come after `*`, so that callers cannot pass them by position.",
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
        "CompositeExplicitAutograd takes precedence over CompositeImplicitAutograd for every backend, and for "
        "Autograd keys the latter is not used if the former exists.",
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
        "AutogradOther key. Calls on any such backend fail because of the ambiguity.",
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
        "but neither a Meta kernel nor a composite one.",
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
        "No version is in the range, so the operator is never built.",
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
        "autogen differs from what is derived",
        "warning",
        "With `autogen`, missing variants of the operator are derived, and it has to list exactly these; "
        "PyTorch's generator refuses the file otherwise.",
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
        "variant whose arguments differ from those of the functional one",
        "warning",
        "PyTorch finds the in-place and out variants of an operator by their arguments and their defaults. One "
        "that differs is not recognized: it gets no derivative from the functional variant, and functionalization "
        "cannot replace it.",
        "- func: clip(Tensor self, float high) -> Tensor\n  dispatch:\n    CPU, Meta: clip\n"
        "- func: clip_(Tensor(a!) self, float limit) -> Tensor(a!)\n  dispatch:\n    CPU, Meta: clip_",
        "- func: clip(Tensor self, float high) -> Tensor\n  dispatch:\n    CPU, Meta: clip\n"
        "- func: clip_(Tensor(a!) self, float high) -> Tensor(a!)\n  dispatch:\n    CPU, Meta: clip_",
    ),
    Code(
        "TG417",
        "view without a copy variant",
        "warning",
        "In place of a view, PyTorch's functionalization calls `<name>_copy`, which has the same arguments and the tag "
        "`view_copy`. PyTorch's generator refuses a file in which it is missing or has "
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
        "autogen on a composite operator",
        "warning",
        "Variants are derived from operators with their own kernels. An operator with a CompositeImplicitAutograd "
        "kernel, which includes every operator without a `dispatch:` table, calls other operators, whose variants "
        "are used. PyTorch makes an exception only for its core set.",
        "- func: twice(Tensor self) -> Tensor\n  autogen: twice.out",
        "- func: twice(Tensor self) -> Tensor\n  dispatch:\n    CompositeExplicitAutograd: twice\n"
        "  autogen: twice.out",
    ),
)
