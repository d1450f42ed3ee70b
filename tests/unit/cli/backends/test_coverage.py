"""`coverage`: verdicts, selections, and the comparison with verdicts saved earlier."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.browser import in_a_browser, show
from tests.conftest import Result

Run = Callable[..., Result]
KEY = ("--key", "PrivateUse1")


def verdicts(run: Run, *asked: str) -> dict[str, tuple[str, str]]:
    result = run("coverage", *asked, "--output-format", "json")
    found = json.loads(result.stdout)["operators"]
    return {one["name"].removeprefix("aten::"): (one["verdict"], one["by"]) for one in found}


def test_where_calls_end(run: Run, backend: Path) -> None:
    assert verdicts(run, *KEY) == {
        "add.Tensor": ("through", "aten::add.out"),
        "add_.Tensor": ("through", "aten::add.out"),
        "add.out": ("own", "add_mine"),
        "isnan": ("nothing", ""),
        "isnan.out": ("nothing", "aten::isnan"),
        "square": ("own", "square_mine"),
        "clone": ("composite", "CompositeExplicitAutograd: clone"),
        # The entry has another schema than PyTorch; `lint` and `upgrade` report that.
        "mm": ("own", "mm_mine"),
    }
    fallen = verdicts(run, *KEY, "--fallback")
    assert {name for name, (verdict, _) in fallen.items() if verdict == "fallback"} == {
        "isnan",
        "isnan.out",
    }


def test_the_key_of_a_backend_of_pytorch(run: Run, backend: Path) -> None:
    (backend / "ops.yaml").write_text("")
    found = verdicts(run, "--key", "CUDA")
    assert found["isnan"] == ("own", "isnan") and found["isnan.out"] == ("through", "aten::isnan")
    assert found["square"] == ("composite", "CompositeImplicitAutograd: square")
    assert found["add.Tensor"] == ("nothing", "aten::add.out")


def test_text(run: Run, backend: Path) -> None:
    result = run("coverage", *KEY, "--show", "nothing")
    assert (result.code, result.stderr) == (0, "")
    assert result.stdout == """\
PrivateUse1: 8 operators
  own        3  37.5 %  a kernel of its own
  through    2  25.0 %  the kernel of a variant
  composite  1  12.5 %  composed of other operators
  fallback   0   0.0 %  the fallback of the backend
  nothing    2  25.0 %  nothing

  2 of 3 core operators are served

nothing: nothing
  aten::isnan
  aten::isnan.out  aten::isnan
"""


def test_selections(run: Run, backend: Path) -> None:
    assert set(verdicts(run, *KEY, "--only", "core")) == {"add.Tensor", "isnan", "mm"}
    assert set(verdicts(run, *KEY, "--like", "CUDA")) == {"isnan", "isnan.out"}
    (backend / "log").write_text(
        "[W] falls back: aten::mm\n%3 = torch.ops.aten.clone.default(%2)\nisnan.out\n"
    )
    assert set(verdicts(run, *KEY, "--calls", "log")) == {"mm", "clone", "isnan.out"}
    # A graph names the overload, a profile does not.
    (backend / "log").write_text("  aten::isnan   12.3 ms\n")
    assert set(verdicts(run, *KEY, "--calls", "log")) == {"isnan", "isnan.out"}
    (backend / "log").write_text("isnan = torch.ops.aten.isnan.default(x)\n")
    assert set(verdicts(run, *KEY, "--calls", "log")) == {"isnan"}


def test_a_tag_alone(run: Run, backend: Path) -> None:
    text = run("coverage", *KEY, "--only", "core").stdout
    assert text.startswith("PrivateUse1: 3 operators\n")
    assert text.endswith("\n  2 of 3 core operators are served\n")


def test_of_a_selection_no_share_of_a_tag_is_told(run: Run, backend: Path) -> None:
    (backend / "log").write_text("aten::mm aten::isnan")
    for narrowed in (("--calls", "log"), ("--like", "CUDA")):
        assert "operators are served" not in run("coverage", *KEY, *narrowed).stdout
    text = run("coverage", *KEY, "--calls", "log", "--only", "core").stdout
    assert "operators are served" not in text


@pytest.mark.parametrize("option", ["--calls", "--against"])
def test_a_file_of_any_size_is_not_read(
    run: Run, backend: Path, option: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (backend / "large").write_text("aten::mm\n" * 10_000)
    monkeypatch.setattr("torchgen_lite.loader.sources.MAX_BYTES", 50_000)
    result = run("coverage", *KEY, "--schema", "ops.yaml", option, "large")
    assert (result.code, result.stdout) == (1, "")
    assert "error[TG110]: `large` has more than the 50000 bytes allowed" in result.stderr


def test_verdicts_are_kept(run: Run, backend: Path) -> None:
    assert run("coverage", *KEY, "--write", "kept.json").code == 0
    assert run("coverage", *KEY, "--against", "kept.json").code == 0
    text = (backend / "ops.yaml").read_text()
    (backend / "ops.yaml").write_text(
        text.replace("add_mine", "add_mine\n- func: add.Tensor").replace(
            "- func: square\n  dispatch:\n    PrivateUse1: square_mine\n", ""
        )
    )
    result = run("coverage", *KEY, "--against", "kept.json", "--output-format", "concise")
    # `square` is a composite operator now.
    assert (result.code, result.stderr) == (
        1,
        "kept.json:11:3: error[TG370] 'aten::square' is served worse: a kernel of its own "
        "before, composed of other operators now: composite\n",
    )
    result = run("coverage", *KEY, "--against", "kept.json", "--output-format", "markdown")
    assert "**served worse than before**" in result.stdout
    (backend / "kept.json").write_text("[]")
    assert "has no verdicts" in run("coverage", *KEY, "--against", "kept.json").stderr


def test_what_is_registered_in_cpp(run: Run, backend: Path) -> None:
    (backend / "src").mkdir()
    (backend / "src/kernels.cpp").write_text("""\
TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("isnan", isnan);  // m.impl("clone", clone);
  m.impl(TORCH_SELECTIVE_NAME("aten::add.out"), TORCH_FN(add_out));
}
TORCH_LIBRARY_IMPL(aten, CPU, m) { m.impl("mm", mm); }
TORCH_LIBRARY_IMPL(_, PrivateUse1, m) { m.fallback(torch::CppFunction::makeFromBoxedFunction<&f>()); }
""")
    found = verdicts(run, *KEY, "--scan", "src")
    assert {name: verdict for name, (verdict, _) in found.items()} == {
        "add.Tensor": "through",
        "add_.Tensor": "through",
        "add.out": "own",
        "isnan": "own",
        "isnan.out": "through",
        "square": "composite",
        "clone": "composite",
        "mm": "fallback",
    }


def test_pages(run: Run, backend: Path) -> None:
    result = run("coverage", *KEY, "--output-format", "markdown", "--html", "page.html")
    assert result.stdout.startswith("## Coverage of PrivateUse1\n\n**PrivateUse1: 8 operators**\n")
    assert "| own | 3 | 37.5 % | a kernel of its own |\n" in result.stdout
    page = (backend / "page.html").read_text()
    assert (
        '["aten::add.out","own","add_mine"]' in page and "<h1>Coverage of PrivateUse1</h1>" in page
    )
    assert run("coverage", *KEY, "--html", "no/such/page.html").code == 2


USE_THE_PAGE = """
<script>
const box = document.getElementById("search");
box.value = "OUT own";
box.dispatchEvent(new Event("input"));
</script>
"""


@in_a_browser
def test_searching_in_a_browser(run: Run, backend: Path) -> None:
    """The search finds words in any order, in any column and in any case."""
    page = backend / "page.html"
    assert run("coverage", *KEY, "--html", "page.html").code == 0
    page.write_text(page.read_text() + USE_THE_PAGE)
    shown = show(page.as_uri())
    assert '<span id="count">1 of 8</span>' in shown
    assert "<tr><td>aten::add.out</td><td>own</td><td>add_mine</td></tr></table>" in re.sub(
        r"</?tbody>", "", shown
    )


def test_mistakes(run: Run, backend: Path) -> None:
    assert "did you mean `PrivateUse1`" in run("coverage", "--key", "PrivatUse1").stderr
    assert "did you mean `core`" in run("coverage", *KEY, "--only", "cor").stderr
    assert run("coverage", *KEY, "--native", "none.yaml").code == 2
    (backend / "ops.yaml").write_text("- func: relu(Tensr self) -> Tensor\n")
    assert run("coverage", *KEY).code == 1


def test_without_pytorch_a_file_of_it_is_asked_for(
    run: Run, backend: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("torchgen_lite.loader.torch_files._find_package", lambda name: [])
    (backend / "torchgen_lite.toml").write_text('schema = ["ops.yaml"]\n')
    assert "name a wheel or a path: `native`, `--native`" in run("coverage", *KEY).stderr
    assert run("coverage", *KEY, "--native", "new.yaml").code == 0
