"""Records which operators a program calls below autograd: run in a Python of its own, by `calls.py`.

Note [A stand-in for a device]
Which operators a kernel of PyTorch calls depends on the device: `nn.LSTM` runs a fused cell on some and not on others.
So the program runs on the key of the backend without the backend: a fallback at PrivateUse1 has the CPU compute, behind
tensors without memory. Each shares its storage with its views, as a real one does, and the storage knows one of the
CPU. So all that PyTorch does above the key, and every kernel of its own that serves it, is what a real device sees.

Note [Kernels are followed]
A mode sees each call once. Where a kernel of PyTorch for all backends serves the call, that kernel is run alone, under
the mode again, which sees what it calls.
"""

from __future__ import annotations

import json
import runpy
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

from torchgen_lite.loader.torch.files import import_torch


def answer(folder: str) -> None:
    """Do what `request.json` in a folder asks, and write `answer.json`."""
    asked = json.loads(Path(folder, "request.json").read_text("utf-8"))
    result: dict[str, Any] = {"tree": {}, "failed": [], "error": "", "samples": 0}
    try:
        torch = import_torch()
        if not asked["modules"]:
            _stand_in(torch, asked)
        for module in asked["modules"]:
            import_module(module)
        mode = _recorder(torch, asked, result["tree"], result["failed"])
        if asked["operator"]:
            result["samples"] = _call(torch, asked["operator"], mode, result["failed"])
        else:
            script = asked["script"]
            sys.argv[:] = [script]
            sys.path.insert(0, str(Path(script).parent))
            Path(folder, "begun").touch()
            with mode:
                runpy.run_path(script, run_name="__main__")
    except BaseException as error:  # Whatever a script raises, SystemExit included, ends it.
        is_success = isinstance(error, SystemExit) and not error.code
        if not is_success:
            message = str(error) if asked["operator"] else f"{type(error).__name__}: {error}"
            first_line, _, _ = message.partition("\n")
            first_sentence, _, _ = first_line.partition(". ")
            result["error"] = first_sentence
    Path(folder, "answer.json").write_text(json.dumps(result), "utf-8")


def _call(torch: Any, operator: str, mode: Any, failed: list[str]) -> int:
    """Call an operator with inputs of PyTorch's own tests; how many there were."""
    entries = import_module("torch.testing._internal.common_methods_invocations").op_db
    device = torch._C._get_privateuse1_backend_name()
    count = 0
    function = _function(torch, operator)
    base = operator.removeprefix("aten::").partition(".")[0]
    for info in entries:
        if base not in (info.aten_name, info.name.rpartition(".")[2]):
            continue
        if torch.float32 in info.dtypes:
            dtype = torch.float32
        else:
            dtype = min(info.dtypes, key=str)
        for sample in islice(info.sample_inputs(device, dtype), 40):
            try:
                with mode:
                    function(sample.input, *sample.args, **sample.kwargs)
                count += 1
            except Exception:
                # Inputs of another overload end before anything is called.
                if failed:
                    raise
    if not count:
        raise LookupError(f"PyTorch's tests have no inputs for {operator}")
    return count


def _function(torch: Any, operator: str) -> Any:
    base, _, overload = operator.removeprefix("aten::").partition(".")
    packet = getattr(torch.ops.aten, base)
    return getattr(packet, overload or "default")


def _recorder(torch: Any, asked: Mapping[str, Any], tree: dict[str, Any], failed: list[str]) -> Any:
    """A mode that adds each call to a tree that the device takes part in; see Note [Kernels are followed]."""
    keys = torch._C.DispatchKey
    stack = list[str]()
    below = [tree]
    key = asked["key"]
    follow = asked["follow"]
    leaves = import_module("torch.utils._pytree").tree_leaves
    renamed = {"PrivateUse1": torch._C._get_privateuse1_backend_name()}
    device = renamed.get(key, key.lower())

    def is_there(value: Any) -> bool:
        place = getattr(value, "device", value)
        return bool(getattr(place, "type", None) == device)

    def dispatch(mode: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func.name()
        given = kwargs or {}
        # A kernel that calls its own operator has come to its end.
        if name in stack or not any(map(is_there, leaves((args, given)))):
            return func(*args, **given)
        siblings = below[-1]
        count, calls_below = siblings.get(name, (0, {}))
        siblings[name] = count + 1, calls_below
        stack.append(name)
        below.append(calls_below)
        try:
            if name not in follow:
                return func(*args, **given)
            with mode:
                return func._op_dk(getattr(keys, follow[name]), *args, **given)
        except Exception:
            failed[:] = failed or [name]
            raise
        finally:
            stack.pop()
            below.pop()

    base = import_module("torch.utils._python_dispatch").TorchDispatchMode
    return type("Recorder", (base,), {"__torch_dispatch__": dispatch})()


def _stand_in(torch: Any, asked: Mapping[str, Any]) -> None:
    """Make PrivateUse1 a device, with kernels of its own; see Note [A stand-in for a device]."""
    library = torch.library.Library
    device = str(asked["device"])
    setup = import_module("torch.utils.backend_registration")
    # A device that was never named is no accelerator.
    setup._setup_privateuseone_for_python_backend(device)
    compute = _computing(torch, device)
    # Libraries that are gone take their kernels with them.
    fallback = library("_", "IMPL")
    kernels = library("aten", "IMPL")
    torch.stand_in = fallback, kernels
    fallback.fallback(compute, "PrivateUse1")
    # `torch.tensor` copies its numbers to the device where PyTorch reaches kernels of Python, and no fallback of Python.
    for name in {*asked["own"], "aten::_copy_from", "aten::empty_strided"}:
        kernel = partial(compute, _function(torch, name))
        kernels.impl(name, kernel, "PrivateUse1")
    torch.set_default_device(device)
    # The default device is a mode of functions, which modules take for a tensor of another class: they would leave their
    # fast paths.
    torch.overrides.has_torch_function = partial(_overrides, torch)


def _overrides(torch: Any, values: Iterable[Any]) -> bool:
    """Whether one of these tensors is of a class that handles functions by itself."""
    plain = {torch.Tensor, torch.nn.Parameter}
    tensors = [value for value in values if isinstance(value, torch.Tensor)]
    return any(type(tensor) not in plain for tensor in tensors)


def _computing(torch: Any, device: str) -> Callable[..., Any]:
    """What computes a call on the CPU, behind tensors of the device."""
    aten = torch.ops.aten
    tree_map = import_module("torch.utils._pytree").tree_map
    shaped = aten.set_.source_Storage_storage_offset
    meta = torch._C.DispatchKeySet(torch._C.DispatchKey.Meta)
    # What every backend must have, and the CPU does not.
    instead = {
        "aten::_copy_from": lambda source, target, _=False: target.copy_(source),
        "aten::_copy_from_and_resize": lambda source, to: to.resize_(source.shape).copy_(source),
        "aten::convolution_overrideable": aten.convolution,
        "aten::convolution_backward_overrideable": lambda gradient, given, weight, *rest: (
            aten.convolution_backward(gradient, given, weight, None, *rest)
        ),
    }

    def compute(function: Any, *args: Any, **kwargs: Any) -> Any:
        given: list[tuple[Any, Any]] = []
        storages: dict[int, Any] = {}

        def enter(value: Any) -> Any:
            if isinstance(value, torch.device) and value.type == device:
                return torch.device("cpu")
            if not isinstance(value, torch.Tensor) or value.device.type != device:
                return value
            storage = value.untyped_storage()
            on_cpu = torch.empty(0, dtype=value.dtype, device="cpu")
            on_cpu.set_(storage.on_cpu, value.storage_offset(), value.shape, value.stride())
            given.append((value, on_cpu))
            storages[storage.on_cpu._cdata] = storage
            return on_cpu

        def leave(value: Any) -> Any:
            if not isinstance(value, torch.Tensor) or value.layout is not torch.strided:
                return value
            for outside, inside in given:
                if inside is value:
                    return outside
            made = torch._C._acc.create_empty_tensor(tuple(value.shape), value.dtype)
            return move(made, value)

        def move(tensor: Any, like: Any) -> Any:
            on_cpu = like.untyped_storage()
            if on_cpu._cdata not in storages:
                storage = tensor.untyped_storage()
                storage.on_cpu = on_cpu
                storages[on_cpu._cdata] = storage
            place = storages[on_cpu._cdata], like.storage_offset(), like.shape, like.stride()
            # Meta's kernel changes no memory, and so suits a tensor without any.
            with torch._C._AutoDispatchBelowAutograd():
                shaped.redispatch(meta, tensor, *place)
            return tensor

        with torch._C._DisableTorchDispatch():
            inner_args, inner_kwargs = tree_map(enter, (args, kwargs))
            on_the_cpu = instead.get(function.name(), function)
            result = on_the_cpu(*inner_args, **inner_kwargs)
            for outside, inside in given:
                has_same_shape = inside.shape == outside.shape
                if not has_same_shape or inside.stride() != outside.stride():
                    move(outside, inside)
            return tree_map(leave, result)

    return compute
