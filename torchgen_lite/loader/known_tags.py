"""PyTorch's tags, for files that come without a tags.yaml."""

from __future__ import annotations

TAGS_SINCE: dict[str, tuple[int, int]] = {
    "cudagraph_unsafe": (2, 8),
    "needs_contiguous_strides": (2, 8),
    "needs_exact_strides": (2, 8),
    "reduction": (2, 10),
    "out_variant": (2, 11),
    "inplace": (2, 13),
    "out": (2, 13),
}
"""The release that added each of these tags; 2.6 already has all others."""

KNOWN_TAGS: dict[str, str] = {
    "inplace_view": "Changes only shape and strides of its argument.",
    "pt2_compliant_tag": "Works with torch.compile and torch.export.",
    "view_copy": "The copying twin of a view operator.",
    "dynamic_output_shape": "The shape of the result depends on the values of the input.",
    "data_dependent_output": "Returns something that isn't a tensor and depends on values.",
    "generated": "Made by the generator, without an entry of its own.",
    "nondeterministic_seeded": "Random, under the control of a generator.",
    "nondeterministic_bitwise": "May differ in the last bits from run to run.",
    "needs_exact_strides": "Wants the strides that eager execution gives.",
    "needs_contiguous_strides": "Wants contiguous arguments.",
    "needs_fixed_stride_order": "Wants arguments in the stride order of eager execution.",
    "flexible_layout": "Takes arguments in any layout.",
    "core": "Part of the core operator set, which is not decomposed.",
    "pointwise": "Element by element, with broadcasting.",
    "maybe_aliasing_or_mutating": "May alias or write without saying so in its schema.",
    "cudagraph_unsafe": "Can't be recorded in a CUDA graph.",
    "reduction": "Reduces over dimensions.",
    "inplace": "The in-place variant.",
    "out": "The out variant.",
    "out_variant": "The out variant of an operator made by hand.",
}
