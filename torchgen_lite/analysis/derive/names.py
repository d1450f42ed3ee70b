"""Names of operators and of their variants."""

from __future__ import annotations

from torchgen_lite.schema.kind import is_inplace_name

# Stands behind the base name of the functional variant that is derived from a mutable operator.
FUNCTIONAL_SUFFIX = "_functional"


def root_of(base_name: str) -> str:
    """What all variants share: `add` of `add_`, `__and__` of `__iand__`, `norm` of `norm_functional`."""
    if not is_inplace_name(base_name):
        return base_name.removesuffix(FUNCTIONAL_SUFFIX)
    if base_name.endswith("__"):
        return f"__{base_name[3:]}"
    return base_name[:-1]


def out_overload(overload_name: str) -> str:
    """The overload name of the out variant that is derived: `out`, `Tensor_out`."""
    return f"{overload_name}_out" if overload_name else "out"


def is_out_overload(name: str) -> bool:
    """Whether `autogen` names an out variant: `add.out`, `set.source_Tensor_out`."""
    overload = name.rpartition("::")[2].partition(".")[2]
    return overload == "out" or overload.endswith("_out")
