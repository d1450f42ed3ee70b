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
from typing import Any, TypeGuard

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
    of_kernels = [*_kernel_tests(kernels), *more.items()]
    of_probes = []
    for name in _test_names(probes):
        probe = getattr(probes, name)
        of_probes.append((name, _probe_test(probe)))
    class_of: dict[str, type] = {}
    for name, tests in {"Kernels": of_kernels, "Probes": of_probes}.items():
        # Kernels may add in another order than the CPU's.
        close = {"__module__": scope["__name__"], "precision": 1e-4, "rel_tol": 1e-4}
        scope[name] = type(name, (_TestCase,), {**close, **dict(tests)})
        before = set(scope)
        # PyTorch 2.9 finds the class of tests for PrivateUse1 by this name alone, which its first use changes.
        _common.PrivateUse1TestBase.device_type = "privateuse1"
        _common.instantiate_device_type_tests(scope[name], scope, only_for=(device,))
        for new in set(scope) - before:
            names = _test_names(scope[new])
            class_of |= dict.fromkeys(names, scope[new])
    if not class_of:
        raise RuntimeError(f"PyTorch has no class of tests for {device}: is the device loaded?")
    for pattern, text in refused.items():
        names = fnmatch.filter(class_of, pattern)
        if not names:
            raise ValueError(f"`refused` names a test that there is not: {pattern}")
        for name in names:
            test = getattr(class_of[name], name)
            setattr(class_of[name], name, _refusing(test, text))


def _test_names(tests: type) -> list[str]:
    return [name for name in dir(tests) if name.startswith("test_")]


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
        if not has_values:
            return x.shape, x.dtype
        return x.detach().cpu().resolve_conj()

    plain_found = tree_map_only(Tensor, plain, found)
    plain_expected = tree_map_only(Tensor, plain, expected)
    test.assertEqual(plain_found, plain_expected, **tolerances)


def _probe_test(probe: Callable[[Any, str], object]) -> Test:
    """A probe that returns something returns the same on the CPU."""

    def test(self: Any, device: str) -> None:
        found = probe(self, device)
        if found is None:
            return
        expected = probe(self, "cpu")
        compare(self, found, expected)

    return test


def _call(op: Any, sample: Any) -> Any:
    return op(sample.input, *sample.args, **sample.kwargs)


def _forward(op: Any, sample: Any) -> object:
    """The results, and which have the memory of the input: what is written to a copy of it is lost."""
    results = _call(op, sample)
    given = sample.input
    if not _is_strided(given):
        return results
    memory = given.untyped_storage()._cdata
    have_memory = []
    for result in tree_leaves(results):
        if _is_strided(result) and result.device == given.device:
            have_memory.append(result.untyped_storage()._cdata == memory)
    return results, have_memory


def _is_strided(value: object) -> TypeGuard[Tensor]:
    return isinstance(value, Tensor) and value.layout == torch.strided


def _inplace(op: Any, sample: Any) -> object:
    written = sample.input.clone()
    result = op.inplace_variant(written, *sample.args, **sample.kwargs)
    return result, written


def _out(op: Any, sample: Any) -> object:
    """Into tensors of the right size, without elements, and with gaps."""
    results = _call(op, sample)
    makes: Sequence[Change] = (torch.empty_like, _without_elements, _with_gaps)
    outs = [tree_map_only(Tensor, make, results) for make in makes]
    for out in outs:
        op(sample.input, *sample.args, **sample.kwargs, out=out)
    return outs


def _without_elements(x: Tensor) -> Tensor:
    return x.new_empty(0)


def _with_gaps(x: Tensor) -> Tensor:
    twice = x.new_empty((*x.shape, 2))
    return twice[..., 0].copy_(x)


def _negated(x: Tensor) -> Tensor:
    return _torch._neg_view(-x) if _is_continuous(x.dtype) else x


def _changed(sample: Any, change: Change) -> Any:
    """The arguments with other tensors; `transform` passes dtypes, too."""

    def changed(x: Any) -> Any:
        return change(x) if isinstance(x, Tensor) else x

    return sample.transform(changed)


def _of(change: Change) -> Run:
    return lambda op, sample: _call(op, _changed(sample, change))


def _differentiable(op: Any, sample: Any) -> list[list[Tensor]]:
    """The results that have gradients, and the arguments."""
    results = sample.output_process_fn_grad(_call(op, sample))
    arguments = (sample.input, sample.args, sample.kwargs)
    return [_with_gradients(results), _with_gradients(arguments)]


def _with_gradients(tree: object) -> list[Tensor]:
    return [x for x in tree_leaves(tree) if getattr(x, "requires_grad", False)]


def _backward(op: Any, sample: Any) -> object:
    outputs, inputs = _differentiable(op, sample)
    ones = [torch.ones_like(x) for x in outputs]
    return torch.autograd.grad(outputs, inputs, ones, allow_unused=True)


def _gradcheck(op: Any, sample: Any) -> object:
    _, inputs = _differentiable(op, sample)

    def run(*given: Tensor) -> tuple[Tensor, ...]:
        new_of = {id(old): new for old, new in zip(inputs, given)}
        with_given = sample.transform(lambda x: new_of.get(id(x), x))
        outputs, _ = _differentiable(op, with_given)
        return tuple(outputs)

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
    # Some variants read what lies beside their input in memory, and a copy of the input has nothing there.
    known = [op for op in _op_db if op.variant_test_name != "partial_views"]
    for kernels, starts in _CALLERS.items():
        if base.startswith(kernels):
            return [op for op in known if op.name.startswith(starts)]
    bare = _AFFIXES.sub("", base)
    for names in ({base, base.removesuffix("_")}, {bare}):
        reaching = []
        for op in known:
            reached = {op.aten_name, op.aten_backward_name}
            if names & reached:
                reaching.append(op)
        if reaching:
            return reaching
    return [op for op in known if op.name.rpartition(".")[2] == bare]


def _kernel_tests(kernels: Mapping[str, str]) -> Iterator[tuple[str, Test]]:
    for name, claimed in kernels.items():
        ops = _ops_for(name)
        dtypes = [getattr(torch, word) for word in claimed.split(", ")]
        flat = name.removeprefix("aten::").replace("::", "__").replace(".", "_")
        kinds = ["backward", "gradcheck"] if "_backward" in name else list(CHECKS)
        for kind in kinds:
            # Each dtype has a test of the first kind, if only to say that no input reaches the kernel.
            is_first = kind == kinds[0]
            suited = [dtype for dtype in dtypes if is_first or _suits_any(kind, ops, dtype)]
            if suited:
                in_dtypes = _common.dtypes(*suited)
                test = _kernel_test(name, kind, ops)
                yield f"test_{kind}_{flat}", in_dtypes(test)


def _suits_any(kind: str, ops: Sequence[Any], dtype: torch.dtype) -> bool:
    _, suits = CHECKS[kind]
    return any(suits(op, dtype) for op in ops)


def _kernel_test(name: str, kind: str, ops: Sequence[Any]) -> Test:
    run, suits = CHECKS[kind]
    config = _ProfilerConfig(capture_overload_names=True)

    def test(self: Any, device: str, dtype: torch.dtype) -> None:
        def move(x: Tensor) -> Tensor:
            return x.detach().to(device).requires_grad_(x.requires_grad)

        needs_gradients = kind in ("backward", "gradcheck")
        called = set[str]()
        for op in ops:
            if dtype not in op.dtypes or not suits(op, dtype):
                continue
            # `op.sample_inputs` searches the stack for the test, which takes longer than the test.
            for sample in op.sample_inputs_func(op, "cpu", dtype, needs_gradients):
                given = _changed(sample, move)
                try:
                    expected = run(op, sample)
                except Exception:
                    continue  # An input that the CPU refuses.
                calls = _profiler.profile(name not in called, experimental_config=config)
                try:
                    with calls:
                        found = run(op, given)
                    compare(self, found, expected, _has_values(op))
                except Exception as error:
                    raise AssertionError(f"{op.name}, {sample.summary()}: {error}") from error
                if calls.enabled:
                    called |= _names_of(calls.function_events)
        if name not in called:
            self.skipTest("none of PyTorch's inputs reaches the kernel")

    return test


def _names_of(calls: Any) -> set[str]:
    """The operators that were called, such as `aten::add.Tensor`."""
    names = set()
    for call in calls:
        name = f"{call.name}.{call.overload_name}"
        names.add(name.removesuffix("."))
    return names


def _has_values(op: Any) -> bool:
    """Whether there are values to compare, which are neither random nor left open."""
    is_left_open = op.name.startswith(("empty", "new_empty", "resize"))
    return not is_left_open and not _is_random(op)


def _is_random(op: Any) -> bool:
    """Whether any overload of the operator draws random numbers."""
    name = op.aten_name or op.name
    packet = getattr(torch.ops.aten, name, None)
    if packet is None:
        return False
    for overload_name in packet.overloads():
        overload = getattr(packet, overload_name)
        if torch.Tag.nondeterministic_seeded in overload.tags:
            return True
    return False
