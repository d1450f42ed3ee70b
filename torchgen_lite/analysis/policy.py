"""Which kernels a target generates, by the reasons for which they are registered."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from torchgen_lite.analysis.kernels import BOXED_NAMES, REFERENCE
from torchgen_lite.analysis.kernels import Origin as Origin
from torchgen_lite.diagnostics.text import quoted
from torchgen_lite.schema import SchemaKind
from torchgen_lite.schema.grouped import names_of

if TYPE_CHECKING:
    from torchgen_lite.analysis.differentiability.model import DifferentiabilityInfo
    from torchgen_lite.analysis.differentiability.plan import AutogradPlan
    from torchgen_lite.analysis.operators import Operator


class Policy(NamedTuple):
    """What a target registers, or PyTorch itself.

    `target` is the name of a target, if it is one. `in_pytorch`: the kernels get into PyTorch, whose
    fallbacks are there already. `is_pytorch`: they are PyTorch's own. `by_range`: an operator may have an entry for each
    of several ranges of releases. `makes` are the kernels that are
    generated beside those written; `refuses` says why formulas get no kernel after all, and is empty if they do. Formulas of
    operators in `elsewhere` are those of another target. Targets in `loaded_with` register after it, in one package.
    `has_variants`: whether there is a function or a method is what `variants` says.
    """

    target: str = ""
    in_pytorch: bool = False
    makes: frozenset[Origin] = frozenset()
    refuses: Callable[[Operator, AutogradPlan, DifferentiabilityInfo], str] = lambda *_: ""
    is_pytorch: bool = False
    by_range: bool = False
    elsewhere: frozenset[str] = frozenset()
    loaded_with: tuple[str, ...] = ()
    has_variants: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The targets, in the order in which they are loaded; none for PyTorch itself."""
        if self.target:
            return (self.target, *self.loaded_with)
        return ()

    @property
    def knows_formulas(self) -> bool:
        """PyTorch's own file does not have its formulas."""
        return not self.is_pytorch or Origin.autograd in self.makes

    @property
    def speaks_of(self) -> str:
        if self.is_pytorch:
            return "PyTorch"
        if self.loaded_with:
            return f"the package of {quoted(self.names, ' and ')}"
        return f"target `{self.target}`"


def refuses_libtorch(operator: Operator, plan: AutogradPlan, info: DifferentiabilityInfo) -> str:
    """Why libtorch can't use a kernel with these formulas; empty if it can."""
    if not info.slots or operator.kind is SchemaKind.out:
        return ""
    if operator.kind not in (SchemaKind.functional, SchemaKind.mutable):
        if plan.written != ("self",):
            return "writes to more than `self`"
        if plan.tensors[0].is_list:
            return "writes to a list of tensors"
    # libtorch collects no edges of a `Tensor[]?`, as it collects no keys.
    known = set(names_of(plan.tensors))
    absent = [name for name in info.arguments if name not in known]
    if absent:
        return f"has a list of tensors that may be absent, `{absent[0]}`"
    return ""


# These are registered under every policy: the author's functions, and what `dispatch` says in their place.
WRITTEN = frozenset(
    {
        Origin.written,
        Origin.implied,
    }
)
# What runs a function of the author's.
AUTHORS = WRITTEN | {Origin.selected}
BOXED = dict(zip(BOXED_NAMES, (Origin.falls_through, Origin.cpu_fallback)))
BY_WORD = {**BOXED, REFERENCE: Origin.reference}
STRUCTURED = frozenset(
    {
        Origin.structured,
        Origin.meta,
    }
)
AUTOGRAD_KERNELS = frozenset(
    {
        Origin.autograd,
        Origin.refuses_out,
        Origin.passes,
        Origin.fallthrough,
        Origin.raises_versions,
        Origin.view,
    }
)
TORCH_LIBRARY = frozenset(
    {
        Origin.fake,
        Origin.traced_view,
        Origin.functionalize,
        Origin.formulas,
        Origin.underived,
        Origin.raises_versions,
        Origin.vmap,
        Origin.loop,
        Origin.axes,
        Origin.autocast,
        Origin.reference,
        Origin.selected,
    }
)
UNKNOWN_VIEWS = frozenset(
    {
        Origin.not_implemented,
        Origin.unknown_view,
    }
)
# What torchgen registers for PyTorch's own file (`dest.RegisterDispatchKey`) and for backend files.
_MADE = STRUCTURED | frozenset(
    {
        Origin.derived,
        Origin.default,
        Origin.copied,
        Origin.returns_self,
        Origin.backend_select,
    }
)
PYTORCH = Policy(in_pytorch=True, makes=_MADE, is_pytorch=True, has_variants=True)
# The same for other files without a target, whose entries have their formulas.
PYTORCH_WITH_FORMULAS = PYTORCH._replace(makes=PYTORCH.makes | AUTOGRAD_KERNELS)

# A target that registers nothing.
NOTHING = Policy()
