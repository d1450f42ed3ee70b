"""What a kernel is written in: which compilers look into it, what is said without its package, and what is refused."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Result
from tests.torch_python.generated import run_program, write_package
from torchgen_lite import load, pipeline
from torchgen_lite.analysis.checks.compiled import language_of, looked_into
from torchgen_lite.loader.entry.kernel_languages import KERNEL_LANGUAGES, TRITON

CONFIG = """\
schema = ["ops.yaml"]
targets = ["torch-python"]
[target.torch-python]
kernels = ["kern"]
"""
# Every kernel is in a module of its own, which imports what its language needs.
MODULES = "".join(f', "in_{language}"' for language in KERNEL_LANGUAGES)


def _project(root: Path, dispatch: str, config: str = CONFIG) -> Path:
    entry = f"- func: my::f(Tensor x) -> Tensor\n  fake: {{like: x}}\n  dispatch: {dispatch}\n"
    (root / "ops.yaml").write_text(entry)
    (root / "torchgen_lite.toml").write_text(config)
    (root / "kern.py").write_text("def one(x):\n    return x.sin()\n\n\ntwo = one\n")
    for name, language in KERNEL_LANGUAGES.items():
        text = f"import {language.module}\n\n\ndef {name}_kernel(x):\n    return x\n"
        (root / f"in_{name}.py").write_text(text)
    return root


def _messages(root: Path) -> list[str]:
    program = load(root=root)
    every = [*program.diagnostics, *pipeline.generate_all(program).diagnostics]
    return [*dict.fromkeys(f"{d.code} {d.message}" for d in every if d.severity == "error")]


@pytest.mark.parametrize("language", KERNEL_LANGUAGES)
@pytest.mark.parametrize("key", ["CPU", "CUDA", "SparseCUDA", "Meta", "CompositeExplicitAutograd"])
def test_a_language_is_for_its_devices(language: str, key: str, tmp_path: Path) -> None:
    _project(tmp_path, f"{{{key}: {{kernel: one, language: {language}}}}}")
    title = KERNEL_LANGUAGES[language].title
    runs = language in ("helion", "numba", "pallas", "triton") if key == "CPU" else key != "Meta"
    wrong = [] if runs else [f"TG393 `one` is in {title}, which does not run for `{key}`"]
    assert [d for d in _messages(tmp_path) if "is in" in d] == wrong


@pytest.mark.parametrize("language", KERNEL_LANGUAGES)
@pytest.mark.parametrize("key", ["CompositeImplicitAutograd", "AutogradCUDA"])
def test_only_triton_is_for_what_compilers_trace(language: str, key: str, tmp_path: Path) -> None:
    _project(tmp_path, f"{{{key}: {{kernel: one, language: {language}}}}}")
    title = KERNEL_LANGUAGES[language].title
    message = f"TG393 `one` is in {title}, and compilers run kernels for `{key}` on tensors without memory"
    assert (message in _messages(tmp_path)) == (language != TRITON)


@pytest.mark.parametrize(
    ("target", "dispatch", "message"),
    [
        (
            "torch-python",
            "{CPU: {kernel: one, language: trtion}}",
            "TG392 unknown language `trtion` of a kernel",
        ),
        (
            "torch-python",
            "{CPU: {kernel: one, language: [numba]}}",
            "TG106 `language` takes the name of a language, not a list",
        ),
        (
            "torch-python",
            "{CPU: {kernel: one, language: numba}}\n  triton: CPU",
            "TG387 `triton` names `CPU`, and compilers see nothing of `one`, which is in Numba",
        ),
        (
            "cpp-torch",
            "{CPU: {kernel: one, language: numba}}",
            "TG515 target `cpp-torch` knows no `language` of kernels",
        ),
        (
            "python",
            "{CPU: {kernel: one, language: numba}}",
            "TG515 target `python` knows no `language` of kernels",
        ),
    ],
)
def test_what_is_refused(target: str, dispatch: str, message: str, tmp_path: Path) -> None:
    config = CONFIG.replace("torch-python", target)
    if target == "cpp-torch":
        config = config.replace('kernels = ["kern"]\n', "")
    _project(tmp_path, dispatch, config)
    assert message in _messages(tmp_path)


@pytest.mark.parametrize(
    ("dispatch", "seen"),
    [
        ("{CPU: {kernel: one, language: triton}}", {"CPU"}),
        (
            "{CPU: [{when: x.dim() == 1, kernel: one, language: triton}, {kernel: two, language: triton}]}",
            {"CPU"},
        ),
        # Nobody says what the other one is, or it is opaque.
        ("{CPU: [{when: x.dim() == 1, kernel: one, language: triton}, two]}", set[str]()),
        (
            "{CPU: [{when: x.dim() == 1, kernel: one, language: triton}, {kernel: two, language: numba}]}",
            set[str](),
        ),
        (
            "{CPU: [{when: x.dim() == 1, kernel: one, language: triton}, two]}\n  triton: CPU",
            {"CPU"},
        ),
        ("{CPU: {kernel: one, language: triton}}\n  effects: ordered", set[str]()),
        ("{CompositeImplicitAutograd: {kernel: one, language: triton}}", set[str]()),
    ],
)
def test_compilers_look_into_keys_whose_kernels_are_in_triton(
    dispatch: str, seen: set[str], tmp_path: Path
) -> None:
    _project(tmp_path, dispatch)
    program = load(root=tmp_path)
    operator = program.resolved.by_name["my::f"]
    assert looked_into(operator) == seen
    [entry] = operator.function.dispatch
    is_seen = seen or entry.key == "CompositeImplicitAutograd"
    said = {
        "Triton" if is_seen else "Triton, opaque to compilers",
        "Numba, opaque to compilers",
        "",
    }
    assert {language_of(operator, entry.key, row) for row in entry.rows} <= said


def test_the_rows_say_what_they_are_in(
    tmp_path: Path, run: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = "[{when: x.dim() == 1, kernel: one, language: numba, tune: [n=1, n=2]}, two]"
    _project(tmp_path, f"{{CPU: {rows}, CUDA: {{kernel: one, language: triton}}}}")
    monkeypatch.chdir(tmp_path)
    assert (
        "    one (Numba, opaque to compilers)  x.dim() == 1\n" in run("why", "my::f", "CPU").stdout
    )
    said = run("why", "my::f", "CPU", "--input", "float[2]").stdout
    assert "    yes  one (Numba, opaque to compilers)  x.dim() == 1\n" in said
    assert "kernel: one\n" in run("why", "my::f", "CUDA").stdout
    data = json.loads(run("why", "my::f", "CUDA", "--output-format", "json").stdout)
    assert data["calls"][0]["rows"] == [
        {"kernel": "one", "condition": "otherwise", "language": "triton"}
    ]
    [exported] = json.loads(run("list", "ops", "--output-format", "json").stdout)["ops"]
    assert exported["dispatch"]["CPU"]["rows"] == [
        {
            "kernel": "one",
            "when": "x.dim() == 1",
            "tune": [{"n": 1}, {"n": 2}],
            "language": "numba",
            "opaque": True,
        },
        {"kernel": "two", "when": None, "tune": [], "language": None, "opaque": None},
    ]
    [of_cuda] = exported["dispatch"]["CUDA"]["rows"]
    assert (of_cuda["language"], of_cuda["opaque"]) == ("triton", False)


PROGRAM = """
import torch, my_ops
try:
    torch.ops.my.f(torch.ones(DIMENSIONS))
except Exception as error:
    print(error)
"""


@pytest.mark.torch
@pytest.mark.parametrize("language", KERNEL_LANGUAGES)
def test_a_package_that_is_not_installed_is_named(language: str, tmp_path: Path) -> None:
    """In a row, and as the only kernel; what else a module cannot import is said as it is."""
    known = KERNEL_LANGUAGES[language]
    kernel = f"{{kernel: {language}_kernel, language: {language}"
    _project(
        tmp_path,
        f"{{CompositeExplicitAutograd: [{kernel}, when: x.dim() == 1}}, {{kernel: one}}]}}",
        CONFIG.replace('"kern"', f'"kern"{MODULES}'),
    )
    write_package(tmp_path)
    module = tmp_path / f"in_{language}.py"
    root = known.module.partition(".")[0]
    # As if it were not installed, where it is.
    hidden = f"import sys\nsys.modules[{root!r}] = None\n"
    program = f"{hidden}{PROGRAM}"
    said = f"my::f for CompositeExplicitAutograd: module `in_{language}` can't be imported: "
    said += (
        f"it is written in {known.title}, which is not installed: `pip install {known.package}`\n"
    )
    assert run_program(tmp_path, program.replace("DIMENSIONS", "2")).endswith(said)
    assert run_program(tmp_path, program.replace("DIMENSIONS", "2, 2")) == ""
    module.write_text(f"import missing_here\n\n\ndef {language}_kernel(x): ...\n")
    # Python takes a file of the same size and second for the one that it has compiled.
    os.utime(module, (0, 0))
    said = f"module `in_{language}` can't be imported: No module named 'missing_here'\n"
    assert run_program(tmp_path, program.replace("DIMENSIONS", "2")).endswith(said)


COMPILED = """
import torch, my_ops
from functorch.compile import make_boxed_func
from torch._dynamo.backends.common import aot_autograd

def show(graph, given):
    print(*[str(node.target) for node in graph.graph.nodes if node.op == "call_function"])
    return make_boxed_func(graph.forward)

f = torch.compile(torch.ops.my.f, backend=aot_autograd(fw_compiler=show), fullgraph=True)
f(torch.ones(2))
"""


@pytest.mark.torch
@pytest.mark.parametrize(
    ("language", "called"), [("triton", "aten.sin.default"), ("numba", "my.f.default")]
)
def test_what_compilers_see(language: str, called: str, tmp_path: Path) -> None:
    _project(tmp_path, f"{{CPU: {{kernel: one, language: {language}}}}}")
    write_package(tmp_path)
    assert run_program(tmp_path, COMPILED).splitlines() == [called]
