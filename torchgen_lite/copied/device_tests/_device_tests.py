"""Tests of a device on PyTorch's own test classes: its kernels against the CPU's, and what training scripts use.

A test of a kernel takes one dtype and one check, and every input that PyTorch's own tests have (OpInfo). It is skipped
unless one of them reaches the kernel, so if it passes, the kernel has run. A probe is a few lines of a script, which
return the same on the device as on the CPU.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import wraps
from importlib import import_module
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves, tree_map_only

# Parts of torch have no annotations.
_torch: Any = torch
_profiler: Any = import_module("torch.autograd.profiler")
_ProfilerConfig: Any = import_module("torch._C._profiler")._ExperimentalConfig
_common: Any = import_module("torch.testing._internal.common_device_type")
_op_db: Any = import_module("torch.testing._internal.common_methods_invocations").op_db
_TestCase: Any = import_module("torch.testing._internal.common_utils").TestCase

Test = Callable[..., None]
Run = Callable[[Any, Any], object]
Change = Callable[[Tensor], Tensor]


def device_tests(
    scope: dict[str, Any],
    device: str,
    kernels: Mapping[str, str],
    probes: type,
    refused: Mapping[str, str],
    more: Mapping[str, Test] = {},
) -> None:
    """Put the tests of a device into a module; `kernels` are the dtypes of each, `probes` has a method for each, and
    `more` are tests of kernels by their names.

    A test that `refused` names, where `*` is any text, must raise an error with the text given there; without a text,
    it is not run.
    """
    named = [name for name in dir(probes) if name.startswith("test_")]
    of_probes = [(name, _probe_test(getattr(probes, name))) for name in named]
    made: dict[str, type] = {}
    of_kernels = [*_kernel_tests(kernels), *more.items()]
    for name, tests in {"Kernels": of_kernels, "Probes": of_probes}.items():
        # Kernels may add in another order than the CPU's.
        close = {"__module__": scope["__name__"], "precision": 1e-4, "rel_tol": 1e-4}
        scope[name] = type(name, (_TestCase,), {**close, **dict(tests)})
        before = set(scope)
        # PyTorch 2.9 finds the class of tests for PrivateUse1 by this name alone, which its first use changes.
        _common.PrivateUse1TestBase.device_type = "privateuse1"
        _common.instantiate_device_type_tests(scope[name], scope, only_for=(device,))
        for new in set(scope) - before:
            made |= {test: scope[new] for test in dir(scope[new]) if test.startswith("test_")}
    if not made:
        raise RuntimeError(f"PyTorch has no class of tests for {device}: is the device loaded?")
    for pattern, text in refused.items():
        if not fnmatch.filter(made, pattern):
            raise ValueError(f"`refused` names a test that there is not: {pattern}")
        for name in fnmatch.filter(made, pattern):
            setattr(made[name], name, _refusing(getattr(made[name], name), text))


def _refusing(test: Test, text: str) -> Test:
    @wraps(test)
    def run(self: Any) -> None:
        if text:
            with self.assertRaisesRegex(Exception, re.escape(text)):
                test(self)
        self.skipTest(f"refused: {text or 'not run'}")

    return run


def compare(
    test: Any, found: object, expected: object, has_values: bool = True, **tolerances: float
) -> None:
    """Compare tensors on two devices, or their shapes and dtypes."""

    def plain(x: Tensor) -> object:
        return x.detach().cpu().resolve_conj() if has_values else (x.shape, x.dtype)

    both = [tree_map_only(Tensor, plain, values) for values in (found, expected)]
    test.assertEqual(*both, **tolerances)


def _probe_test(probe: Callable[[Any, str], object]) -> Test:
    """A probe that returns something returns the same on the CPU."""

    def test(self: Any, device: str) -> None:
        found = probe(self, device)
        if found is not None:
            compare(self, found, probe(self, "cpu"))

    return test


def _call(op: Any, sample: Any) -> Any:
    return op(sample.input, *sample.args, **sample.kwargs)


def _forward(op: Any, sample: Any) -> object:
    """The results, and which have the memory of the input: what is written to a copy of it is lost."""
    results = _call(op, sample)
    if not isinstance(sample.input, Tensor) or sample.input.layout != torch.strided:
        return results
    tensors = [x for x in tree_leaves(results) if isinstance(x, Tensor)]
    near = [x for x in tensors if (x.device, x.layout) == (sample.input.device, torch.strided)]
    own, storages = sample.input.untyped_storage(), [x.untyped_storage() for x in near]
    return results, [storage._cdata == own._cdata for storage in storages]


def _inplace(op: Any, sample: Any) -> object:
    written = sample.input.clone()
    return op.inplace_variant(written, *sample.args, **sample.kwargs), written


def _out(op: Any, sample: Any) -> object:
    """Into tensors of the right size, without elements, and with gaps."""
    results = _call(op, sample)
    makes: Sequence[Change] = (torch.empty_like, lambda x: x.new_empty(0), _with_gaps)
    outs = [tree_map_only(Tensor, make, results) for make in makes]
    for out in outs:
        op(sample.input, *sample.args, **sample.kwargs, out=out)
    return outs


def _with_gaps(x: Tensor) -> Tensor:
    return x.new_empty((*x.shape, 2))[..., 0].copy_(x)


def _negated(x: Tensor) -> Tensor:
    return _torch._neg_view(-x) if _is_continuous(x.dtype) else x


def _changed(sample: Any, change: Change) -> Any:
    """The arguments with other tensors; `transform` passes dtypes, too."""
    return sample.transform(lambda x: change(x) if isinstance(x, Tensor) else x)


def _of(change: Change) -> Run:
    return lambda op, sample: _call(op, _changed(sample, change))


def _differentiable(op: Any, sample: Any) -> list[list[Tensor]]:
    """The results that have gradients, and the arguments."""
    results = sample.output_process_fn_grad(_call(op, sample))
    trees = (results, (sample.input, sample.args, sample.kwargs))
    return [[x for x in tree_leaves(tree) if getattr(x, "requires_grad", False)] for tree in trees]


def _backward(op: Any, sample: Any) -> object:
    outputs, inputs = _differentiable(op, sample)
    ones = [torch.ones_like(x) for x in outputs]
    return torch.autograd.grad(outputs, inputs, ones, allow_unused=True)


def _gradcheck(op: Any, sample: Any) -> object:
    inputs = _differentiable(op, sample)[1]

    def run(*given: Tensor) -> tuple[Tensor, ...]:
        values = {id(old): new for old, new in zip(inputs, given)}
        return tuple(_differentiable(op, sample.transform(lambda x: values.get(id(x), x)))[0])

    tolerance = op.gradcheck_nondet_tol
    return torch.autograd.gradcheck(run, inputs, fast_mode=True, nondet_tol=tolerance)


def _is_continuous(dtype: torch.dtype) -> bool:
    return dtype.is_floating_point or dtype.is_complex


_DOUBLE = (torch.float64, torch.complex128)
# What is compared, of an operator and arguments; and which operators and dtypes that is for.
CHECKS: Mapping[str, tuple[Run, Callable[[Any, torch.dtype], bool]]] = {
    "forward": (_forward, lambda op, dtype: True),
    "inplace": (_inplace, lambda op, dtype: op.inplace_variant is not None),
    "out": (_out, lambda op, dtype: op.supports_out),
    # The result of `as_strided` depends on the strides.
    "noncontiguous": (_of(_with_gaps), lambda op, dtype: op.name != "as_strided"),
    "negated": (_of(_negated), lambda op, dtype: _is_continuous(dtype)),
    "conjugated": (_of(torch.conj), lambda op, dtype: dtype.is_complex),
    "empty": (_of(lambda x: x.narrow(0, 0, 0) if x.dim() else x), lambda op, dtype: True),
    "backward": (_backward, lambda op, dtype: op.supports_autograd and _is_continuous(dtype)),
    "gradcheck": (_gradcheck, lambda op, dtype: op.supports_autograd and dtype in _DOUBLE),
}
# What PyTorch puts before and after the name of an operator to name what it calls.
_AFFIXES = re.compile(
    "^_*(native_|fused_|slow_|thnn_)?|"
    "(_forward|_backward|_impl|_kernel|_alias|_with_indices|_copy|_data|_overrideable)*_?$"
)
# Operators of other names whose inputs reach a kernel, by how both names begin.
_CALLERS: Mapping[str | tuple[str, ...], tuple[str, ...]] = {
    "_copy_from": ("double", "long"),
    "_fft_": ("fft.",),
    "_local_scalar_dense": ("item",),
    "_scaled_dot_product": ("nn.functional.scaled_dot_product_attention",),
    "convolution": ("nn.functional.conv",),
    "empty": ("clone", "double", "long"),
    ("reflection_pad", "replication_pad"): ("nn.functional.pad",),
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
        kinds = ["backward", "gradcheck"] if "_backward" in name else list(CHECKS)
        for kind in kinds:
            suits = CHECKS[kind][1]
            suited = [d for d in dtypes if kind == kinds[0] or any(suits(op, d) for op in ops)]
            if suited:
                flat = name.removeprefix("aten::").replace("::", "__").replace(".", "_")
                yield f"test_{kind}_{flat}", _common.dtypes(*suited)(_kernel_test(name, kind, ops))


def _kernel_test(name: str, kind: str, ops: Sequence[Any]) -> Test:
    run, suits = CHECKS[kind]
    overloads = {"experimental_config": _ProfilerConfig(capture_overload_names=True)}

    def test(self: Any, device: str, dtype: torch.dtype) -> None:
        def move(x: Tensor) -> Tensor:
            return x.detach().to(device).requires_grad_(x.requires_grad)

        called = set[str]()
        for op in [op for op in ops if dtype in op.dtypes and suits(op, dtype)]:
            for sample in op.sample_inputs("cpu", dtype, kind in ("backward", "gradcheck")):
                given = _changed(sample, move)
                try:
                    expected = run(op, sample)
                except Exception:
                    continue  # An input that the CPU refuses.
                calls = _profiler.profile(name not in called, **overloads)
                try:
                    with calls:
                        found = run(op, given)
                    compare(self, found, expected, _has_values(op))
                except Exception as error:
                    raise AssertionError(f"{op.name}, {sample.summary()}: {error}") from error
                for call in calls.function_events if calls.enabled else ():
                    called.add(f"{call.name}.{call.overload_name}".removesuffix("."))
        if name not in called:
            self.skipTest("none of PyTorch's inputs reaches the kernel")

    return test


def _has_values(op: Any) -> bool:
    """Whether there are values to compare, which are neither random nor left open."""
    packet = getattr(torch.ops.aten, op.aten_name or op.name, None)
    overloads = [getattr(packet, name) for name in packet.overloads()] if packet else []
    is_random = any(torch.Tag.nondeterministic_seeded in one.tags for one in overloads)
    return not is_random and not op.name.startswith(("empty", "new_empty", "resize"))
