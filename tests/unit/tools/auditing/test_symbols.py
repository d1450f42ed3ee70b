"""Symbols: which Linux and which libtorch a library needs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conftest import Result
from tests.unit.tools.auditing.test_artefact import library, wheel
from torchgen_lite_tools.auditing.platforms import Platform, check_platform
from torchgen_lite_tools.auditing.stable_abi import abi_of, releases

Run = Callable[..., Result]
SHIM = """\
extern "C" int aoti_torch_get_dim(void*, long*);
extern "C" int torch_from_blob(void*);
extern "C" int torch_of_tomorrow(void*);
int f(long* n) { return aoti_torch_get_dim(n, n) FUNCTIONS; }
"""
OPTIONS = 'schema = ["ops.yaml"]\ntargets = ["cpp-torch-stable"]\n[target.cpp-torch-stable]\ntarget-version = "2.10"\n'


def test_the_release_of_the_stable_abi(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("auditwheel")
    monkeypatch.chdir(tmp_path)
    library(tmp_path, SHIM.replace("FUNCTIONS", ""))
    done = run("audit", "lib.so", "--abi", "stable")
    assert (done.code, "runs with libtorch 2.9 and later" in done.stdout) == (0, True)
    library(tmp_path, SHIM.replace("FUNCTIONS", "+ torch_from_blob(n)"))
    done = run("audit", "lib.so", "--abi", "stable")
    assert (done.code, "runs with libtorch 2.11 and later" in done.stdout) == (0, True)
    # The project promises an older one.
    Path("torchgen_lite.toml").write_text(OPTIONS)
    Path("ops.yaml").write_text("- func: lib::f(Tensor x) -> Tensor\n  dispatch: {CPU: f}\n")
    done = run("audit", "lib.so")
    assert done.code == 1
    assert (
        "the library needs libtorch 2.11, which has `torch_from_blob`, and `target-version` is 2.10"
        in done.stderr
    )
    assert run("audit", "lib.so", "--abi", "libtorch").code == 0
    Path("torchgen_lite.toml").write_text(OPTIONS.replace("2.10", "soon"))
    done = run("audit", "lib.so")
    assert (done.code, "TG900" in done.stderr) == (2, False)


def test_functions_of_no_release(tmp_path: Path, run: Run) -> None:
    pytest.importorskip("auditwheel")
    path = library(tmp_path, SHIM.replace("FUNCTIONS", "+ torch_of_tomorrow(n)"))
    done = run("audit", str(path), "--abi", "stable", "--output-format", "json")
    assert done.code == 1
    answer = json.loads(done.stdout)
    assert [one["code"] for one in answer["diagnostics"]] == ["TG621"]
    assert answer["abi"]["unknown"] == ["torch_of_tomorrow"]


def test_symbols_of_cpp() -> None:
    """What a library defines itself is none, and neither is what has a part of such a name."""
    stable = ["_ZN3fat5shapeEv", "_ZN4that2atEi", "_ZSt4cout", "aoti_torch_check"]
    assert abi_of(stable).kind == "stable"
    cxx = [
        "_ZN2at4_ops4relu4callERKNS_6TensorE",
        "_ZNK3c1010TensorImpl5sizesEv",
        "_Z1fRKN2at6TensorE",
    ]
    assert abi_of([*stable, *cxx]).symbols == tuple(sorted(cxx))
    assert abi_of(["memcpy"]).kind == "none"


def test_the_table_is_that_of_the_headers() -> None:
    """The functions of the installed PyTorch's headers, by the release that each is guarded by."""
    torch = pytest.importorskip("torch")
    include = Path(torch.__file__).parent / "include" / "torch" / "csrc"
    found = {}
    for name in (
        "stable/c/shim.h",
        "inductor/aoti_torch/c/shim.h",
        "inductor/aoti_torch/generated/c_shim_aten.h",
    ):
        found.update(dict(_guarded((include / name).read_text())))
    del found["aoti_torch_dtype"]
    assert {name: max(release, (2, 9)) for name, release in found.items()} == dict(releases())


_TOKEN = re.compile(r"^\s*#\s*(if\w*|endif)\b(.*)|\b((?:aoti_torch|torch)_\w+)\s*\(", re.MULTILINE)
_GUARD = re.compile(r"TORCH_FEATURE_VERSION\s*>=\s*TORCH_VERSION_(\d+)_(\d+)")


def _guarded(text: str) -> Iterator[tuple[str, tuple[int, int]]]:
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)
    guards: list[tuple[int, int]] = []
    for token in _TOKEN.finditer(text):
        if token[3]:
            yield token[3], max(guards, default=(0, 0))
        elif token[1] == "endif":
            guards.pop()
        else:
            release = _GUARD.search(token[2])
            guards.append((int(release[1]), int(release[2])) if release else (0, 0))


def test_platforms_of_a_wheel(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("auditwheel")
    monkeypatch.chdir(tmp_path)
    library(tmp_path, "int other() { return 1; }", name="libother.so")
    path = library(tmp_path, "int other();\nint f() { return other(); }", "-L.", "-lother")
    both = {"x/lib.so": path.read_bytes(), "x.libs/libother.so": Path("libother.so").read_bytes()}
    machine = json.loads(run("audit", "libother.so", "--output-format", "json").stdout)["platform"][
        "tag"
    ]
    name = machine.partition("_")[2].split("_", 2)[-1]
    alone = wheel(
        tmp_path / f"x-1-cp310-abi3-manylinux_2_28_{name}.whl", {"x/lib.so": path.read_bytes()}
    )
    done = run("audit", str(alone))
    assert f"runs on linux_{name} (" in done.stdout and ", with libother.so\n" in done.stdout
    assert done.code == 1
    assert (
        f"the library needs `libother.so`, which `manylinux_2_28_{name}` does not promise"
        in done.stderr
    )
    assert run("audit", str(wheel(alone, both))).code == 0
    anywhere = alone.rename(tmp_path / "x-1-cp310-abi3-win_amd64.whl")
    done = run("audit", str(anywhere))
    assert (
        f"`win_amd64` is no platform of {name} that a policy of manylinux describes" in done.stderr
    )


def test_newer_symbols_than_a_platform_has() -> None:
    pytest.importorskip("auditwheel")
    found = Platform("manylinux_2_34_x86_64", {"GLIBC": "2.34", "GLIBCXX": "3.4.29"}, ())
    tags = [
        "manylinux2014_x86_64",
        "manylinux_2_34_x86_64",
        "manylinux_2_39_x86_64",
        "linux_x86_64",
    ]
    [problem] = check_platform(found, tags, "x86_64")
    message = "the library needs GLIBC 2.34, GLIBCXX 3.4.29, which `manylinux2014_x86_64` does not promise"
    assert problem.message == message
