"""The text of `doc:` reaches docstrings, stubs and C++ headers of every target, in their usual layout.

For every field, tests/hostile tests that its text cannot end the comment around it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from torchgen_lite import Program, load
from torchgen_lite.loader.config.project import Config
from torchgen_lite.pipeline import generate_all
from torchgen_lite.targets import TARGETS

OPS = """\
- func: my::twice(Tensor self, *, int by=2) -> Tensor
  variants: function, method
  doc: |
    Both "halves".

    The shape stays,
      the dtype, too\\
- func: my::twice.out(Tensor self, *, int by=2, Tensor(a!) out) -> Tensor(a!)
- func: my::last.one(Tensor self) -> Tensor
  doc: ' Says \\ "so" '
  variants: method
"""
PYTHON = '''\
    Both "halves".

    The shape stays,
      the dtype, too\\\\
    """
'''
CPP = """\
/// Both "halves".
///
/// The shape stays,
///   the dtype, too\\x5c
"""
INDENTED = "".join(f"  {line}\n" for line in CPP.splitlines())
SAYS = {
    ("python", "operators.py"): (
        f'    """my::twice(Tensor self, *, int by=2) -> Tensor\n\n{PYTHON}    kernel: ',
    ),
    ("python", "functions.pyi"): (f') -> Tensor:\n    """{PYTHON.lstrip()}',),
    ("python", "methods.pyi"): (
        'def last(self) -> Tensor:\n        """Says \\\\ \\"so\\" """\n',
        'the dtype, too\\\\\n        """\n\n    def last',
    ),
    ("torch-python", "functions.py"): (
        f') -> Tensor:\n    """{PYTHON.lstrip()}    return _op_twice(',
        '"""my::twice.out(Tensor self, *, int by=2, Tensor(a!) out) -> Tensor(a!)"""',
    ),
    ("torch-stubs", "my.pyi"): (
        f'    """my::twice(Tensor self, *, int by=2) -> Tensor\n\n{PYTHON}\n    def __call__',
        '    """my::last.one(Tensor self) -> Tensor\n\n    Says \\\\ "so"\n    """\n',
    ),
    ("cpp-torch", "functions.h"): (f"-> Tensor\n///\n{CPP}inline at::Tensor twice(",),
    ("cpp-torch", "methods.h"): (f"{INDENTED}  at::Tensor twice(",),
    ("cpp-torch-stable", "functions.h"): (f"-> Tensor\n///\n{CPP}inline ",),
    ("cpp-runtime", "functions.h"): (f"-> Tensor\n///\n{CPP}inline ",),
    ("cpp-runtime", "methods.h"): (f"{INDENTED}  Self twice(", '  /// Says \\ "so"\n'),
}
OPTIONS = {"cpp-runtime": {"tensor": "toy::Tensor"}, "torch-python": {"defines": True}}


def program(folder: Path, yaml: str) -> Program:
    (folder / "native_functions.yaml").write_text(yaml)
    return load(config=Config(folder, target_options=OPTIONS))


def generated(found: Program, target: str) -> dict[str, str]:
    result = generate_all(found, targets=[target])
    assert not [d for d in result.diagnostics if d.severity == "error"]
    return dict(result.files)


# Tests of a device have kernels, and say nothing of operators.
@pytest.mark.parametrize(
    "target", [name for name in TARGETS if name not in ("command", "device-tests")]
)
def test_every_target_says_it(tmp_path: Path, target: str) -> None:
    files = generated(program(tmp_path, OPS), target)
    for (owner, name), texts in SAYS.items():
        if owner == target:
            text = next(text for path, text in files.items() if path.endswith(f"/{name}"))
            for said in texts:
                assert said in text, f"{said}\n--- is not in {name}:\n{text}"
            if name.endswith((".py", ".pyi")):
                compile(text, name, "exec")
