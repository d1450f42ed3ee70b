"""Tests of a device on PyTorch's own test classes: its kernels against the CPU's, and what training scripts use.

A test of a kernel takes one dtype and one check, and every input that PyTorch's own tests have (OpInfo). It is skipped
unless one of them reaches the kernel, so if it passes, the kernel has run. A probe is a few lines of a script, which
return the same on the device as on the CPU.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from functools import wraps
from importlib import import_module
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves, tree_map_only

# Parts of torch have no annotations.
_torch: Any = torch
_profiler: Any = import_module("torch.autograd.profiler")
_overloads: Any = import_module("torch._C._profiler")._ExperimentalConfig(
    capture_overload_names=True
)
_common: Any = import_module("torch.testing._internal.common_device_type")
_op_db: Any = import_module("torch.testing._internal.common_methods_invocations").op_db
_TestCase: Any = import_module("torch.testing._internal.common_utils").TestCase

Test = Callable[..., None]
_Place = Callable[[Tensor], Tensor]


def device_tests(
    scope: dict[str, Any],
    device: str,
    kernels: Mapping[str, str],
    probes: type,
    refused: Mapping[str, str],
) -> None:
    """Put the tests of a device into a module; `kernels` are the dtypes of each, `probes` has a method for each.

    A test that `refused` names, where `*` is any text, must raise an error with the text given there; without a text,
    it is not run.
    """
    made = set[str]()
    for name, tests in {"Kernels": _kernel_tests(kernels), "Probes": _probe_tests(probes)}.items():
        members = {test: _refusing(function, refused) for test, function in tests}
        # Kernels may add in another order than the CPU's.
        close = {"__module__": scope["__name__"], "precision": 1e-4, "rel_tol": 1e-4}
        scope[name] = type(name, (_TestCase,), {**close, **members})
        before = set(scope)
        _common.instantiate_device_type_tests(scope[name], scope, only_for=(device,))
        for new in set(scope) - before:
            made |= {test for test in dir(scope[new]) if test.startswith("test_")}
    if not made:
        raise RuntimeError(f"PyTorch has no class of tests for {device}: is the device loaded?")
    if unknown := [pattern for pattern in refused if not fnmatch.filter(made, pattern)]:
        raise ValueError(f"`refused` names tests that there are not: {', '.join(unknown)}")


def _refusing(test: Test, refused: Mapping[str, str]) -> Test:
    @wraps(test)
    def run(self: Any, *args: Any, **kwargs: Any) -> None:
        name = self._testMethodName
        texts = [text for pattern, text in refused.items() if fnmatch.fnmatchcase(name, pattern)]
        if not texts:
            test(self, *args, **kwargs)
            return
        if all(texts):
            with self.assertRaisesRegex(Exception, re.escape(texts[0])):
                test(self, *args, **kwargs)
        self.skipTest(f"refused: {texts[0] or 'not run'}")

    return run


def _compare(test: Any, found: object, expected: object, has_values: bool = True) -> None:
    """Compare tensors on two devices, or their shapes and dtypes."""

    def plain(x: Tensor) -> object:
        return x.detach().cpu().resolve_conj() if has_values else (x.shape, x.dtype)

    test.assertEqual(tree_map_only(Tensor, plain, found), tree_map_only(Tensor, plain, expected))


def _probe_tests(probes: type) -> Iterator[tuple[str, Test]]:
    for name in [name for name in dir(probes) if name.startswith("test_")]:
        yield name, _probe_test(getattr(probes, name))


def _probe_test(probe: Callable[[Any, str], object]) -> Test:
    """A probe that returns something returns the same on the CPU."""

    def test(self: Any, device: str) -> None:
        found = probe(self, device)
        if found is not None:
            _compare(self, found, probe(self, "cpu"))

    return test


class Check(NamedTuple):
    """What is compared: `run` gives it for an operator and arguments.

    `suits` says for which operators and dtypes. `before` makes an argument for the device of one for the CPU, and
    `after`, which is called on the device, gives it the old value in another form.
    """

    run: Callable[[Any, Any], object]
    suits: Callable[[Any, torch.dtype], bool] = lambda op, dtype: True
    before: _Place = lambda x: x
    after: _Place = lambda x: x
    differentiates: bool = False


def _call(op: Any, sample: Any) -> Any:
    return op(sample.input, *sample.args, **sample.kwargs)


def _forward(op: Any, sample: Any) -> object:
    """The results, and which have the memory of the input: what is written to a copy of it is lost."""
    results = _call(op, sample)
    if not isinstance(sample.input, Tensor) or sample.input.layout != torch.strided:
        return results
    near = [x for x in tree_leaves(results) if getattr(x, "device", None) == sample.input.device]
    memory = sample.input.untyped_storage()._cdata
    return results, [
        x.untyped_storage()._cdata == memory for x in near if x.layout == torch.strided
    ]


def _inplace(op: Any, sample: Any) -> object:
    written = sample.input.clone()
    return op.inplace_variant(written, *sample.args, **sample.kwargs), written


def _out(op: Any, sample: Any) -> object:
    """Into tensors of the right size, without elements, and with gaps."""
    results, gaps = _call(op, sample), lambda x: torch.stack([x, x], -1)[..., 0]
    makes: tuple[_Place, ...] = (torch.empty_like, lambda x: x.new_empty(0), gaps)
    outs = [tree_map_only(Tensor, make, results) for make in makes]
    for out in outs:
        op(sample.input, *sample.args, **sample.kwargs, out=out)
    return outs


def _empty(op: Any, sample: Any) -> object:
    def emptied(x: Any) -> Any:
        return x.narrow(0, 0, 0) if isinstance(x, Tensor) and x.dim() else x

    return _call(op, sample.transform(emptied))


def _differentiable(op: Any, sample: Any) -> list[list[Tensor]]:
    """The results that have gradients, and the arguments."""
    results = sample.output_process_fn_grad(_call(op, sample))
    trees = (results, (sample.input, sample.args, sample.kwargs))
    return [[x for x in tree_leaves(tree) if getattr(x, "requires_grad", False)] for tree in trees]


def _backward(op: Any, sample: Any) -> object:
    outputs, inputs = _differentiable(op, sample)
    return torch.autograd.grad(
        outputs, inputs, [torch.ones_like(x) for x in outputs], allow_unused=True
    )


def _gradcheck(op: Any, sample: Any) -> object:
    inputs = _differentiable(op, sample)[1]

    def run(*given: Tensor) -> tuple[Tensor, ...]:
        values = {id(old): new for old, new in zip(inputs, given)}
        return tuple(_differentiable(op, sample.transform(lambda x: values.get(id(x), x)))[0])

    tolerance = op.gradcheck_nondet_tol
    return torch.autograd.gradcheck(run, inputs, fast_mode=True, nondet_tol=tolerance)


def _has_gradients(op: Any, dtype: torch.dtype) -> bool:
    return op.supports_autograd and (dtype.is_floating_point or dtype.is_complex)


CHECKS = {
    "forward": Check(_forward),
    "inplace": Check(_inplace, lambda op, dtype: op.inplace_variant is not None),
    "out": Check(_out, lambda op, dtype: op.supports_out),
    "noncontiguous": Check(
        _call,
        lambda op, dtype: op.name != "as_strided",  # Whose result depends on the strides.
        lambda x: torch.stack([x, x], -1),
        lambda x: x[..., 0],
    ),
    "negated": Check(
        _call,
        lambda op, dtype: dtype.is_floating_point or dtype.is_complex,
        lambda x: x if x.dtype == torch.bool else -x,
        lambda x: x if x.dtype == torch.bool else _torch._neg_view(x),
    ),
    "conjugated": Check(
        _call, lambda op, dtype: dtype.is_complex, torch.conj_physical, lambda x: x.conj()
    ),
    "empty": Check(_empty),
    "backward": Check(_backward, _has_gradients, differentiates=True),
    "gradcheck": Check(
        _gradcheck,
        lambda op, dtype: op.supports_autograd and dtype in (torch.float64, torch.complex128),
        differentiates=True,
    ),
}
# What PyTorch puts before and after the name of an operator to name what it calls.
_AFFIXES = re.compile(
    "^_*(native_|fused_|slow_|thnn_)?|(_forward|_backward|_impl|_overrideable|_copy|_data)*_?$"
)
# Operators of other names whose inputs reach a kernel, by how both names begin.
_CALLERS = {
    "_copy_from": ("double", "long"),
    "_fft_": ("fft.",),
    "_local_scalar_dense": ("item",),
    "_prelu": ("nn.functional.prelu",),
    "_reshape_alias": ("reshape",),
    "_scaled_dot_product": ("nn.functional.scaled_dot_product_attention",),
    "_unique": ("unique",),
    "convolution": ("nn.functional.conv",),
    "empty": ("clone", "double", "long"),
    "max_pool": ("nn.functional.max_pool",),
    "reflection_pad": ("nn.functional.pad",),
    "replication_pad": ("nn.functional.pad",),
    "slow_conv": ("nn.functional.conv",),
    "upsample": ("nn.functional.interpolate",),
}


def _ops_for(name: str) -> list[Any]:
    """The OpInfos whose inputs may reach a kernel: those of the table, or of its name, or of one like it."""
    base = name.removeprefix("aten::").partition(".")[0]
    starts = [start for kernel, start in _CALLERS.items() if base.startswith(kernel)]
    # Some variants read what lies beside their input in memory, and a copy of the input has nothing there.
    known = [op for op in _op_db if op.variant_test_name != "partial_views"]
    if starts:
        return [op for op in known if op.name.startswith(starts[0])]
    for names in ({base, base.removesuffix("_")}, {_AFFIXES.sub("", base)}):
        if found := [op for op in known if names & {op.aten_name, op.aten_backward_name}]:
            return found
    return [op for op in known if op.name.rpartition(".")[2] in names]


def _kernel_tests(kernels: Mapping[str, str]) -> Iterator[tuple[str, Test]]:
    for name, claimed in kernels.items():
        ops, dtypes = _ops_for(name), [getattr(torch, word) for word in claimed.split(", ")]
        first = "backward" if "_backward" in name else "forward"
        for kind, check in CHECKS.items():
            if first == "backward" and not check.differentiates:
                continue
            suited = [d for d in dtypes if kind == first or any(check.suits(op, d) for op in ops)]
            if suited:
                flat = name.removeprefix("aten::").replace("::", "__").replace(".", "_")
                yield f"test_{kind}_{flat}", _common.dtypes(*suited)(_kernel_test(name, check, ops))


def _kernel_test(name: str, check: Check, ops: Sequence[Any]) -> Test:
    def test(self: Any, device: str, dtype: torch.dtype) -> None:
        is_reached = False
        for op in [op for op in ops if dtype in op.dtypes and check.suits(op, dtype)]:
            for sample in op.sample_inputs("cpu", dtype, check.differentiates):
                given = sample.transform(_mover(check, device))
                try:
                    expected = check.run(op, sample)
                except Exception:
                    continue  # An input that the CPU refuses.
                calls = (
                    nullcontext()
                    if is_reached
                    else _profiler.profile(experimental_config=_overloads)
                )
                try:
                    with calls:
                        found = check.run(op, given)
                    _compare(self, found, expected, _has_values(op))
                except Exception as error:
                    raise AssertionError(f"{op.name}, {sample.summary()}: {error}") from error
                is_reached = is_reached or name in _called(calls)
        if not is_reached:
            self.skipTest("none of PyTorch's inputs reaches the kernel")

    return test


def _mover(check: Check, device: str) -> Callable[[Any], Any]:
    def move(x: Any) -> Any:
        if not isinstance(x, Tensor):
            return x  # A dtype, which `transform` passes, too.
        there = check.after(check.before(x.detach()).to(device))
        return there.requires_grad_(x.requires_grad)

    return move


def _called(calls: Any) -> set[str]:
    """The operators that were called."""
    return {f"{call.name}.{call.overload_name}".removesuffix(".") for call in calls.function_events}


def _has_values(op: Any) -> bool:
    """Whether there are values to compare, which are neither random nor left open."""
    packet = getattr(torch.ops.aten, op.aten_name or op.name, None)
    overloads = [getattr(packet, name) for name in packet.overloads()] if packet else []
    tag = torch.Tag.nondeterministic_seeded
    is_open = op.name.startswith(("empty", "new_empty", "resize"))
    return not is_open and not any(tag in one.tags for one in overloads)
