"""Which kernels are tested, in which dtypes, and with which inputs beside PyTorch's.

device-tests/test_device_privateuse1.py   the list of kernels and dtypes, samples, and the tests that are refused
device-tests/_device_tests.py             a copy of copied/device_tests: what makes tests of the list
device-tests/_device_samples.py           what makes tests of samples, if entries have any
device-tests/_device_probes.py            what training scripts use
"""

from __future__ import annotations

from torchgen_lite.analysis.kernels import DEVICES
from torchgen_lite.analysis.program import Program
from torchgen_lite.diagnostics import Diagnostic
from torchgen_lite.languages.text import quote
from torchgen_lite.loader.config.project import locate_value
from torchgen_lite.loader.entry.entry import NativeFunction
from torchgen_lite.targets.device_tests.options import TARGET, DeviceTestsOptions
from torchgen_lite.targets.generation import generation_beside
from torchgen_lite.targets.output import Files, OutputFile, TargetResult


def build_device_tests(program: Program, options: DeviceTestsOptions) -> TargetResult:
    """A file of tests for each device that has kernels, and what the tests share."""
    tests = list(_tests(program, options))
    if not tests:
        message = f"no operator has a kernel under a key with a device: {', '.join(DEVICES)}"
        place = locate_value(program.config, "", "targets", TARGET)
        return TargetResult(diagnostics=(Diagnostic("TG510", message, place),))
    parts = ["probes"]
    if any(test.context["samples"] for test in tests):
        parts.append("samples")
    for part in parts:
        path = f"{options.folder}/_device_{part}.py"
        tests.append(OutputFile(path, f"device_tests/{part}.py.j2"))
    path = f"{options.folder}/_device_tests.py"
    source = "copied/device_tests/_device_tests.py"
    return TargetResult((*tests, OutputFile(path, source)))


def _tests(program: Program, options: DeviceTestsOptions) -> Files:
    refused = [(quote(name), quote(text)) for name, text in options.refused.items()]
    left_out = generation_beside(program).shown.refused
    for key, device in DEVICES.items():
        kernels = []
        samples = []
        for name, operator in program.resolved.declared_by_name.items():
            function = operator.function
            if name in left_out or key not in [kernel.key for kernel in operator.own_kernels]:
                continue
            kernels.append((name, _dtypes(function) or options.dtypes))
            # The modules of functions that a reference may name are known to `torch-python`.
            if function.samples and not function.reference_function:
                samples.append((name, function.func, function.samples))
        if kernels:
            path = f"{options.folder}/test_device_{device}.py"
            context = {"package": options.package, "device": device, "refused": refused}
            of_device = {"kernels": kernels, "samples": samples}
            yield OutputFile(path, "device_tests/test_device.py.j2", {**context, **of_device})


def _dtypes(function: NativeFunction) -> tuple[str, ...]:
    """Those that the entry claims, and those of its samples."""
    of_samples = function.samples.dtypes if function.samples is not None else ()
    return tuple(dict.fromkeys((*function.dtypes, *of_samples)))
