"""Every target registers every declared kernel, or a diagnostic says why not.

`registrations()` lists exactly what the generated text registers.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tests.registered_text import registered
from torchgen_lite import generate, load
from torchgen_lite.analysis.kernels import own_kernels
from torchgen_lite.analysis.policy import WRITTEN
from torchgen_lite.analysis.program import Program, build_program
from torchgen_lite.analysis.registrations import registrations
from torchgen_lite.diagnostics import Source, has_errors
from torchgen_lite.loader.config.project import Config
from torchgen_lite.loader.formats.native_functions import load_native_functions
from torchgen_lite.loader.python.kernel_modules import index_kernel_modules
from torchgen_lite.pipeline import generate_all
from torchgen_lite.targets import TARGETS

# The variants of two operators; each has the out variant that a structured operator needs.
SCHEMAS = {
    "f": "f(Tensor self, int n) -> Tensor",
    "f_": "f_(Tensor(a!) self, int n) -> Tensor(a!)",
    "f.out": "f.out(Tensor self, int n, *, Tensor(a!) out) -> Tensor(a!)",
    "g.x": "g.x(Tensor self) -> Tensor",
    "g.x_out": "g.x_out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
}
KEYS = ("CPU", "PrivateUse1", "Meta", "SparseCPU", "CompositeExplicitAutograd", "Autograd")
NAMESPACES = ("", "lib::")


@st.composite
def schema_files(draw: st.DrawFn) -> str:
    """A file of entries with kernels or formulas, some of them structured or delegating."""
    entries = []
    prefix = draw(st.sampled_from(NAMESPACES))
    for name in draw(st.lists(st.sampled_from(sorted(SCHEMAS)), unique=True, min_size=1)):
        entry: dict[str, object] = {"func": prefix + SCHEMAS[name]}
        keys = draw(st.lists(st.sampled_from(KEYS), unique=True, max_size=3))
        if keys or draw(st.booleans()):
            kernel = re.sub(r"\W", "_", name)
            entry["dispatch"] = {key: f"k_{kernel}_{key.lower()}" for key in keys}
        if "out" in name:
            entry["structured"] = draw(st.booleans())
        elif draw(st.booleans()):
            entry["structured_delegate"] = "g.x_out" if name.startswith("g") else "f.out"
        if "out" not in name and draw(st.booleans()):
            entry["derivatives"] = {"self": "grad"}
        entries.append(entry)
    return yaml.safe_dump(entries, sort_keys=False)


def written_program(text: str, folder: Path, target: str) -> Program:
    """The program of a schema file, with a module that defines every kernel and every meta function."""
    source = Source("ops.yaml", text)
    functions, found = load_native_functions([source])
    names = {kernel.kernel for function in functions for kernel in own_kernels(function)}
    names |= {f"meta_{function.flat_name('aten')}" for function in functions}
    names |= {f"meta_{function.func.flat_name}" for function in functions}
    module = folder / "every_kernel.py"
    module.write_text("".join(f"def {name}(*a, **k): ...\n" for name in sorted(names)))
    options: dict[str, object] = {"tensor": "toy::Tensor"} if target == "cpp-runtime" else {}
    modules = {}
    if target in ("python", "torch-python"):
        options = {"kernels": ["every_kernel"]}
        modules = {target: {"kernels": index_kernel_modules(["every_kernel"], folder)[0]}}
    config = Config(folder, target_options={target: options})
    return build_program(functions, config, diagnostics=found, sources=[source], modules=modules)


def places(target: str, key: str, name: str) -> str:
    """The pattern of the generated line that registers the kernel of an operator for a key."""
    if target == "torch-python":
        return rf'"\w+::{re.escape(name)}"(?:(?!Operator\().)*?"{key}"'
    if target == "python":
        return rf'impl_from\(\s*\w+,\s*"{re.escape(name)}",|\n        "{re.escape(name)}": "'
    block = rf"LIBRARY_IMPL\(\w+, {key}, m\)(?:(?!LIBRARY_IMPL\().)*?"
    return rf'{block}impl\(\s*"{re.escape(name)}",'


@pytest.mark.parametrize(
    "target", ["python", "cpp-torch", "cpp-torch-stable", "cpp-runtime", "torch-python"]
)
@given(text=schema_files())
def test_no_kernel_is_lost(
    tmp_path_factory: pytest.TempPathFactory, target: str, text: str
) -> None:
    program = written_program(text, tmp_path_factory.mktemp("lost"), target)
    generated = generate_all(program, targets=[target])
    if has_errors(generated.diagnostics):
        return
    named = {diagnostic.operator for diagnostic in generated.diagnostics}
    for function in program.functions:
        for kernel in own_kernels(function):
            stem = f"register_{kernel.key.lower()}." if target == "python" else ""
            files = [found for path, found in generated.files.items() if stem in path]
            wanted = places(target, kernel.key, function.func.local_name)
            is_there = any(re.search(wanted, found, re.DOTALL) for found in files)
            assert is_there or function.func.full_name in named, (function.name, kernel.key)


@pytest.mark.parametrize(
    "target", ["python", "cpp-torch", "cpp-torch-stable", "cpp-runtime", "torch-python"]
)
@given(text=schema_files())
def test_the_list_is_what_the_text_registers(
    tmp_path_factory: pytest.TempPathFactory, target: str, text: str
) -> None:
    program = written_program(text, tmp_path_factory.mktemp("text"), target)
    generated = generate_all(program, targets=[target])
    if not has_errors(generated.diagnostics):
        assert listed(program, target) == registered(target, generated.files)


ROOT = Path(__file__).parents[2]
PROJECTS = (
    ".",
    "examples/cpp_runtime",
    "examples/torch_backend",
    "examples/torch_ops",
    "tests/cpp/autograd_ops",
    "tests/cpp/device_ops",
    "tests/cpp/structured_ops",
)


@pytest.mark.parametrize("project", PROJECTS)
def test_the_list_is_what_the_text_registers_in_projects(project: str) -> None:
    program = load(root=ROOT / project)
    for target in program.config.targets or ("python",):
        found = listed(program, target)
        assert found and found == registered(target, generate(program, targets=[target]))


def listed(program: Program, target: str) -> set[tuple[str, str]]:
    """The listed operators and keys, without the C++ kernels that a Python package only loads."""
    found = registrations(program, TARGETS[target].policy)
    is_loaded = target == "torch-python" and program.module_functions(target, "kernels") is None
    written = WRITTEN if is_loaded else ()
    return {(one.operator.name, one.key) for one in found if one.origin not in written}
