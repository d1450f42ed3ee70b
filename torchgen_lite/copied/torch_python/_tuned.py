"""Options of kernels, one of which is the best for a class of inputs: it is read, and never measured when calls run.

`python -m PACKAGE.tune PROGRAM` runs a program, measures the options for each class of inputs of its calls on the devices
at hand, and writes `tuned.json` beside this file, to be checked in. Tensors are of one class if they have the same dtype,
and sizes that are the same when rounded up to powers of two. For what is not in the file, and for symbolic sizes, the
first options hold.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from functools import partial
from importlib.resources import files
from typing import Any

import torch
from torch.utils import _pytree as pytree

from . import _rows
from ._library import Function, RegistrationError, tensors_of

FILE = "tuned.json"
Options = Mapping[str, Any]
# By device, by kernel, by class of inputs.
Known = dict[str, dict[str, dict[str, Options]]]
# As many combinations of sizes are kept; a program with more begins anew.
_MOST_KEPT = 1024
# A kernel is called so often, or for so many seconds.
_CALLS = 20
_SECONDS = 0.2


def _read() -> Known:
    # The package may be in an archive.
    held = files(__package__) / FILE
    if not held.is_file():
        return {}
    try:
        read: Known = json.loads(held.read_text("utf-8"))
    except ValueError as error:
        raise RegistrationError(f"{held}: {error}: run `tune` again, or delete it") from error
    return read


known = _read()
is_measuring = False


class Tuned:
    """The options of a kernel of an operator for a key."""

    def __init__(self, operator: str, kernel: str, options: Sequence[Options]) -> None:
        self.name = f"{operator} for {kernel}"
        self.options = options
        self._kept: dict[Any, Options] = {}
        self._is_known = any(self.name in kernels for kernels in known.values())

    def __call__(self, function: Function) -> Function:
        """The kernel with the options that hold for its arguments."""
        if self._is_known or is_measuring:
            return partial(self._call, function)
        return partial(function, **self.options[0])

    def _call(self, function: Function, *args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs, **self._options_for(function, args, kwargs))

    def _options_for(self, function: Function, args: Any, kwargs: Any) -> Options:
        tensors = tensors_of((args, kwargs))
        asked = tuple([(value.device, value.dtype, value.shape) for value in tensors])
        try:
            options = self._kept.get(asked)
        except TypeError:
            # A symbolic size is of no class.
            return self.options[0]
        if options is None:
            options = self._found(function, args, kwargs, tensors)
            if len(self._kept) >= _MOST_KEPT:
                self._kept.clear()
            self._kept[asked] = options
        return options

    def _found(
        self, function: Function, args: Any, kwargs: Any, tensors: Sequence[torch.Tensor]
    ) -> Options:
        """What is known for the class of the arguments, or is measured now."""
        device = device_name(tensors[0].device) if tensors else "cpu"
        its_class = class_of(tensors)
        options = known.get(device, {}).get(self.name, {}).get(its_class)
        # They are of another version of the kernel if it doesn't have them now.
        if options is not None and options in self.options:
            return options
        if not is_measuring:
            return self.options[0]
        options = self._measured(function, args, kwargs)
        classes = known.setdefault(device, {}).setdefault(self.name, {})
        classes[its_class] = options
        return options

    def _measured(self, function: Function, args: Any, kwargs: Any) -> Options:
        times = []
        for options in self.options:
            tuned = partial(function, **options)
            times.append(_seconds(tuned, args, kwargs))
        fastest = times.index(min(times))
        return self.options[fastest]


def kernel(place: str, module: str, name: str, tuned: Tuned) -> Function:
    """The function of a row, with its options; its module is imported now."""
    return tuned(_rows.kernel(place, module, name))


def class_of(tensors: Sequence[torch.Tensor]) -> str:
    """`float32[4, 128], float32[128]`: dtypes, and sizes rounded up to powers of two."""
    classes = []
    for tensor in tensors:
        dtype = str(tensor.dtype).removeprefix("torch.")
        sizes = [_rounded(size) for size in tensor.shape]
        classes.append(f"{dtype}{sizes}")
    return ", ".join(classes)


def _rounded(size: int) -> int:
    return 1 << (size - 1).bit_length() if size else 0


def device_name(device: torch.device) -> str:
    """What is measured on one is no answer for another."""
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    if device.type == "cpu":
        return f"cpu {torch.backends.cpu.get_cpu_capability()}"
    return device.type


def _seconds(call: Function, args: Any, kwargs: Any) -> float:
    """The shortest time of a call; each gets its own copies of the tensors, which it may write."""
    given = args, kwargs
    begun = time.perf_counter()
    shortest = float("inf")
    for number in range(_CALLS):
        copies, named = pytree.tree_map_only(torch.Tensor, torch.Tensor.clone, given)
        _wait(args)
        before = time.perf_counter()
        call(*copies, **named)
        _wait(args)
        after = time.perf_counter()
        # The first call compiles, or imports.
        shortest = min(shortest, after - before) if number else shortest
        if number and after - begun > _SECONDS:
            break
    return shortest


def _wait(args: Any) -> None:
    if any(value.is_cuda for value in tensors_of(args)):
        torch.cuda.synchronize()
