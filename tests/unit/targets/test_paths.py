"""Generated files have no path of the machine, wherever the schema file and the functions are."""

from __future__ import annotations

from pathlib import Path

from torchgen_lite import generate, load

CONFIG = """\
schema = ["../ops.yaml"]
source-roots = [".."]
targets = ["python", "torch-python", "cpp-torch", "cpp-torch-stable", "cpp-runtime", "torch-stubs", "docs"]

[target.python]
kernels = ["kernels"]

[target.torch-python]
kernels = ["kernels"]
defines = true

[target.docs]
sources = "https://example.org/"

[target.cpp-runtime]
tensor = "toy::Tensor"
"""
ENTRY = """\
- func: mylib::f(Tensor x) -> Tensor
  doc: Does something.
  dispatch: {CPU: f}
  fake: {like: x}
  samples: [(ones(1))]
"""


def test_a_schema_outside_of_the_project(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (tmp_path / "ops.yaml").write_text(ENTRY)
    (tmp_path / "kernels.py").write_text("def f(x): ...\n")
    (project / "torchgen_lite.toml").write_text(CONFIG)
    files = generate(load(root=project))
    assert len(files) > 40
    assert [path for path, text in files.items() if tmp_path.name in text] == []
