"""Names of operators and of their variants."""

from __future__ import annotations

from torchgen_lite.schema.kind import is_inplace_name

# Ends the base name of a functional variant derived from a mutable operator.
FUNCTIONAL_SUFFIX = "_functional"


def root_of(base_name: str) -> str:
    """The name all variants share: `add` for `add_`, `__and__` for `__iand__`, `norm` for
    `norm_functional`."""
    if not is_inplace_name(base_name):
        return base_name.removesuffix(FUNCTIONAL_SUFFIX)
    if base_name.endswith("__"):
        return f"__{base_name[3:]}"
    return base_name[:-1]


def out_overload(overload_name: str) -> str:
    """The overload name of a derived out variant: `out`, `Tensor_out`."""
    return f"{overload_name}_out" if overload_name else "out"


def is_out_overload(name: str) -> bool:
    """Whether `autogen` names an out variant: `add.out`, `set.source_Tensor_out`."""
    overload = name.rpartition("::")[2].partition(".")[2]
    return overload == "out" or overload.endswith("_out")
