"""What is declared of a backend's kernels, beside what the tests of its device have verified.

`dtypes:` of an entry declare what its kernel is for. Target `device-tests` makes tests of it, with names such as
`test_forward_add_out_sim_float32`, and `pytest --junitxml=FILE` writes how each of them ended.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree

from torchgen_lite.analysis.program import Program
from torchgen_lite.cli.pages import Row, Section
from torchgen_lite.cli.session import Refused
from torchgen_lite.diagnostics import Diagnostic
from torchgen_lite.diagnostics.text import counted
from torchgen_lite.loader.sources import shown_path
from torchgen_lite.schema.defaults import DTYPES
from torchgen_lite_tools.backends.sources import read_any_text

_TEST = re.compile(rf"test_([a-z]+)_(.+)_({'|'.join(DTYPES)})")
_TITLE = "dtypes of kernels"
# The dtypes of each kernel that are declared, and those that are verified.
Claims = dict[str, dict[str, Sequence[str]]]
# The checks that failed, of each kernel and dtype with tests that were not skipped.
Ended = dict[tuple[str, str], list[str]]


def claims_of(program: Program, key: str, report: Path | None) -> tuple[list[Section], Claims]:
    """What is declared and what verified of the kernels of a key, for readers and for programs.

    A dtype is verified if a test of the kernel passed in it, and none failed; without a report none is.
    """
    kernels = _declared_dtypes(program, key)
    claims: Claims = {}
    for name, declared in kernels.items():
        if declared or report:
            claims[name] = {"declared": declared}
    number = sum(len(declared) for declared in kernels.values())
    declaring = [name for name, declared in kernels.items() if declared]
    by = f"by `dtypes:` of {counted(len(declaring), 'kernel')}"
    rows: list[Row] = [("declared", str(number), by)]
    if report is None:
        if not number:
            return [], claims
        not_known = "not known: `--tests FILE` reads the report of the generated tests"
        rows.append(("verified", "-", not_known))
        return [Section(_TITLE, rows)], claims
    ended = _ended(report, kernels, key)
    are_declared = list[bool]()
    not_verified = list[Row]()
    for name, declared in kernels.items():
        failed_by_dtype = _failed_checks(ended, name, declared)
        verified = [dtype for dtype, failed in failed_by_dtype.items() if not failed]
        claims[name]["verified"] = verified
        are_declared += [dtype in declared for dtype in verified]
        not_verified += _not_verified(name, declared, failed_by_dtype)
    others = are_declared.count(False)
    beside = f", and {others} that no entry declares" if others else ""
    rows.append(("verified", str(are_declared.count(True)), f"of these{beside}"))
    return [Section(_TITLE, rows + not_verified)], claims


def _declared_dtypes(program: Program, key: str) -> dict[str, Sequence[str]]:
    """The dtypes that are declared of each kernel of a key, by operator."""
    dtypes = dict[str, Sequence[str]]()
    for name, operator in program.resolved.declared_by_name.items():
        if any(kernel.key == key for kernel in operator.own_kernels):
            dtypes[name] = operator.function.dtypes
    return dtypes


def _failed_checks(ended: Ended, name: str, declared: Sequence[str]) -> dict[str, list[str]]:
    """The checks of a kernel that failed, by dtype: those that are declared come first."""
    failed = dict[str, list[str]]()
    for dtype in (*declared, *DTYPES):
        if (name, dtype) in ended:
            failed[dtype] = ended[name, dtype]
    return failed


def _not_verified(
    name: str, declared: Sequence[str], failed_by_dtype: Mapping[str, Sequence[str]]
) -> Iterator[Row]:
    """Why dtypes of a kernel are not verified."""
    for dtype, failed in failed_by_dtype.items():
        if failed:
            yield name, dtype, f"failed: {', '.join(failed)}"
    for dtype in declared:
        if dtype not in failed_by_dtype:
            yield name, dtype, "no test of it passed"


def _ended(report: Path, kernels: Collection[str], key: str) -> Ended:
    """How the tests of a report ended. Raises Refused if it has none of a kernel of the key."""
    shown = f"`{shown_path(report, Path.cwd())}`"
    try:
        root = ElementTree.fromstring(read_any_text(report))
    except (ElementTree.ParseError, ValueError) as error:
        raise Refused(Diagnostic("TG012", f"{shown} is no JUnit report: {error}")) from None
    matched = list[tuple[ElementTree.Element, re.Match[str]]]()
    for case in root.iter("testcase"):
        match = _TEST.fullmatch(case.get("name", ""))
        is_of_key = case.get("classname", "").endswith(f"Kernels{key.upper()}")
        if is_of_key and match is not None:
            matched.append((case, match))
    kernel_of = {_spelled(kernel): kernel for kernel in kernels}
    device = _device([match[2] for _, match in matched], kernel_of)
    ended: Ended = {}
    for case, match in matched:
        check, kernel_and_device, dtype = match.groups()
        kernel = kernel_of.get(kernel_and_device.removesuffix(device))
        is_skipped = case.find("skipped") is not None
        if kernel is None or is_skipped:
            continue
        failed = ended.setdefault((kernel, dtype), [])
        if any(outcome.tag in ("failure", "error") for outcome in case):
            failed.append(check)
    if not ended:
        help_ = (
            "`pytest --junitxml=FILE generated/device-tests` tests the kernels of the schema files"
        )
        raise Refused(Diagnostic("TG012", f"{shown} has no test of a kernel for {key}", help=help_))
    return ended


def _spelled(kernel: str) -> str:
    """A kernel as `_device_tests.py` spells it in the names of tests."""
    return kernel.removeprefix("aten::").replace("::", "__").replace(".", "_")


def _device(names: Sequence[str], kernels: Collection[str]) -> str:
    """What follows the kernel in every name, such as `_chip`: other operators may begin as a kernel does."""
    endings = set[str]()
    for kernel in kernels:
        of_kernel = [name for name in names if name.startswith(f"{kernel}_")]
        endings.update(name.removeprefix(kernel) for name in of_kernel)
    in_every_name = []
    for ending in endings:
        if all(name.endswith(ending) for name in names):
            in_every_name.append(ending)
    return min(in_every_name, key=len, default="")
