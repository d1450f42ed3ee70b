"""What tests/pyodide.mjs runs: pytest, where there are no processes, no threads and no extension modules.

A test that asks for one of them is skipped, by what it raises; all others must pass.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Generator, Sequence
from typing import Any
from unittest.mock import MagicMock

import pytest

# What is said where there is no such thing.
LACKS = re.compile(
    r"emscripten does not support processes|can't start new thread|No module named '(?:\w+\._?\w+|[\w.]*_\w+)'"
    r"|No module named '(?:torch|numpy|pygls|lsprotocol|mypy|torchgen_lite_tools|tree_sitter|watchfiles)\b"
    r"|cannot import name|could not load dynamic lib"
)


def lacking(error: object) -> str:
    """Why a test cannot run here, or nothing."""
    found = LACKS.search(str(error))
    return found[0] if found else ""


class Skips:
    """Turns errors that are the platform's into skips."""

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self, collector: Any) -> Generator[None, Any, Any]:
        report = yield
        if report.failed and (reason := lacking(report.longrepr)):
            report.outcome, report.longrepr = "skipped", (str(collector.path), 0, reason)
        return report

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: Any, call: Any) -> Generator[None, Any, Any]:
        report = yield
        if report.failed and (reason := lacking(call.excinfo.value)):
            report.outcome, report.longrepr = "skipped", (str(item.path), 0, reason)
        return report


def without_hypothesis() -> None:
    """Skip what Hypothesis tests, whose core is an extension module."""
    for name in [name for name in sys.modules if name.startswith("hypothesis")]:
        del sys.modules[name]
    fake = MagicMock()
    fake.given = lambda *a, **k: pytest.mark.skip(reason="needs Hypothesis")
    fake.settings.side_effect = lambda *a, **k: lambda test: test
    sys.modules.update({"hypothesis": fake, "hypothesis.strategies": fake.strategies})


def main(options: Sequence[str]) -> int:
    try:
        import hypothesis  # noqa: F401
    except ImportError:
        without_hypothesis()
    return int(pytest.main(["-p", "xdist", *options], plugins=[Skips()]))
