"""The profiling hook (c10 RecordFunction's place) and a tracer on it.

There is no cost while no observer is installed: resolved kernels are memoized as they are. Installing one drops the
memos, and kernels resolved while observers exist are wrapped, and not memoized.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TextIO

from .dispatcher import Dispatcher
from .record import Observer, Record


@contextmanager
def observe(observer: Observer, dispatcher: Dispatcher | None = None) -> Iterator[None]:
    """Let `observer` see every call and redispatch of a dispatcher, in all threads, inside the block."""
    chosen = Dispatcher.singleton() if dispatcher is None else dispatcher
    with chosen.lock:
        chosen.set_observers((*chosen.observers, observer))
    try:
        yield
    finally:
        with chosen.lock:
            # Identity, not equality: the same observer may be installed twice.
            kept = list(chosen.observers)
            index = max(i for i, installed in enumerate(kept) if installed is observer)
            del kept[index]
            chosen.set_observers(tuple(kept))


_depth: ContextVar[int] = ContextVar("torchgen_lite.trace_depth", default=0)


@contextmanager
def trace(file: TextIO | None = None, dispatcher: Dispatcher | None = None) -> Iterator[None]:
    """Print the tree of calls and redispatches inside the block, as `TORCH_SHOW_DISPATCH_TRACE` does.

    [call] op=[aten::add.Tensor], key=[AutogradCPU]
     [redispatch] op=[aten::add.Tensor], key=[CPU]
    """

    def observer(record: Record) -> Callable[[], None]:
        depth = _depth.get()
        _depth.set(depth + 1)
        fallback = ", fallback" if record.kernel.is_fallback else ""
        print(
            f"{' ' * depth}[{record.how}] op=[{record.operator}], key=[{record.key}]{fallback}",
            file=file or sys.stdout,
        )

        def end() -> None:
            _depth.set(depth)

        return end

    with observe(observer, dispatcher):
        yield
