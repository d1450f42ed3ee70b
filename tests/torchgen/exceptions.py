"""Cases where torchgen is wrong about its own file, or fails. docs/differences.md lists them under "Signatures".

Names are full (`aten::add.Tensor`). Everything that is not listed here has to be equal.
"""

from __future__ import annotations

from typing import NamedTuple


class Disagreement(NamedTuple):
    """One disagreement: the functions, torchgen's answer, our answer, and why ours is right."""

    names: tuple[str, ...]
    theirs: str
    ours: str
    reason: str


# torchgen's `FunctionSchema.kind` ignores `self` unless the name is that of an in-place operator.
KIND = Disagreement(
    ("aten::set_data", "aten::retain_grad", "aten::record_stream"),
    "functional",
    "mutable",
    "the schema says `Tensor(a!) self`: the operator writes to its argument",
)

# torchgen's `is_view_op` looks at the tag `inplace_view`, but excludes `resize_` and `resize_as_` by name;
# its derivation of variants then excludes `set_` by name.
NOT_VIEWS = Disagreement(
    (
        "aten::set_",
        "aten::set_.source_Storage",
        "aten::set_.source_Storage_storage_offset",
        "aten::set_.source_Tensor",
        "aten::set_.source_Tensor_storage_offset",
    ),
    "a view that is treated as none",
    "no view",
    "no functional `set` aliases its argument, so there is nothing to view; `resize_` is the same case",
)

# `signature_str` raises ValueError: the name is reserved for factories.
RESERVED_NAME = Disagreement(
    ("aten::requires_grad_",),
    "ValueError",
    "a signature like any other",
    "`requires_grad` is only ambiguous where the five options of a factory are added",
)

# `structseq_fieldnames` raises ValueError where some results have names and others do not.
MIXED_NAMES = Disagreement(
    (
        "aten::_native_batch_norm_legit_functional",
        "aten::_batch_norm_with_update_functional",
        "aten::_amp_update_scale",
        "aten::rrelu_with_noise_functional",
    ),
    "ValueError",
    "a plain tuple",
    "a named tuple needs all names",
)

# `argument_type_str_pyi` knows no SymBool and writes `-> : ...`, which is not Python.
NO_TYPE = Disagreement(
    ("aten::sym_is_contiguous",),
    ") -> : ...",
    ") -> _bool: ...",
    "the stub has to be Python",
)

# Builds with CUDA register these from C++; PyTorch's schema parser takes any lower-case name for a type
# variable, so it never reports that `int64_t` is not a type.
NO_VARIABLE = Disagreement(
    ("cuda::_set_device", "cuda::_exchange_device", "cuda::_maybe_exchange_device"),
    "a type variable called `int64_t`",
    "TG202, with `int` as the help",
    "who writes `int64_t` means `int`, and gets a schema that takes anything",
)

# torchgen's annotation of a Scalar in stubs, from 2.14 on.
SCALAR = Disagreement(
    (),
    "Number | _complex | PySymType",
    "Number | _complex",
    "signatures in the JSON export are those of every release",
)
