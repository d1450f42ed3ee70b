"""The build files that `adopt` changes: each before and after, or why it is left as it is."""

from __future__ import annotations

import glob
from pathlib import Path

import pytest

from torchgen_lite_tools.importing.build_files import with_generated_code

SETUP = """\
from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CppExtension

setup(
    ext_modules=[CppExtension("lib._C", ["csrc/ops.cpp", "csrc/é.cpp"]{more})],
    cmdclass={{"build_ext": BuildExtension}},
)
"""
BUILT = """\
import glob
import os
from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CppExtension

setup(
    ext_modules=[CppExtension("lib._C", ["csrc/ops.cpp", "csrc/é.cpp", *sorted(glob.glob("generated/cpp-torch/src/*.cpp"))]{more})],
    cmdclass={{"build_ext": BuildExtension}},
)
"""
FOLDERS = 'os.path.abspath("generated/cpp-torch/include"), os.path.abspath(".")'
ADDED = """\
# What torchgen-lite generates from ops.yaml.
file(GLOB TORCHGEN_LITE_SOURCES CONFIGURE_DEPENDS generated/cpp-torch/src/*.cpp)
target_sources(lib PRIVATE ${TORCHGEN_LITE_SOURCES})
target_include_directories(lib PRIVATE generated/cpp-torch/include .)
"""


def changed(folder: Path, name: str, text: str, devices: frozenset[str] = frozenset()) -> str:
    """The text of a build file afterwards, or why it is left."""
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    written = ("ops.yaml", "torchgen_lite.toml")
    build = with_generated_code(folder, ["csrc/ops.cpp", "csrc/é.cpp"], devices, written)
    if build.by_hand:
        assert not build.changed
        return build.by_hand[0].splitlines()[0].partition(": ")[2]
    return build.changed[0][1] if build.changed else text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", f", include_dirs=[{FOLDERS}]"),
        (", include_dirs=[]", f", include_dirs=[{FOLDERS}]"),
        (', include_dirs=["csrc"],', f', include_dirs=["csrc", {FOLDERS}],'),
        (', extra_link_args=["-s"]', f', extra_link_args=["-s"], include_dirs=[{FOLDERS}]'),
    ],
)
def test_setup(before: str, after: str, tmp_path: Path) -> None:
    text = changed(tmp_path, "setup.py", SETUP.format(more=before))
    assert text == BUILT.format(more=after)
    compile(text, "setup.py", "exec")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (SETUP.format(more=", include_dirs=folders"), "line 5: `include_dirs` is computed"),
        (
            "for name in names:\n    e += [CppExtension(name, ['csrc/ops.cpp', 'csrc/é.cpp'])]\n",
            "line 2: which sources this extension has is computed",
        ),
        ("CppExtension('a', sources)\n", "line 1: which sources this extension has is computed"),
        (
            "CppExtension('a', ['csrc/ops.cpp'])\nCppExtension('b', ['csrc/é.cpp'])\n",
            "no extension has all the files that registered: one has to",
        ),
        ("CppExtension(\n", "this is not Python"),
    ],
)
def test_setups_that_are_left(text: str, why: str, tmp_path: Path) -> None:
    assert changed(tmp_path, "setup.py", text) == why


def test_a_setup_without_extensions(tmp_path: Path) -> None:
    text = "from setuptools import setup\nsetup()\n"
    assert changed(tmp_path, "setup.py", text) == text


@pytest.mark.parametrize(
    "text",
    [
        "add_library(lib SHARED csrc/ops.cpp csrc/é.cpp)\n",
        "file(GLOB FILES csrc/*.cpp) # all\nadd_library(lib ${FILES})\n",
        'set(A csrc/ops.cpp)\nset(B ${A} "${CMAKE_CURRENT_SOURCE_DIR}/csrc/é.cpp")\n'
        "list(APPEND B more.cpp)\npybind11_add_module(lib MODULE\n  ${B} # (\n)\n",
        "add_library(other a.cpp)\nif(X)\n  add_library(lib csrc/ops.cpp ./csrc/é.cpp)\n",
        "set(CSRC csrc)\nfile(GLOB_RECURSE ALL ${CSRC}/*.cpp)\nadd_library(lib ${ALL})\n",
        "file(GLOB_RECURSE ALL CONFIGURE_DEPENDS *.cpp)\nadd_library(lib ${ALL} ${MORE})\n",
        "list(LENGTH A n)\nadd_library(lib csrc/ops.cpp csrc/é.cpp)\n",
    ],
)
def test_cmake(text: str, tmp_path: Path) -> None:
    assert (
        changed(tmp_path, "CMakeLists.txt", text + "message(1)\n") == text + ADDED + "message(1)\n"
    )


def test_cmake_in_another_folder(tmp_path: Path) -> None:
    text = "add_library(lib ops.cpp é.cpp)"
    assert changed(tmp_path, "csrc/CMakeLists.txt", text) == text + "\n" + ADDED.replace(
        " generated", " ../generated"
    ).replace(" .)", " ..)")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            "add_library(a csrc/ops.cpp)\nadd_library(b csrc/é.cpp)\n",
            "no target has all the files that registered: one has to",
        ),
        (
            "add_library(a csrc/ops.cpp csrc/é.cpp)\nadd_library(b csrc/ops.cpp csrc/é.cpp)\n",
            "several targets have the files that registered",
        ),
        (
            "foreach(x 1 2)\nadd_library(a${x} csrc/ops.cpp csrc/é.cpp)\nendforeach()\n",
            "the sources of `a${x}` are put together from several places",
        ),
        (
            "add_library(a csrc/ops.cpp)\ntarget_sources(a PRIVATE csrc/é.cpp)\n",
            "the sources of `a` are put together from several places",
        ),
    ],
)
def test_cmake_that_is_left(text: str, why: str, tmp_path: Path) -> None:
    assert changed(tmp_path, "CMakeLists.txt", text) == why


def test_kernels_for_devices_are_not_in_every_build(tmp_path: Path) -> None:
    text = "add_library(lib csrc/ops.cpp csrc/é.cpp)\n"
    why = "generated code for CUDA is compiled only where that is there"
    assert changed(tmp_path, "CMakeLists.txt", text, frozenset({"CUDA"})) == why


def test_other_files(tmp_path: Path) -> None:
    assert changed(tmp_path, "pyproject.toml", "[project]\n") == "[project]\n"
    text = '[tool.setuptools]\next-modules = [{name = "a", sources = ["a.cpp"]}]\n'
    assert "takes no patterns" in changed(tmp_path, "pyproject.toml", text)
    (tmp_path / "pyproject.toml").unlink()
    assert changed(tmp_path, "MANIFEST.in", "include LICENSE\n") == (
        "include LICENSE\ninclude ops.yaml torchgen_lite.toml\n" "recursive-include generated *\n"
    )


@pytest.mark.parametrize(
    "how",
    [
        'ext_modules=[extension("lib._C", ["csrc/ops.cpp"])]',
        "ext_modules=get_extensions()",
        '**torch_build("csrc", kind=CppExtension)',
    ],
)
def test_an_extension_that_is_computed_has_a_line(how: str, tmp_path: Path) -> None:
    text = f"import setuptools\nsetuptools.setup({how})\n"
    assert "is computed" in changed(tmp_path, "setup.py", text)


def test_a_setup_without_an_extension_is_left(tmp_path: Path) -> None:
    text = "import setuptools\nsetuptools.setup(name='lib')\n"
    assert changed(tmp_path, "setup.py", text) == text


def test_a_target_that_is_computed_has_a_line(tmp_path: Path) -> None:
    text = "my_extension(lib csrc/ops.cpp csrc/é.cpp)\n"
    assert "which target" in changed(tmp_path, "CMakeLists.txt", text)
    for text in (
        "add_library(other csrc/drops.cpp)\n",
        "file(GLOB A b/*.cpp)\nadd_library(o ${A})\n",
    ):
        assert changed(tmp_path, "CMakeLists.txt", text) == text


@pytest.mark.parametrize(
    "text",
    [
        "include(sources.cmake)\nadd_library(lib ${SOURCES})\n",
        "file(GLOB_RECURSE ALL ${HERE}/*.cpp)\nadd_library(lib ${ALL})\n",
        "add_library(lib $<$<BOOL:ON>:csrc/ops.cpp>)\n",
        "aux_source_directory(csrc ALL)\nadd_library(lib ${ALL})\n",
        "file(GLOB ALL csrc/*.cpp)\nlist(REMOVE_ITEM ALL csrc/ops.cpp)\nadd_library(lib ${ALL})\n",
        "file(GLOB ALL csrc/*.cpp)\nlist(FILTER ALL EXCLUDE REGEX o)\nadd_library(lib ${ALL})\n",
        "set(WHERE csrc)\nset(WHERE other)\nadd_library(lib ${WHERE}/ops.cpp)\n",
    ],
)
def test_sources_that_cannot_be_told_have_a_line(text: str, tmp_path: Path) -> None:
    assert "which target" in changed(tmp_path, "CMakeLists.txt", text)


@pytest.mark.parametrize(
    ("name", "text", "lines"),
    [
        (
            "setup.py",
            "CppExtension('a', sources)\n",
            [
                'sources      += sorted(glob.glob("generated/cpp-torch/src/*.cpp"))',
                f"include_dirs += [{FOLDERS}]",
            ],
        ),
        (
            "CMakeLists.txt",
            "add_library(lib csrc/ops.cpp)\nadd_library(other csrc/é.cpp)\n",
            ADDED.replace("(lib ", "(TARGET ").splitlines()[1:],
        ),
        (
            "src/meson.build",
            "files('../csrc/ops.cpp')\n",
            [
                "sources: ../generated/cpp-torch/src/*.cpp",
                "folders of headers: ../generated/cpp-torch/include ..",
            ],
        ),
    ],
)
def test_lines_by_hand(name: str, text: str, lines: list[str], tmp_path: Path) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    build = with_generated_code(tmp_path, ["csrc/ops.cpp", "csrc/é.cpp"], (), ())
    assert (build.changed, build.untouched) == ([], [])
    assert [one.strip() for one in build.by_hand[0].splitlines()[1:]] == lines


BY_DEVICE = {
    "setup.py": [
        'sources      += sorted(set(glob.glob("generated/cpp-torch/src/*.cpp"))'
        ' - set(glob.glob("generated/cpp-torch/src/register_cuda*.cpp"))'
        ' - set(glob.glob("generated/cpp-torch/src/register_mps*.cpp")))',
        'sources      += sorted(glob.glob("generated/cpp-torch/src/register_cuda*.cpp"))  # where the device is',
        'sources      += sorted(glob.glob("generated/cpp-torch/src/register_mps*.cpp"))  # where the device is',
        f"include_dirs += [{FOLDERS}]",
    ],
    "CMakeLists.txt": [
        "file(GLOB TORCHGEN_LITE_SOURCES CONFIGURE_DEPENDS generated/cpp-torch/src/*.cpp)",
        'list(FILTER TORCHGEN_LITE_SOURCES EXCLUDE REGEX "/(register_cuda|register_mps)")  # but where the device is',
        "target_sources(TARGET PRIVATE ${TORCHGEN_LITE_SOURCES})",
        "target_include_directories(TARGET PRIVATE generated/cpp-torch/include .)",
    ],
    "meson.build": [
        "sources: generated/cpp-torch/src/*.cpp, register_cuda*.cpp only where the device is,"
        " register_mps*.cpp only where the device is",
        "folders of headers: generated/cpp-torch/include .",
    ],
}
TEXTS = {
    "setup.py": "extension('a', [CppExtension])\n",
    "CMakeLists.txt": "add_library(lib csrc/ops.cpp)\n",
    "meson.build": "files('csrc/ops.cpp')\n",
}


@pytest.mark.parametrize("name", TEXTS)
def test_files_of_devices_are_apart(name: str, tmp_path: Path) -> None:
    """A build without the device has none of their kernels."""
    (tmp_path / name).write_text(TEXTS[name])
    build = with_generated_code(tmp_path, ["csrc/ops.cpp"], {"CUDA", "AutogradCUDA", "MPS"}, ())
    lines = [one.strip() for one in build.by_hand[0].splitlines()[1:]]
    assert lines == BY_DEVICE[name]


def test_the_lines_of_a_setup_choose_these_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("register.cpp", "register_cuda.cpp", "register_mps_1.cpp", "underived.cpp")
    folder = tmp_path / "generated/cpp-torch/src"
    folder.mkdir(parents=True)
    for name in names:
        (folder / name).touch()
    monkeypatch.chdir(tmp_path)
    found = []
    for line in BY_DEVICE["setup.py"][:3]:
        chosen = eval(line.partition("+=")[2], {"glob": glob})
        found.append([Path(one).name for one in chosen])
    assert found == [
        ["register.cpp", "underived.cpp"],
        ["register_cuda.cpp"],
        ["register_mps_1.cpp"],
    ]


def test_every_build_file_is_named(tmp_path: Path) -> None:
    """Also one that says nothing of the files that registered, and where nothing of C++ did."""
    for name in ("setup.py", "Makefile", "other/CMakeLists.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("setup()\n")
    for registered in ([], ["ops.cpp"]):
        build = with_generated_code(tmp_path, registered, (), ())
        assert (build.changed, build.by_hand) == ([], [])
        names = [Path(one).relative_to(tmp_path).as_posix() for one in build.untouched]
        assert names == ["Makefile", "other/CMakeLists.txt", "setup.py"]
