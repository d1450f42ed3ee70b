"""One side of a pair without PyTorch: runs lines of Python, and prints what each gives.

A script, which gets JSON. Every name in a line is a tensor, on the CPU, of a class with the generated methods.
"""

from __future__ import annotations

import ast
import importlib
import json
import sys
from typing import Any


def outcome(line: str) -> list[str]:
    tree = ast.parse(line, mode="eval")
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    try:
        ops: Any = importlib.import_module("ops")
        runtime: Any = importlib.import_module("torchgen_lite.runtime")
        keys = runtime.DispatchKeySet(runtime.DispatchKey.CPU)
        methods: Any = importlib.import_module("ops.methods")
        tensor: Any = type("Tensor", (methods.TensorMethods,), {"_dispatch_keyset": keys})
        tensor.__mul__ = lambda self, other: f"times {other}"
        value = eval(line, {**{name: tensor() for name in names}, "ops": ops})
    except Exception as error:  # A call that fails may raise anything.
        return ["fails", f"{type(error).__name__}: {error}"]
    return ["works", value if isinstance(value, str) else type(value).__name__]


def main(text: str) -> None:
    side = json.loads(text)
    sys.path[:0] = side["path"]
    print(json.dumps([outcome(line) for line in side["lines"]]))


if __name__ == "__main__":
    main(sys.argv[1])
