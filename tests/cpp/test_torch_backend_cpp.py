"""examples/torch_backend_cpp: a device in C++, built and tested; `coverage` of it is what the live dispatcher says."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests import live_tables
from tests.conftest import ROOT, Result
from tests.cpp import torch_ops
from tests.cpp.compiling import needs_compiler
from tests.forks import COMPILING, run_forked
from tests.installed import todays_torchgen
from torchgen_lite_tools.backends.verdicts import Verdict

EXAMPLE = ROOT / "examples" / "torch_backend_cpp"

# What the slot of a table says, and the verdicts that it may come to.
WORDS = {
    "[kernel]": {"own"},
    "[math kernel]": {"composite", "nothing"},
    "[default backend kernel]": {"composite", "through", "fallback", "nothing"},
    "[backend fallback]": {"fallback", "nothing", "wrong"},
}
LIVE = """
import json, sim, torch

torch.randn(3, device="sim").exp().softmax(0)
tables = {}
for name in torch._C._dispatch_get_all_op_names():
    lines = torch._C._dispatch_dump_table(name).splitlines()
    tables[name] = next((line for line in lines if line.startswith("PrivateUse1: ")), "")
print(json.dumps([tables, sim.fell_back()]))
"""


def generated_tests(built: Path, folder: str) -> dict[str, str]:
    """How each test of a folder ends."""
    report = built / "report.xml"
    options = ("-q", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", ".")
    command = ["-m", "pytest", *options, f"--junitxml={report}", folder]
    run_forked(command, built, os.environ, COMPILING)
    ends = {"failure": "failed", "error": "failed", "skipped": "skipped"}
    return {
        str(case.get("name")): ends[case[0].tag] if len(case) else "passed"
        for case in ElementTree.parse(report).iter("testcase")
    }


def test_the_template_starts_it(
    run: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The project is in the repository twice: in the words of the example, and as what `init` copies."""
    monkeypatch.chdir(tmp_path)
    assert run("init", "--template", "torch-backend-cpp", "sim").code == 0
    started = [path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file()]
    assert len(started) == 10
    for path in started:
        text = (tmp_path / path).read_text()
        # What an editor needs is the author's: the JSON Schema, and the line that names it.
        if path.name != "ops.schema.json":
            text = text.removeprefix("# yaml-language-server: $schema=ops.schema.json\n")
            assert (EXAMPLE / path).read_text() == text, path


def test_little_is_written_by_hand() -> None:
    lines = [line.strip() for line in (EXAMPLE / "csrc" / "device.cpp").read_text().splitlines()]
    assert len([line for line in lines if line and not line.startswith("//")]) < 100


@pytest.mark.torch
@todays_torchgen
def test_the_generated_files_are_fresh(
    run: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(EXAMPLE)
    result = run("check")
    assert result.code == 0, result.stderr
    assert run("lint", "--deny-warnings").code == 0
    assert run("kernels", "--missing", "csrc/device.cpp").stderr == "Nothing is missing.\n"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the example with its library."""
    folder = torch_ops.copy_example(tmp_path_factory.mktemp("backend"), EXAMPLE)
    torch_ops.configure(folder, *torch_ops.GENERATOR)
    torch_ops.run(folder, "cmake", "--build", "build", "-j", "2")
    return folder


@pytest.fixture(scope="module")
def answer(built: Path) -> Callable[..., Any]:
    """The JSON that a program of Python prints where the device can be imported."""

    @cache
    def ask(*arguments: str) -> Any:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(built), str(ROOT)))}
        done = run_forked(arguments, built, environment)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return ask


def coverage(answer: Callable[..., Any], *options: str) -> dict[str, tuple[str, str]]:
    """The verdict of each operator, and by what it is served."""
    command = ("-m", "torchgen_lite", "coverage", "--key", "PrivateUse1", "--output-format", "json")
    found = answer(*command, *options)["operators"]
    return {one["name"]: (one["verdict"], one["by"]) for one in found}


@pytest.mark.torch
@needs_compiler
@torch_ops.needs_cmake
class TestBuilt:
    def test_its_own_tests(self, built: Path) -> None:
        options = ("-q", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", ".")
        command = ("-m", "pytest", *options, "tests")
        assert "19 passed" in torch_ops.run_python(built, *command, imported=COMPILING)

    def test_the_generated_tests(self, built: Path) -> None:
        """They pass but for what the configuration refuses, and reach the kernels that compute."""
        ends = generated_tests(built, "generated/device-tests")
        assert {end for end in ends.values() if end != "passed"} <= {"skipped"}
        assert sum(end == "passed" for end in ends.values()) > 130
        for name in ("add_out", "mm_out", "relu", "convolution_overrideable", "view", "_copy_from"):
            assert ends[f"test_forward_{name}_sim_float32"] == "passed"
        assert ends["test_gradcheck_convolution_backward_overrideable_sim_float64"] == "passed"

    def test_the_generated_tests_find_wrong_kernels(self, built: Path) -> None:
        """Each mistake in wrong_kernels.py by one kind of test; what else runs these kernels passes."""
        folder, copied = built / "wrong", "_device_tests.py"
        folder.mkdir()
        shutil.copy(built / "generated" / "device-tests" / copied, folder)
        # The device's own file has no samples. This template has nothing to fill in.
        template = (ROOT / "templates" / "device_tests" / "samples.py.j2").read_text()
        (folder / "_device_samples.py").write_text(template.partition("-#}\n")[2])
        shutil.copy(Path(__file__).with_name("wrong_kernels.py"), folder / "test_wrong.py")
        ends = generated_tests(built, "wrong")
        assert {name for name, end in ends.items() if end == "failed"} == {
            "test_backward_sigmoid_backward_sim_float32",
            "test_forward_view_sim_float32",
            "test_noncontiguous_relu_sim_float32",
            "test_samples_relu_sim_float32",
            "test_writing_sim",
        }
        right = "forward_relu_sim_float32", "samples_view_sim_float32", "reading_sim"
        assert {ends[f"test_{name}"] for name in right} == {"passed"}

    def test_coverage_is_what_the_live_dispatcher_says(self, answer: Callable[..., Any]) -> None:
        live, fell_back = answer("-c", LIVE)
        found = coverage(answer, "--import", "sim")
        assert len(found) > 3000
        assert {verdict for verdict, _ in found.values()} == {verdict.name for verdict in Verdict}
        different = []
        for name, (verdict, by) in found.items():
            cell = live[name]
            word = cell[cell.rfind("[") :]
            # A kernel that PyTorch makes of another operator ends where a call of that ends, and a copy of a view that
            # the fallback refuses to make fails.
            possible = {verdict}
            if by in found:
                called = found[by][0]
                possible = {"own": {"through"}, "wrong": {"wrong", "nothing"}}.get(called, {called})
            if verdict not in WORDS[word] or verdict not in possible:
                different.append((name, verdict, by, cell))
        assert different == []
        assert fell_back.keys() >= {"aten::exp.out", "aten::_softmax.out", "aten::normal_"}
        assert {found[name][0] for name in fell_back} == {"fallback"}

    def test_coverage_is_what_happens(self, answer: Callable[..., Any]) -> None:
        """A part of what `tests/conformance/happened.py` does by hand with every sample of PyTorch."""
        chosen = ("cat", "nn.functional.embedding", "softmax", "sparse", "to_sparse", "view")
        options = [option for name in chosen for option in ("--only", name)]
        ends = answer("-m", "tests.conformance.happened", "sim", "--samples", "1", *options)
        found = coverage(answer, "--import", "sim")
        failing = {"nothing", "wrong"}
        different = []
        for name, end in ends.items():
            verdict, by = found.get(name, ("", ""))
            # An operator of another namespace has no verdict, and what was not called has no end.
            if verdict and end != "refused" and (end != "ran") != (verdict in failing):
                different.append((name, end, verdict, by))
        assert different == []
        assert set(ends.values()) >= {"ran", "raised"} and len(ends) > 100

    def test_it_computes_what_the_cpu_computes(self, built: Path) -> None:
        """A part of what `tests/conformance/opinfos.py` does by hand for all operators."""
        command = ("-m", "tests.conformance.opinfos", "sim")
        chosen = ("conj", "fft.h", "linalg.pinv", "native_batch_norm", "normal", "real", "svd")
        options = [option for name in chosen for option in ("--only", name)]
        path = os.pathsep.join((str(built), str(ROOT)))
        said = torch_ops.run_python(built, *command, *options, imported=COMPILING, PYTHONPATH=path)
        assert len(said.splitlines()) == 2, said

    @todays_torchgen
    def test_every_cell_is_known_before_the_library_is_built(self, built: Path) -> None:
        fallbacks = "PrivateUse1", "AutocastPrivateUse1"
        arguments = (live_tables.SAID, *fallbacks), (live_tables.LIVE, "sim")
        said, live = (torch_ops.run_python(built, "-c", *one) for one in arguments)
        wrong, alike = live_tables.wrong_cells(said, live)
        # A kernel that `device::install` registers, in C++, which nothing reads.
        assert [one[:2] for one in wrong] == [("aten::binary_cross_entropy", "AutocastPrivateUse1")]
        assert alike > 300_000

    @todays_torchgen
    def test_coverage_of_the_yaml_lacks_the_fallback_alone(
        self, answer: Callable[..., Any]
    ) -> None:
        loaded = coverage(answer, "--import", "sim")
        written, told = coverage(answer), coverage(answer, "--fallback")
        # autocast.yaml names these, so they are registered beside their out variants, and a loaded library does not
        # say from which variant a kernel is derived.
        derived = {"aten::mm", "aten::sum.dim_IntList"}
        assert {loaded[name][0] for name in derived} == {"own"}
        assert {told[name][0] for name in derived} == {"through"}
        # Nor that a kernel is the fallback for one operator.
        on_cpu = "aten::native_group_norm"
        assert (loaded[on_cpu][0], told[on_cpu][0]) == ("own", "fallback")
        by_itself = {on_cpu, f"{on_cpu}.out"}
        known = told.keys() - derived - by_itself
        assert {name: told[name][0] for name in known} == {name: loaded[name][0] for name in known}
        lacking = {name for name, (verdict, _) in written.items() if verdict != told[name][0]}
        fallen = {name for name, (verdict, _) in told.items() if verdict in ("fallback", "wrong")}
        assert lacking == fallen - by_itself
        assert {written[name][0] for name in lacking} == {"nothing"}
