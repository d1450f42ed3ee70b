"""Several entries of one operator, each for other releases of PyTorch."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.cpp.compiling import needs_compiler, write_files
from torchgen_lite import load
from torchgen_lite.analysis.overlay import by_range, entries_for
from torchgen_lite.diagnostics import Source
from torchgen_lite.loader.formats.native_functions import load_native_functions
from torchgen_lite.pipeline import generate_all

FLOAT = '- func: my::f(Tensor x, float s) -> Tensor\n  torch: "<2.13"\n  dispatch: {CPU: f_float}\n'
SCALAR = '- func: my::f(Tensor x, Scalar s) -> Tensor\n  torch: ">=2.13"\n  dispatch: {CPU: f}\n'


def said(folder: Path, *files: str, target: str = "cpp-torch", settings: str = "") -> list[str]:
    """What is said about the files, and what is generated from them."""
    write_files(folder, {f"{n}.yaml": text for n, text in enumerate(files)})
    names = [f"{n}.yaml" for n in range(len(files))]
    config = f'schema = {names}\ntargets = ["{target}"]\n{settings}'
    write_files(folder, {"torchgen_lite.toml": config})
    generated = generate_all(load(root=folder))
    write_files(folder, generated.files)
    return [f"{d.code} {d.message}" for d in generated.diagnostics]


@pytest.mark.parametrize(
    ("one", "other", "ranges"),
    [
        ("<2.13", ">=2.12", "`<2.13` and `>=2.12`"),
        ("<2.13", None, "`<2.13` and all releases"),
        (None, ">=2.13", "all releases and `>=2.13`"),
        ("==2.9.*", "~=2.9.1", "`==2.9.*` and `~=2.9.1`"),
    ],
)
def test_ranges_that_overlap(
    tmp_path: Path, one: str | None, other: str | None, ranges: str
) -> None:
    entries = [
        f"- func: my::f(Tensor x, {type_} s) -> Tensor\n" + (f'  torch: "{text}"\n' if text else "")
        for type_, text in (("float", one), ("Scalar", other))
    ]
    message = f"TG301 operator `my::f` is declared twice, and {ranges} overlap"
    assert said(tmp_path, "".join(entries)) == [message]


def test_a_later_file_adds_to_each_entry_that_it_meets(tmp_path: Path) -> None:
    more = "- func: my::g(Tensor x) -> Tensor\n  dispatch: {CUDA: g_cuda}\n"
    twice = "".join(
        f'- func: my::g(Tensor x) -> Tensor\n  torch: "{text}"\n  dispatch: {{CPU: {name}}}\n'
        for text, name in (("<2.13", "g_old"), (">=2.13", "g_new"))
    )
    assert said(tmp_path, twice, more) == []
    program = load(root=tmp_path)
    every = [*program.functions, *program.elsewhere]
    assert sorted((f.torch, [e.kernel for e in f.dispatch]) for f in every) == [
        ("<2.13", ["g_old", "g_cuda"]),
        (">=2.13", ["g_new", "g_cuda"]),
    ]
    assert said(tmp_path, FLOAT + SCALAR, "- func: my::f(Tensor x, Scalar s) -> Tensor\n") == [
        "TG307 overlay gives `my::f` another schema"
    ]


def test_which_entries_are_taken_together() -> None:
    text = """\
- func: a(Tensor x) -> Tensor
  torch: "<2.9"
- func: a(Tensor x, int n) -> Tensor
  torch: ">=2.9"
- func: b(Tensor x) -> Tensor
  torch: "<2.10"
- func: b(Tensor x, int n) -> Tensor
  torch: ">=2.10"
- func: c(Tensor x) -> Tensor
"""
    functions, found = load_native_functions([Source("ops.yaml", text)])
    assert not found
    taken = {key: [f"{f.func.name} {f.torch}" for f in own] for key, own in by_range(functions)}
    assert taken == {
        "": ["a <2.9", "b <2.10", "c None"],
        ">=2.9": ["a >=2.9", "b <2.10", "c None"],
        ">=2.10": ["a >=2.9", "b >=2.10", "c None"],
    }
    for release, expected in {
        (2, 8): ["a <2.9", "b <2.10", "c None"],
        (2, 9): ["a >=2.9", "b <2.10", "c None"],
        (2, 10, 1): ["a >=2.9", "b >=2.10", "c None"],
        (): ["a >=2.9", "b >=2.10", "c None"],
    }.items():
        assert [f"{f.func.name} {f.torch}" for f in entries_for(functions, release)] == expected


@pytest.mark.parametrize("target", ["torch-python", "cpp-torch-stable"])
def test_targets_that_take_one_entry(tmp_path: Path, target: str) -> None:
    plain = '- func: my::g(Tensor x) -> Tensor\n  torch: ">=2.9"\n  dispatch: {CPU: g}\n'
    settings = '[target.torch-python]\nkernels = ["k"]\n' if target == "torch-python" else ""
    write_files(tmp_path, {"k.py": "def g(x): return x\n\n\ndef f(x, s): return x\n"})
    found = said(tmp_path, FLOAT + SCALAR + plain, target=target, settings=settings)
    assert found[0] == "TG511 `my::f` has several entries, each for other releases"
    assert found[1:] == [one for one in found if one.startswith("TG339")]


def test_a_type_that_only_older_releases_have(tmp_path: Path) -> None:
    entry = "- func: my::names(Tensor x, {}[] names) -> Tensor\n  torch: '{}'\n"
    for type_, text, expected in (
        ("Dimname", "<2.13", []),
        ("Dimname", "<=2.13", ["TG512 PyTorch's dispatcher does not know the type `Dimname`"]),
        ("DimVector", "<2.13", ["TG512 PyTorch's dispatcher does not know the type `DimVector`"]),
    ):
        found = said(tmp_path, entry.format(type_, text), target="torch-python")
        assert [one for one in found if one.startswith("TG512")] == expected


# The functional operator is one entry, but its kernel is that of the out variant, of which there are two.
GROUP = """\
- func: my::add(Tensor x, Tensor y) -> Tensor
  structured_delegate: my::add.out
- func: my::add.out(Tensor x, Tensor y, *, Tensor(a!) out) -> Tensor(a!)
  torch: "<2.13"
  structured: True
  dispatch: {CPU: add_old}
- func: my::add.out(Tensor x, Tensor y, *, Tensor(a!) out) -> Tensor(a!)
  torch: ">=2.13"
  structured: True
  dispatch: {CPU: add_new}
- func: my::mul(Tensor x, Tensor y) -> Tensor
  torch: "<2.13"
  dispatch: {CPU: mul}
  derivatives: {x: grad * y, y: grad * x}
- func: my::mul(Tensor x, Tensor y, int more) -> Tensor
  torch: ">=2.13"
  dispatch: {CPU: mul_more}
  derivatives: {x: grad * y * more, y: grad * x}
"""


@needs_compiler
@pytest.mark.parametrize("minor", [12, 13])
def test_what_the_preprocessor_leaves(tmp_path: Path, minor: int) -> None:
    """Each release gets one definition of each operator, and the kernels of its entry."""
    assert said(tmp_path, FLOAT + SCALAR + GROUP) == []
    folder = tmp_path / "cpp-torch"
    sources = sorted(folder.glob("src/*.cpp"))
    texts = [path.read_text() for path in (*sources, *folder.glob("include/**/*.h"))]
    stubs = {f"stubs/{name}": "" for t in texts for name in re.findall(r"#include <(.+)>", t)}
    write_files(tmp_path, {path: "" for path in stubs if not path.startswith("stubs/my/")})
    text = ""
    for source in sources:
        options = ["-Istubs", f"-I{folder / 'include'}", "-P"]
        versions = ["-DTORCH_VERSION_MAJOR=2", f"-DTORCH_VERSION_MINOR={minor}"]
        command = ["g++", "-E", *options, *versions, "-DTORCH_VERSION_PATCH=0", str(source)]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        text += done.stdout
    defined = re.findall(r'm\.def\("(.+?)"', text)
    ours = {12: ["float s", "f_float", "add_old"], 13: ["Scalar s", "::f)", "add_new"]}
    assert sorted(defined) == sorted(
        [
            f"f(Tensor x, {ours[minor][0]}) -> Tensor",
            "add(Tensor x, Tensor y) -> Tensor",
            "add.out(Tensor x, Tensor y, *, Tensor(a!) out) -> Tensor(a!)",
            f"mul(Tensor x, Tensor y{', int more' if minor == 13 else ''}) -> Tensor",
        ]
    )
    other = ours[25 - minor]
    assert all(one in text for one in ours[minor][1:])
    assert other[1] not in text and other[2] not in text
    assert text.count("struct MulBackward0") == 1
    registered = re.findall(r'm\.impl\("(.+?)"', text)
    # CPU, Meta and Autograd; the out variant at Functionalize and ADInplaceOrView, too.
    assert (registered.count("add"), registered.count("add.out")) == (3, 5)
