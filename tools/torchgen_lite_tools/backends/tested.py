"""What is declared of a backend's kernels, beside what the tests of its device have verified.

`dtypes:` of an entry declare what its kernel is for. Target `device-tests` makes tests of it, with names such as
`test_forward_add_out_sim_float32`, and `pytest --junitxml=FILE` writes how each of them ended.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
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


def claims_of(program: Program, key: str, report: Path | None) -> tuple[list[Section], Claims]:
    """What is declared and what verified of the kernels of a key, for readers and for programs.

    A dtype is verified if a test of the kernel passed in it, and none failed; without a report none is.
    """
    kernels = {
        name: operator.function.dtypes
        for name, operator in program.resolved.declared_by_name.items()
        if any(kernel.key == key for kernel in operator.own_kernels)
    }
    claims: Claims = {name: {"declared": d} for name, d in kernels.items() if d or report}
    number = sum(map(len, kernels.values()))
    by = sum(map(bool, kernels.values()))
    rows: list[Row] = [("declared", str(number), f"by `dtypes:` of {counted(by, 'kernel')}")]
    if report is None:
        said = "not known: `--tests FILE` reads the report of the generated tests"
        return [Section(_TITLE, [*rows, ("verified", "-", said)])] if number else [], claims
    ended = _ended(report, kernels, key)
    verified = list[bool]()
    for name, declared in kernels.items():
        own = {d: ended[name, d] for d in (*declared, *DTYPES) if (name, d) in ended}
        claims[name]["verified"] = [dtype for dtype, failed in own.items() if not failed]
        verified += [dtype in declared for dtype in claims[name]["verified"]]
        rows += [(name, d, f"failed: {', '.join(failed)}") for d, failed in own.items() if failed]
        rows += [(name, d, "no test of it passed") for d in declared if d not in own]
    if not all(verified):
        other = f", and {verified.count(False)} that no entry declares"
    else:
        other = ""
    rows.insert(1, ("verified", str(sum(verified)), f"of these{other}"))
    return [Section(_TITLE, rows)], claims


def _ended(report: Path, kernels: Collection[str], key: str) -> dict[tuple[str, str], list[str]]:
    """The checks that failed, of each kernel and dtype with tests that were not skipped. Raises Refused if none has."""
    shown = f"`{shown_path(report, Path.cwd())}`"
    found = dict[tuple[str, str], list[str]]()
    try:
        cases = ElementTree.fromstring(read_any_text(report)).iter("testcase")
    except (ElementTree.ParseError, ValueError) as error:
        raise Refused(Diagnostic("TG012", f"{shown} is no JUnit report: {error}")) from None
    # As `_device_tests.py` spells them.
    spelled = {}
    for n in kernels:
        spelled[n.removeprefix("aten::").replace("::", "__").replace(".", "_")] = n
    own = [case for case in cases if case.get("classname", "").endswith(f"Kernels{key.upper()}")]
    matched = [(one, match) for one in own if (match := _TEST.fullmatch(one.get("name", "")))]
    device = _device([match[2] for _, match in matched], spelled)
    for case, match in matched:
        kernel = spelled.get(match[2].removesuffix(device))
        if kernel and case.find("skipped") is None:
            has_failed = any(one.tag in ("failure", "error") for one in case)
            found.setdefault((kernel, match[3]), []).extend([match[1]] * has_failed)
    if not found:
        help_ = (
            "`pytest --junitxml=FILE generated/device-tests` tests the kernels of the schema files"
        )
        raise Refused(Diagnostic("TG012", f"{shown} has no test of a kernel for {key}", help=help_))
    return found


def _device(names: Sequence[str], kernels: Collection[str]) -> str:
    """What follows the kernel in every name, such as `_chip`: other operators may begin as a kernel does."""
    rests = {n.removeprefix(k) for n in names for k in kernels if n.startswith(f"{k}_")}
    return min([one for one in rests if all(n.endswith(one) for n in names)], key=len, default="")
