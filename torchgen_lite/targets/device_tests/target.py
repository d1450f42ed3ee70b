"""Which kernels are tested, in which dtypes.

device-tests/test_device_privateuse1.py   the list of kernels and dtypes, and the tests that are refused
device-tests/_device_tests.py             a copy of copied/device_tests: what makes tests of the list
device-tests/_device_probes.py            what training scripts use
"""

from __future__ import annotations

from collections.abc import Iterator

from torchgen_lite.analysis.policy import Policy
from torchgen_lite.analysis.program import Program
from torchgen_lite.diagnostics import Diagnostic
from torchgen_lite.languages.python.torch_library import DEVICES
from torchgen_lite.languages.text import quote
from torchgen_lite.loader.config import locate_value
from torchgen_lite.targets.device_tests.options import TARGET, DeviceTestsOptions
from torchgen_lite.targets.output import OutputFile, Selection, TargetResult
from torchgen_lite.targets.skipped import select


def build_device_tests(program: Program, options: DeviceTestsOptions) -> TargetResult:
    """A file of tests for each device that has kernels, and what the tests share."""
    selection = select(program, Policy(TARGET), options.skip, lambda function: "")
    tests = list(_tests(selection, options))
    if not tests:
        message = f"no operator has a kernel under a key with a device: {', '.join(DEVICES)}"
        place = locate_value(program.config, "", "targets", TARGET)
        return TargetResult(diagnostics=(Diagnostic("TG510", message, place),))
    return TargetResult((*tests, *_shared(options)), selection.diagnostics)


def _tests(selection: Selection, options: DeviceTestsOptions) -> Iterator[OutputFile]:
    refused = [(quote(name), quote(text)) for name, text in options.refused.items()]
    for key, device in DEVICES.items():
        kernels = [
            (operator.name, operator.function.dtypes or options.dtypes)
            for operator in selection.operators
            if any(kernel.key == key for kernel in operator.own_kernels)
        ]
        if kernels:
            said = {"package": options.package, "device": device, "refused": refused}
            path, context = f"{options.folder}/test_device_{device}.py", {
                **said,
                "kernels": kernels,
            }
            yield OutputFile(path, "device_tests/test_device.py.j2", context)


def _shared(options: DeviceTestsOptions) -> Iterator[OutputFile]:
    yield OutputFile(f"{options.folder}/_device_probes.py", "device_tests/probes.py.j2")
    copied = "copied/device_tests/_device_tests.py"
    yield OutputFile(f"{options.folder}/_device_tests.py", copied)
