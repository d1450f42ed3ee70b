"""A kernel declared for a key replaces the kernel that would be generated for it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.registered_text import found_in
from torchgen_lite import load
from torchgen_lite.analysis.policy import Origin
from torchgen_lite.loader.config.project import Config
from torchgen_lite.pipeline import generate_all
from torchgen_lite.targets import TARGETS

# `@` stands for the kernel that the test adds.
FORMULAS = """\
- func: my::f(Tensor x) -> Tensor
  dispatch: {CPU: k@}
  derivatives: {x: grad}
"""
WRITES = """\
- func: my::f_(Tensor(a!) x) -> Tensor(a!)
  dispatch: {CPU: k@}
- func: my::f(Tensor x) -> Tensor
  dispatch: {CPU: k}
  derivatives: {x: grad}
"""
SELECTS = """\
- func: my::f(*, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor
  dispatch: {CPU: k@}
"""
RETURNS_SELF = """\
- func: my::f_(Tensor(a!) x) -> Tensor(a!)
  dispatch: {CPU: k@}
"""
VIEW = """\
- func: my::f(Tensor(a) x) -> Tensor(a)
  dispatch: {CPU: k@}
  fake:
    view: x
"""
VMAP = """\
- func: my::f(Tensor x) -> Tensor
  dispatch: {CPU: k@}
  vmap: k
"""
CASTS = """\
- func: my::f(Tensor x) -> Tensor
  dispatch: {CPU: k@}
  autocast: float32
"""
STRUCTURED = """\
- func: my::f(Tensor x) -> Tensor
  structured_delegate: my::f.out
- func: my::f.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)
  structured: true
  dispatch: {CPU: k_f@}
"""
CASES = [
    ("python", "Autograd", FORMULAS, Origin.autograd),
    ("python", "ADInplaceOrView", WRITES, Origin.raises_versions),
    ("python", "BackendSelect", SELECTS, Origin.backend_select),
    ("python", "Meta", STRUCTURED, Origin.meta),
    ("cpp-torch", "Autograd", FORMULAS, Origin.autograd),
    ("cpp-torch", "ADInplaceOrView", WRITES, Origin.raises_versions),
    ("cpp-torch", "BackendSelect", SELECTS, Origin.backend_select),
    ("cpp-torch", "Meta", STRUCTURED, Origin.meta),
    ("cpp-torch", "Functionalize", WRITES, Origin.functionalize),
    ("torch-python", "Autograd", FORMULAS, Origin.formulas),
    ("torch-python", "Autograd", VIEW, Origin.traced_view),
    ("torch-python", "Functionalize", VIEW, Origin.traced_view),
    ("torch-python", "Functionalize", WRITES, Origin.functionalize),
    ("torch-python", "Meta", RETURNS_SELF, Origin.fake),
    ("torch-python", "FuncTorchBatched", VMAP, Origin.vmap),
    ("cpp-torch", "AutocastCPU", CASTS, Origin.autocast),
    ("torch-python", "AutocastCPU", CASTS, Origin.autocast),
]


@pytest.mark.parametrize(
    ("target", "key", "entries", "origin"),
    [pytest.param(*case, id=f"{case[0]}-{case[1]}-{case[3].name}") for case in CASES],
)
def test_it_is_registered_once(
    tmp_path: Path, target: str, key: str, entries: str, origin: Origin
) -> None:
    (tmp_path / "modules.py").write_text(
        "".join(
            f"def {name}(*a, **b): ...\n"
            for name in ("k", "k_f", "k_g", "by_hand", "meta_f", "meta_g", "meta_my_f", "meta_my_g")
        )
    )
    name = "my::f.out" if entries is STRUCTURED else entries.split("(")[0].split()[-1]
    origins = []
    for more in ("", f", {key}: by_hand"):
        # Another operator of the same kind always has the generated kernel.
        other = entries.replace("my::f", "my::g").replace("k_f", "k_g").replace("@", "")
        (tmp_path / "ops.yaml").write_text(entries.replace("@", more) + other)
        options: dict[str, object] = {}
        if "python" in target:
            options = {"kernels": ["modules"]}
        if target == "torch-python":
            options["fakes"] = ["modules"]
        if target == "python":
            options["framework"] = "torchgen_lite_reference.framework"
        config = Config(tmp_path, schema=("ops.yaml",), target_options={target: options})
        program = load(config=config, root=tmp_path)
        found = TARGETS[target].select(program).registrations(program)
        origins += [one.origin for one in found if (one.operator.name, one.key) == (name, key)]
        generated = generate_all(program, targets=[target])
        assert generated.files, [str(d) for d in generated.diagnostics]
        assert Counter(found_in(target, generated.files))[name, key] == 1
    assert origins == [origin, Origin.structured if entries is STRUCTURED else Origin.written]
