"""Which kernels are tested, in which dtypes.

device-tests/test_device_privateuse1.py   the list of kernels and dtypes, and the tests that are refused
device-tests/_device_tests.py             a copy of copied/device_tests: what makes tests of the list
device-tests/_device_probes.py            what training scripts use
"""

from __future__ import annotations

from collections.abc import Iterator

from torchgen_lite.analysis.program import Program
from torchgen_lite.diagnostics import Diagnostic
from torchgen_lite.languages.python.torch_library import DEVICES
from torchgen_lite.languages.text import quote
from torchgen_lite.loader.config import locate_value
from torchgen_lite.targets.device_tests.options import TARGET, DeviceTestsOptions
from torchgen_lite.targets.output import OutputFile, TargetResult


def build_device_tests(program: Program, options: DeviceTestsOptions) -> TargetResult:
    """A file of tests for each device that has kernels, and what the tests share."""
    tests = list(_tests(program, options))
    if not tests:
        message = f"no operator has a kernel under a key with a device: {', '.join(DEVICES)}"
        place = locate_value(program.config, "", "targets", TARGET)
        return TargetResult(diagnostics=(Diagnostic("TG510", message, place),))
    probes = OutputFile(f"{options.folder}/_device_probes.py", "device_tests/probes.py.j2")
    path, source = f"{options.folder}/_device_tests.py", "copied/device_tests/_device_tests.py"
    return TargetResult((*tests, probes, OutputFile(path, source)))


def _tests(program: Program, options: DeviceTestsOptions) -> Iterator[OutputFile]:
    refused = [(quote(name), quote(text)) for name, text in options.refused.items()]
    for key, device in DEVICES.items():
        context = {"package": options.package, "device": device, "refused": refused}
        kernels = [
            (name, operator.function.dtypes or options.dtypes)
            for name, operator in program.resolved.declared_by_name.items()
            if any(kernel.key == key for kernel in operator.own_kernels)
        ]
        if kernels:
            path, own = f"{options.folder}/test_device_{device}.py", {"kernels": kernels}
            yield OutputFile(path, "device_tests/test_device.py.j2", {**context, **own})
