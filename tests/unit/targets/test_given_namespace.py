"""What does not go together with a namespace that the build gives is refused by name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from torchgen_lite import load
from torchgen_lite.pipeline import GenerateError, generate

ENTRY = """\
- func: hub::relu(Tensor x) -> Tensor
  dispatch: {CPU: relu}
  fake: {like: x}
"""
CPP = 'targets = ["cpp-torch"]\n[target.cpp-torch]\nnamespace-macro = "HUB_NAMESPACE"\n'
STABLE = CPP.replace("cpp-torch", "cpp-torch-stable")
PYTHON = 'targets = ["torch-python"]\n[target.torch-python]\nnamespace-module = "._ops"\n'


def _messages(folder: Path, config: str, entries: str = ENTRY) -> list[str]:
    (folder / "ops.yaml").write_text(entries)
    (folder / "torchgen_lite.toml").write_text(f'schema = ["ops.yaml"]\n{config}')
    (folder / "kernels.py").write_text("def relu(x):\n    return x.relu()\n")
    try:
        generate(load(root=folder))
    except GenerateError as error:
        errors = [one for one in error.diagnostics if one.severity == "error"]
        return [f"{one.code} {one.message}" for one in errors]
    return []


@pytest.mark.parametrize("config", [CPP, STABLE, PYTHON])
def test_operators_of_two_namespaces(tmp_path: Path, config: str) -> None:
    entries = ENTRY + ENTRY.replace("hub", "others")
    assert _messages(tmp_path, config) == []
    assert _messages(tmp_path, config, entries) == [
        "TG545 `others::relu` keeps its namespace: the build gives that of `hub` alone"
    ]


@pytest.mark.parametrize("config", [CPP, PYTHON])
def test_operators_of_pytorch_alone(tmp_path: Path, config: str) -> None:
    option = "namespace-macro" if config is CPP else "namespace-module"
    entries = "- func: relu(Tensor self) -> Tensor\n  dispatch: {CPU: relu}\n"
    message = f"TG510 `{option}` gives a namespace to no operator: all are PyTorch's"
    assert message in _messages(tmp_path, config, entries)


def test_a_reference_that_names_an_operator(tmp_path: Path) -> None:
    samples = "  samples: {calls: [(randn(3))], reference: torch.ops.hub.relu(x) * 2}\n"
    [message] = _messages(tmp_path, PYTHON, ENTRY + samples)
    assert message == (
        "TG545 the reference of `hub::relu` calls `torch.ops.hub.relu`, whose namespace the build gives"
    )
    others = samples.replace("hub", "aten")
    assert _messages(tmp_path, PYTHON, ENTRY + others) == []


def test_one_module_of_all_builds(tmp_path: Path) -> None:
    [message] = _messages(tmp_path, f'{CPP}python-module = "hub_ops"\n')
    assert (
        message
        == "TG510 `python-module` names one module, and each build of `namespace-macro` has another"
    )
    [message] = _messages(tmp_path, f'{PYTHON}kernels = ["kernels"]\n')
    assert (
        message
        == "TG510 module `kernels` is not in the package of `hub_ops`: all builds would share it"
    )


@pytest.mark.parametrize(
    "macro",
    [
        "hub::ops",
        "HUB",
        "assert",
        "and",
        "EOF",
        "_NAME",
        "__FILE__",
        "hub_NAME",
        "TORCHGEN_LITE_NAMESPACE",
    ],
)
def test_a_macro_has_a_name_that_no_header_defines(tmp_path: Path, macro: str) -> None:
    [message] = _messages(tmp_path, CPP.replace("HUB_NAMESPACE", macro))
    assert "is not a macro for a namespace" in message


@pytest.mark.parametrize(
    "config", [CPP, f"{CPP}calls-only = true\n", STABLE, f'{CPP}library = "fragment"\nshards = 2\n']
)
def test_what_is_included_is_there(tmp_path: Path, config: str) -> None:
    """Each header of the library that a file includes is one of its files, and macros of `namespace.h` are defined there."""
    files = _files(tmp_path, config)
    own = {
        path.partition("/include/")[2]: text for path, text in files.items() if "/include/" in path
    }
    for path, text in files.items():
        included = set(re.findall("#include <(hub/.*)>", text))
        assert included <= own.keys(), path
        used = set(re.findall(r"TORCHGEN_LITE_(?:\w*TORCH_LIBRARY\w*|TEXT|BUILD|INIT)\b", text))
        assert used <= set(re.findall(r"#define (TORCHGEN_LITE_\w+)", own["hub/namespace.h"])), path


def _files(folder: Path, config: str) -> dict[str, str]:
    (folder / "ops.yaml").write_text(ENTRY)
    (folder / "torchgen_lite.toml").write_text(f'schema = ["ops.yaml"]\n{config}')
    return generate(load(root=folder))
