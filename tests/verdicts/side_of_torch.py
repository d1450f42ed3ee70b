"""One side of a pair as PyTorch has it: defines its operators, runs lines of Python, and prints what each gives.

A script, which gets the name of a file of JSON. The kernels that an author would have written in C++ are made up: what
each computes depends on its name, and on every argument and its name.
"""

from __future__ import annotations

import importlib
import json
import sys
import zlib
from collections.abc import Callable, Mapping
from typing import Any

import torch

KEYS = {'.to("cuda")': "CUDA", ".to(torch._C._get_privateuse1": "PrivateUse1"}


def define(side: Mapping[str, Any]) -> list[Any]:
    """What stands for the library in C++; the registrations last as long as the result."""
    kept = []
    for one in side["definitions"]:
        make: Any = torch.library.Library
        library = make(one["namespace"], "FRAGMENT")
        known = [getattr(torch.Tag, tag) for tag in one["tags"] if hasattr(torch.Tag, tag)]
        library.define(one["schema"], tags=known)
        overload = one["schema"].partition("(")[0]
        for key, kernel in one["kernels"]:
            library.impl(overload, made_up(one["namespace"], overload, f"{kernel} {overload}"), key)
        kept.append(library)
    return kept


def made_up(namespace: str, overload: str, kernel: str) -> Callable[..., Any]:
    """What computes for a kernel of that name."""
    name, _, part = overload.partition(".")
    packet = getattr(getattr(torch.ops, namespace), name)
    schema = getattr(packet, part or "default")._schema

    def compute(*arguments: Any, **keywords: Any) -> Any:
        given = dict(zip([one.name for one in schema.arguments], arguments)) | keywords
        values = [given.get(one.name, one.default_value) for one in schema.arguments]
        total: Any = torch.tensor(float(zlib.crc32(kernel.encode()) % 97))
        tensors = [one for one in flat(values) if isinstance(one, torch.Tensor)]
        if tensors:
            total = total.to(tensors[0].device)
        for argument, value in zip(schema.arguments, values):
            for part in flat([value]):
                total = total + weight(part) * weight(argument.name)
        return results(schema, total, values)

    return compute


def flat(values: list[Any]) -> list[Any]:
    found = []
    for value in values:
        found += flat(list(value)) if isinstance(value, (list, tuple)) else [value]
    return found


def weight(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value + weight(str(value.dtype))
    if isinstance(value, (int, float)):
        return value
    return zlib.crc32(str(value).encode()) % 97


def results(schema: Any, total: torch.Tensor, values: list[Any]) -> Any:
    """A value of each type that is returned; what is written is written first."""
    written = []
    for argument, value in zip(schema.arguments, values):
        if argument.alias_info is not None and argument.alias_info.is_write:
            written.append(value.copy_(total.expand_as(value)))
    found = []
    for one in schema.returns:
        if one.alias_info is not None and written:
            found.append(written.pop(0))
        elif str(one.type) == "Tensor":
            found.append(total)
        else:
            found.append(None if "Optional" in str(one.type) else int(total.sum()))
    if len(found) == 1:
        return found[0]
    return tuple(found) or None


def outcome(line: str) -> list[Any]:
    """What the line gives, or how it fails."""
    torch.manual_seed(0)
    try:
        if line.startswith("import "):
            importlib.import_module(line.removeprefix("import "))
            return ["works", ""]
        return ["works", shown(eval(line, {"torch": torch, **packages()}))]
    except Exception as error:  # A call that fails may raise anything.
        return failure(error)


def failure(error: Exception) -> list[Any]:
    return ["fails", f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"]


def packages() -> dict[str, Any]:
    return {name: sys.modules[name] for name in IMPORTED}


def shown(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        values = [] if value.device.type == "meta" else value.tolist()
        return f"{value.dtype} {value.device} {tuple(value.shape)} {values}"
    if isinstance(value, (list, tuple)):
        return f"{type(value).__name__}: {[shown(one) for one in value]}"
    return str(value)


def on_a_device(line: str) -> str:
    """The line, or for a device that is not here, a question whether the operator has a kernel for it."""
    for move, key in KEYS.items():
        if move in line and not (key == "CUDA" and torch.cuda.is_available()):
            parts = line.partition("(")[0].split(".")[2:]
            name = f"{parts[0]}::{'.'.join(parts[1:])}".removesuffix(".default")
            return f'1 / torch._C._dispatch_has_kernel_for_dispatch_key("{name}", "{key}")'
    return line


IMPORTED: list[str] = []


def main(path: str) -> None:
    with open(path) as file:
        side = json.load(file)
    sys.path[:0] = side["path"]
    kept = define(side)
    lines = side["lines"]
    try:
        for name in side["packages"]:
            importlib.import_module(name)
            IMPORTED.append(name)
        found = [outcome(on_a_device(line)) for line in lines]
    except Exception as error:  # What a package finds at its import.
        found = [failure(error)] * len(lines)
    print(json.dumps(found))
    del kept


if __name__ == "__main__":
    main(sys.argv[1])
