"""Codes 315 to 318 and 37x: the PyTorch operators of a backend."""

from __future__ import annotations

from .code import Code

_PROJECT = """\
-- torchgen_lite.toml --
schema = ["ops.yaml"]
native = "pytorch.yaml"
-- pytorch.yaml --
- func: mm.out(Tensor self, Tensor mat2, *, Tensor(a!) out) -> Tensor(a!)
- func: mm(Tensor self, Tensor mat2) -> Tensor
-- ops.yaml --
"""

_MM = """\
- func: mm.out(Tensor self, Tensor mat2, *, Tensor(a!) out) -> Tensor(a!)
  dispatch: {PrivateUse1: mm_out}"""

_STATS = """\
-- torchgen_lite.toml --
schema = ["ops.yaml"]
native = "pytorch.yaml"
-- pytorch.yaml --
- func: _copy_from(Tensor self, Tensor dst, bool non_blocking=False) -> Tensor
- func: count_(Tensor(a!) self, Tensor(b!) seen) -> Tensor(a!)
  dispatch: {{CPU: count_}}
  autogen: count, count.out
-- ops.yaml --
backend: XLA
cpp_namespace: xla
supported:
- _copy_from
- count
{}"""

_NEG = """\
-- torchgen_lite.toml --
schema = ["ops.yaml"]
native = "pytorch.yaml"
-- pytorch.yaml --
- func: neg(Tensor self) -> Tensor
- func: neg_(Tensor(a!) self) -> Tensor(a!)
- func: neg.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
- func: _copy_from(Tensor self, Tensor dst, bool non_blocking=False) -> Tensor
- func: _copy_from_and_resize(Tensor self, Tensor dst) -> Tensor
-- ops.yaml --
backend: XLA
cpp_namespace: xla
supported: {}"""

_COVERED = """\
-- pytorch.yaml --
- func: mm.out(Tensor self, Tensor mat2, *, Tensor(a!) out) -> Tensor(a!)
  dispatch: {CPU: mm_out}
-- coverage.json --
{"key": "XLA", "verdicts": {"aten::mm.out": "own"}}
-- native_functions.yaml --
"""
_COVERAGE = "$ torchgen-lite coverage --key XLA --native pytorch.yaml --against coverage.json"

_F = "- func: mm(Tensor self, Tensor mat2) -> Tensor"
_UPGRADE = f"""\
-- old.yaml --
{_F}
-- new.yaml --
{{new}}
-- native_functions.yaml --
{_F}
  dispatch: {{{{PrivateUse1: mm}}}}
$ torchgen-lite upgrade --from old.yaml --to new.yaml"""

NATIVE_CODES = (
    Code(
        "TG315",
        "PyTorch has no such operator",
        "error",
        "A kernel for an operator that PyTorch does not have is never called, and loading the "
        "library does not report this. Entries of `aten` are compared with the PyTorch that `native` "
        "names, or else with the installed one.",
        f"{_PROJECT}- func: nosuch(Tensor self) -> Tensor\n  dispatch: {{PrivateUse1: nosuch}}",
        _PROJECT + _MM,
    ),
    Code(
        "TG316",
        "the schema differs from that of PyTorch",
        "error",
        "The C++ type of the kernel would differ from that of PyTorch's kernels for this operator, "
        "so the process would abort when the library is loaded.",
        _PROJECT + _MM.replace("mat2, *", "mat2, int oops, *"),
        _PROJECT + _MM,
    ),
    Code(
        "TG317",
        "the schema differs from that of PyTorch in names or in SymInt",
        "warning",
        "The kernel still fits: names and defaults do not reach kernels, and c10 accepts a kernel "
        "with `int64_t` if the schema says `SymInt`. But calls that pass arguments by name, or "
        "symbolic shapes, follow PyTorch's schema.",
        _PROJECT + _MM.replace("mat2", "other"),
        _PROJECT + _MM,
    ),
    Code(
        "TG318",
        "variants under `supported` and under `autograd`",
        "error",
        "All variants of an operator have to be in the same list of a backend file, as torchgen "
        "requires: a kernel at the autograd key replaces the derivative, and the other variants "
        "would still use PyTorch's.",
        f"{_PROJECT}backend: XLA\ncpp_namespace: xla\nsupported: [mm]\nautograd: [mm.out]",
        f"{_PROJECT}backend: XLA\ncpp_namespace: xla\nsupported: [mm, mm.out]",
    ),
    Code(
        "TG373",
        "variant that cannot be derived from the functional one",
        "warning",
        "From the kernel of a functional variant in a backend file, kernels of the in-place and out "
        "variants are derived, which copy its results. A variant that also writes to other tensors "
        "is left out (`gen_backend_stubs` stops with an error), so calling it with tensors of the "
        "backend fails. Only target `cpp-torch` derives such kernels.",
        _STATS.format(""),
        _STATS.format("- count.out\n"),
    ),
    Code(
        "TG374",
        "derived variant that cannot copy",
        "warning",
        "In-place and out variants that are derived from a backend's functional kernel copy its "
        "result with PyTorch's `_copy_from` and `_copy_from_and_resize`. Without kernels for these "
        "two, the call raises an error.",
        _NEG.format("[neg]"),
        _NEG.format("[neg, _copy_from, _copy_from_and_resize]"),
    ),
    Code(
        "TG370",
        "an operator is served worse",
        "error",
        "`coverage --against FILE` compares with the verdicts that `--write` saved. The operator "
        "used to have its own kernel or that of a variant, or was composed of other operators, and "
        "now has a worse verdict.",
        _COVERED + "backend: XLA\ncpp_namespace: xla\nsupported: []\n" + _COVERAGE,
        _COVERED + "backend: XLA\ncpp_namespace: xla\nsupported: [mm.out]\n" + _COVERAGE,
    ),
    Code(
        "TG371",
        "a kernel for an operator that is gone",
        "error",
        "The new release of PyTorch does not have the operator. A kernel for it is never called.",
        _UPGRADE.format(new="- func: mul(Tensor self) -> Tensor"),
        _UPGRADE.format(new=_F),
    ),
    Code(
        "TG372",
        "a kernel of the wrong type",
        "error",
        "The new release of PyTorch has a different schema for the operator, whose kernels have a "
        "different C++ type: a process that loads the old kernel aborts. The help shows the schema "
        "and the type; `upgrade --fix` writes the schema.",
        _UPGRADE.format(new="- func: mm(Tensor self, Tensor mat2, bool fast) -> Tensor"),
        _UPGRADE.format(new=_F),
    ),
)
