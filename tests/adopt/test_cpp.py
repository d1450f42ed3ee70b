"""A C++ library of twenty operators, imported, generated and built: it registers the same and passes its own tests.

So are the two libraries in C++ of docs/moving-over.md, which are compiled beside it: the headers are most of the time.
The functions of the one that pybind11 bound are those of a generated package.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.adopt.adopted import make_visible, registry, run_python, run_tool
from tests.blocks import PAGES, blocks
from tests.cpp.compiling import compile_library, needs_compiler, write_files
from tests.expected import expect
from tests.forks import COMPILING, run_forked
from torchgen_lite import generate, load

pytestmark = [pytest.mark.torch, needs_compiler]
PAGE = PAGES["moving-over"]
HERE = Path(__file__).parent / "cpp"
# What the target registers besides, where nothing is by hand: the version of what is written, what traces operators that
# write, and what refuses a gradient that would be lost.
MORE = {"ADInplaceOrView", "Autograd", "Functionalize"}
# Arguments whose names libtorch infers get those that they have in C++.
NAMED = {
    "schema: adopt::inferred(Tensor _0, int _1, bool _2, str _3) -> Tensor _0": "schema: adopt::inferred(Tensor x, int k, bool flag, str name) -> Tensor"
}


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The folders of the library by hand and of the generated one, both built."""
    by_hand = tmp_path_factory.mktemp("hand")
    generated = tmp_path_factory.mktemp("generated")
    for folder in (by_hand, generated):
        shutil.copytree(HERE, folder, dirs_exist_ok=True)
    walk = tmp_path_factory.mktemp("walk")
    write_files(walk, {"csrc/ops.cpp": blocks(PAGE, "cpp")[0]})
    flags = ("-DEXTENSION_NAME=adopt", "-DTORCH_EXTENSION_NAME=mylib")
    build(by_hand, ["kernels.cpp", "bindings.cpp", f"{walk}/csrc/ops.cpp"], *flags)
    code, said = run_tool(generated, "import", *OPTIONS, "--output", "ops.yaml")
    assert code == 0, said
    (generated / "bindings.cpp").unlink()
    sources = generated_sources(generated)
    walk_the_page(walk)
    walked = [f"{walk}/{path}" for path in ("csrc/ops.cpp", *generated_sources(walk))]
    bound = generated / "bound"
    write_files(bound, the_bound_library())
    write_files(bound, generate(load(root=bound), targets=["torch-python"]))
    sources += [f"{bound}/{path}" for path in ("scaling.cpp", *generated_sources(bound))]
    include = [f"-I{folder}/cpp-torch/include" for folder in (generated, walk, bound)]
    include += [f"-I{walk}", f"-I{bound}"]
    build(generated, ["kernels.cpp", *sources], *include, beside=walked)
    return by_hand, generated


def generated_sources(folder: Path) -> list[str]:
    """Generate for the project in a folder."""
    files = generate(load(root=folder), targets=["cpp-torch"])
    write_files(folder, files)
    return sorted(path for path in files if path.endswith(".cpp") and "module" not in path)


def build(folder: Path, sources: list[str], *flags: str, beside: Sequence[str] = ()) -> None:
    """Make `library.so` of a folder.

    The files `beside` have an operator of a name that the others have too, so they are a unit of their own.
    """
    write_files(folder, {"beside.cpp": "".join(f'#include "{path}"\n' for path in beside)})
    compile_library(
        folder,
        sources,
        apart=["beside.cpp"] if beside else [],
        flags=[*flags, "-DWITH_NORM"],
        includes=[folder],
    )


def walk_the_page(folder: Path) -> None:
    """The library of the page after its step 2: kernels are visible, and `adopt` has moved the registrations."""
    make_visible(folder / "csrc/ops.cpp")
    code, said = run_tool(folder, "adopt", "--macro", "TORCH_EXTENSION_NAME=mylib")
    assert code == 0, said
    assert "TORCH_LIBRARY_EXPAND(TORCH" not in (folder / "csrc/ops.cpp").read_text()


def the_bound_library() -> dict[str, str]:
    """The library of the page that pybind11 bound, once it is generated: its module is the package that has its name."""
    code = blocks(PAGE, "cpp")[1].replace("torch/extension.h", "ATen/ATen.h")
    heads = re.findall(r"^((?:at::Tensor|void) .*\)) \{", code, flags=re.M)
    declared = "".join(f"{head};\n" for head in heads)
    return {
        "scaling.h": f"#pragma once\n#include <ATen/ATen.h>\n{declared}",
        "scaling.cpp": code[: code.index("PYBIND11_MODULE")],
        "ops.yaml": blocks(PAGE, "yaml")[4],
        "torchgen_lite.toml": blocks(PAGE, "toml")[4],
        "scaling_ops.py": "import torch\ntorch.ops.load_library('../library.so')\n",
        "use.py": blocks(PAGE, "python")[1],
    }


OPTIONS = (".", "--macro", "EXTENSION_NAME=adopt")


def test_the_yaml(tmp_path: Path) -> None:
    shutil.copytree(HERE, tmp_path, dirs_exist_ok=True)
    code, said = run_tool(tmp_path, "import", *OPTIONS, "--output", "new.yaml")
    assert code == 0, said
    text = (tmp_path / "new.yaml").read_text()
    expect(HERE / "ops.yaml", text)


def test_the_same_is_registered(libraries: tuple[Path, Path]) -> None:
    by_hand, generated = (registry("adopt", [f"{one}/library.so"], []) for one in libraries)
    assert len(by_hand) == 19, "and one under a condition"
    assert by_hand.keys() == generated.keys()
    for name, (schema, keys, tags) in by_hand.items():
        more = MORE - set(keys)  # type: ignore[call-overload]
        kept = [key for key in generated[name][1] if key not in more]  # type: ignore[attr-defined]
        assert [generated[name][0], kept, generated[name][2]] == [
            NAMED.get(str(schema), schema),
            keys,
            tags,
        ], name


def test_the_page_ends_where_it_began(libraries: tuple[Path, Path]) -> None:
    by_hand, generated = (registry("mylib", [f"{one}/library.so"], []) for one in libraries)
    schema, keys, tags = by_hand["mylib::muladd"]
    by_hand["mylib::muladd"] = [schema, ["Autograd", *keys], tags]  # type: ignore[misc]
    assert by_hand == generated and list(by_hand) == ["mylib::muladd", "mylib::norm"]


def test_what_was_bound_is_called_as_before(libraries: tuple[Path, Path]) -> None:
    folder = libraries[1] / "bound"
    assert run_python(folder, "use.py", path=folder / "torch-python") == (0, "")


@pytest.mark.parametrize("which", [0, 1], ids=["by-hand", "generated"])
def test_its_own_tests_pass(libraries: tuple[Path, Path], which: int) -> None:
    command = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull, "checks.py"]
    done = run_forked(command, libraries[which], os.environ, COMPILING)
    assert done.returncode == 0, done.stdout


def test_the_registry_and_the_text_together(libraries: tuple[Path, Path]) -> None:
    folder = libraries[0]
    (folder / "adopt_library.py").write_text(
        "import pathlib, torch\n"
        "torch.ops.load_library(str(pathlib.Path(__file__).with_name('library.so')))\n"
    )
    module = ("import", "--module", "adopt_library", "--namespace", "adopt")
    both = run_tool(folder, *module, *OPTIONS, "--output", "both.yaml")
    assert both[0] == 0, both[1]
    assert (folder / "both.yaml").read_text() == (HERE / "ops.yaml").read_text()
    alone = run_tool(folder, *module, "--output", "alone.yaml")
    assert alone[0] == 0 and "TG608" in alone[1]
    text = (folder / "alone.yaml").read_text()
    assert "- func: adopt::muladd(Tensor a, Tensor b, float s=1.0) -> Tensor\n" in text
    assert "    CPU: muladd_cpu\n" in text and "under_condition" not in text
