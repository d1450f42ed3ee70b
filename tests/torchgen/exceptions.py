"""Where torchgen is wrong, or has no answer, on its own file. Each is in docs/differences.md, "Signatures".

Names are full (`aten::add.Tensor`). Whatever is not listed here has to be equal.
"""

from __future__ import annotations

from typing import NamedTuple


class Disagreement(NamedTuple):
    """One disagreement: the functions it is about, theirs and ours, and why ours stays."""

    names: tuple[str, ...]
    theirs: str
    ours: str
    reason: str


# torchgen `FunctionSchema.kind` does not look at `self` unless the name says in-place.
KIND = Disagreement(
    ("aten::set_data", "aten::retain_grad", "aten::record_stream"),
    "functional",
    "mutable",
    "the schema says `Tensor(a!) self`: the operator writes to its argument",
)

# torchgen's `is_view_op` goes by the tag `inplace_view` but for `resize_` and `resize_as_`, by name;
# its derivation of variants then leaves out `set_`, by name.
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

# `signature_str` raises ValueError: the name is kept for factories.
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

# Builds with CUDA register these from C++; PyTorch's schema parser takes any name in small letters for a type
# variable, and so never says that `int64_t` is none of its types.
NO_VARIABLE = Disagreement(
    ("cuda::_set_device", "cuda::_exchange_device", "cuda::_maybe_exchange_device"),
    "a type variable called `int64_t`",
    "TG202, with `int` as the help",
    "who writes `int64_t` means `int`, and gets a schema that takes anything",
)

# What torchgen says about a Scalar in stubs, from 2.14 on.
SCALAR = Disagreement(
    (),
    "Number | _complex | PySymType",
    "Number | _complex",
    "signatures in the JSON export are those of every release",
)
