"""Generated files have no path of the machine, wherever the schema file and the functions are."""

from __future__ import annotations

from collections import Counter
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


# Names of devices on Windows, which no file may have, whatever its ending.
DEVICES = {"con", "prn", "aux", "nul", *(f"{d}{n}" for d in ("com", "lpt") for n in range(10))}
ALIKE = """
    lib::add_t lib::add_T lib::ADD_T lib::add_t.out lib::add_t.Out Lib::add_t LIB::Add_t
    lib::con lib::NUL lib::aux.out lib::com1 con::f Nul::f lib::index lib::README
    """.split()


def test_files_are_apart_on_each_disk(tmp_path: Path) -> None:
    """Disks of macOS and Windows ignore case, and Windows has devices in each folder."""
    entries = [
        f"- func: {name}(Tensor x) -> Tensor\n  dispatch: {{CPU: f{i}}}\n"
        for i, name in enumerate(ALIKE)
    ]
    (tmp_path / "ops.yaml").write_text("".join(entries))
    (tmp_path / "kernels.py").write_text("".join(f"def f{i}(x): ...\n" for i in range(len(ALIKE))))
    for ending in ("markdown", "html"):
        config = CONFIG.replace("../", "").replace('[".."]', '["."]')
        config = config.replace("[target.docs]", f'[target.docs]\nformat = "{ending}"')
        (tmp_path / "torchgen_lite.toml").write_text(config)
        program = load(root=tmp_path)
        for target in program.config.targets:
            files = generate(program, targets=[target])
            parts = [path.casefold().split("/") for path in files]
            devices = [path for path in parts if {p.split(".")[0] for p in path} & DEVICES]
            folded = Counter("/".join(path) for path in parts)
            assert devices == [], target
            assert [path for path, times in folded.items() if times > 1] == [], target
