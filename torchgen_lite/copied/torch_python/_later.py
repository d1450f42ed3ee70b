"""What is registered in modules of torch that the package does not import, once those are imported."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Sequence
from types import ModuleType, SimpleNamespace
from typing import Any


def when_imported(module: str, act: Callable[[Any], None], operators: Sequence[Any]) -> None:
    """Act now if the module is there, or at the end of its import."""

    def find_spec(name: str, path: Any = None, target: Any = None) -> Any:
        if name != module:
            return None
        place = sys.meta_path.index(finder)
        sys.meta_path.remove(finder)
        try:
            spec: Any = importlib.util.find_spec(name)
        finally:
            # Who looks need not import.
            sys.meta_path.insert(place, finder)
        if spec is not None:
            run = spec.loader.exec_module

            def exec_module(made: ModuleType) -> None:
                run(made)
                if finder in sys.meta_path:
                    sys.meta_path.remove(finder)
                    for operator in operators:
                        act(operator)

            spec.loader.exec_module = exec_module
        return spec

    finder: Any = SimpleNamespace(find_spec=find_spec)
    if module not in sys.modules:
        sys.meta_path.insert(0, finder)
        return
    for operator in operators:
        act(operator)
