"""Every formula of `native_functions.yaml`, compared with finite differences of the operator.

An operator with formulas that has no sample fails, and so does an argument with a formula that no sample
has. In-place variants, which use formulas of the functional ones in kernels of their own, are held to the
same, and so are complex numbers wherever an operator takes them. `numerical.py` says how, and how values are
kept away from kinks. No first derivative is excepted.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from operators import (  # noqa: F401
    samples_factory,
    samples_index,
    samples_neural,
    samples_pointwise,
    samples_reduction,
    samples_shape,
    samples_sparse,
)
from operators.samples import (
    Input,
    Named,
    Sample,
    build,
    floats,
    given,
    sample,
    samples_of,
)

import torchgen_lite_reference as tl
from autograd.numerical import Case, Domain, Unsuitable, case_of, check, check_forward
from torchgen_lite import load
from torchgen_lite.analysis.derive.layout import is_tensor_like
from torchgen_lite.loader.entry.entry import NativeFunction
from torchgen_lite.schema import SchemaKind
from torchgen_lite.schema.model import bare_type

ROOT = Path(__file__).parents[3]
PROGRAM = load(root=ROOT)
FUNCTIONS = PROGRAM.functions

POSITIVE = ((0.3, 3.0),)
INSIDE = ((-0.9, 0.9),)
# Where the values of floating arguments have to lie, in their order; the last applies to all further ones.
DOMAINS: dict[str, tuple[Domain, ...]] = {
    **dict.fromkeys(("log", "log2", "log10", "log1p", "sqrt", "rsqrt"), POSITIVE),
    **dict.fromkeys(("asin", "acos", "atanh"), INSIDE),
    "acosh": ((1.2, 3.0),),
    "binary_cross_entropy": ((0.1, 0.9),),
    "pow": POSITIVE,
}

# The second derivative of these is lost, and why.
ONCE = {
    "_sparse_coo_tensor_with_dims_and_tensors": "its formula is PyTorch's and ends in `_values`, which has no"
    " derivative",
}

ZEROS = given([[0.0, 2.0, -1.5], [0.0, 0.0, 0.5], [3.0, 1.0, -2.0]], "float64")
PLACES = given([[0, 2], [1, 0]], "int64")
DOUBLE = {"dtype": Named("float64"), "layout": Named("sparse_coo")}
# Smooth points where formulas take another way than elsewhere, and arguments that name the dtype. Their values
# are used as they are.
EXACT: dict[str, Sequence[Sample]] = {
    "prod": [sample(given([0.0, 2.0, -1.5], "float64")), sample(ZEROS)],
    "prod.dim_int": [sample(ZEROS, 1), sample(ZEROS, 0, True)],
    "cumprod": [sample(ZEROS, 1), sample(ZEROS, 0)],
    "pow.Tensor_Scalar": [sample(ZEROS, 2), sample(ZEROS, 3), sample(ZEROS, 0)],
    "_sparse_coo_tensor_with_dims_and_tensors": [
        sample(2, 0, [4, 5], PLACES, floats(2, dtype="float64"), **DOUBLE),
        sample(2, 1, [4, 5, 3], PLACES, floats(2, 3, dtype="float64"), **DOUBLE),
    ],
}


def needed() -> dict[str, tuple[NativeFunction, set[str]]]:
    """For each operator with formulas the tensor arguments that have one."""
    found = {}
    plans = PROGRAM.resolved.autograd
    for function in FUNCTIONS:
        infos = plans[function.name].infos if function.name in plans else {}
        if not infos or function.func.kind() is SchemaKind.out:
            continue
        tensors = {a.name for a in function.func.arguments if is_tensor_like(a.type)}
        named = tensors.intersection(infos["Default"].arguments)
        if named:
            found[function.func.full_name] = (function, named)
    return found


NEEDED = needed()


def own_name(function: NativeFunction) -> str:
    """The operator whose samples are used: of an in-place one the functional one with the same arguments."""
    schema = function.func
    if samples_of(schema.full_name):
        return schema.full_name
    arguments = [(a.name, bare_type(a.type)) for a in schema.arguments]
    for other in FUNCTIONS:
        theirs = [(a.name, bare_type(a.type)) for a in other.func.arguments]
        same = other.func.base_name == schema.base_name.removesuffix("_") and theirs == arguments
        if same and samples_of(other.func.full_name):
            return other.func.full_name
    return schema.full_name


def as_complex(item: Sample) -> Sample | None:
    """The sample with complex numbers for floating ones; None where that makes no difference."""
    changed = []

    def convert(value: Any) -> Any:
        if not isinstance(value, Input) or value.base.dtype.kind != "f":
            return value
        changed.append(value)
        stream = np.random.default_rng([7, *value.base.shape])
        return Input(value.base + 1j * stream.uniform(-1, 1, value.base.shape), value.view)

    made = Sample(tuple(build(item.args, convert)), build(item.kwargs, convert))
    return made if changed else None


def checked(
    function: NativeFunction,
    named: set[str],
    twice: bool,
    check: Callable[[Case, bool], set[str]] = check,
) -> set[str]:
    """The arguments that a sample has compared."""
    name = function.func.full_name
    base, _, overload = name.partition(".")
    operator: Any = getattr(getattr(tl.ops.aten, base), overload or "default")
    origin = own_name(function)
    domains = DOMAINS.get(origin, DOMAINS.get(origin.partition(".")[0], ()))
    items = [(item, domains) for item in samples_of(origin)]
    items += [(other, ()) for item, _ in list(items) if (other := as_complex(item))]
    covered: set[str] = set()
    for item, inside in [*items, *((item, None) for item in EXACT.get(origin, ()))]:
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                # Warnings of operators, such as that var of one value has no degrees of freedom.
                warnings.simplefilter("ignore")
                covered |= check(case_of(operator, function.func, named, item, inside), twice)
        except Unsuitable:
            assert inside is not None, item
    return covered


@pytest.mark.parametrize("name", NEEDED)
def test_formulas_are_differences(name: str) -> None:
    function, named = NEEDED[name]
    assert checked(function, named, name not in ONCE) == named


@pytest.mark.parametrize("name", NEEDED)
def test_tangents_are_differences(name: str) -> None:
    function, named = NEEDED[name]
    if name in ONCE:
        with pytest.raises(NotImplementedError, match="Trying to use forward AD with Sparse"):
            checked(function, named, True, check_forward)
    else:
        assert checked(function, named, True, check_forward) == named


@pytest.mark.parametrize("name", ONCE)
def test_what_is_differentiable_once_is_no_more(name: str) -> None:
    with pytest.raises(AssertionError, match="second derivative"):
        checked(*NEEDED[name], twice=True)


def test_each_operator_with_formulas_is_there() -> None:
    written = {
        function.func.full_name
        for function in FUNCTIONS
        if function.derivatives is not None
        and any(not formula.word for formula in function.derivatives.formulas)
    }
    assert len(written) > 190
    assert written <= set(NEEDED)


def square(x: Any, known: Any) -> Any:
    """The square of `x`, with `known` in place of one of the two."""
    return 2 * x * known - known * known


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: x * x.detach(), "gradient 0"),
        (lambda x: square(x, x.detach()), "second derivative 0"),
        (lambda x: x * x, ""),
    ],
)
def test_a_wrong_gradient_is_found(function: Any, message: str) -> None:
    schema = NEEDED["sin"][0].func
    case = case_of(function, schema, {"self"}, sample(floats(2, 3)))
    if not message:
        assert check(case, True) == {"self"}
        return
    with pytest.raises(AssertionError, match=message):
        check(case, True)


def test_the_second_derivative_on_the_page() -> None:
    page = (ROOT / "docs/autograd.md").read_text("utf-8")
    blocks = page.split("```python\n")
    (code,) = [block for block in blocks if block.startswith("def second_derivative(")]
    names: dict[str, Any] = {"tl": tl}
    exec(code.partition("```")[0], names)
    x, tangent = (tl.from_numpy(np.array(v)) for v in ([0.3, 0.7], [1.0, -2.0]))
    found = names["second_derivative"](lambda t: tl.sin(t) * t, x, tangent)
    wanted = (2 * x.cos() - x * x.sin()) * tangent
    np.testing.assert_allclose(found.numpy(), wanted.numpy(), rtol=1e-12)
