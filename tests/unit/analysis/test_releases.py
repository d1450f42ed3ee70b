"""TG340: keys, types and tags that a release in the project's range lacks."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.installed import RELEASE
from torchgen_lite import load
from torchgen_lite.diagnostics import render_concise
from torchgen_lite.key_tables import RELEASES
from torchgen_lite.loader.entry.known_tags import KNOWN_TAGS, TAGS_SINCE
from torchgen_lite.schema.type_names import TYPES_SINCE


@pytest.mark.parametrize(
    ("project", "fields", "found"),
    [
        ("", "dispatch: {AutocastMAIA: k, CPU: k}", ""),
        (">=2.8", "dispatch: {AutocastMAIA: k, CPU: k}", ""),
        (
            ">=2.6",
            "dispatch: {AutocastMAIA: k, CPU: k}",
            "ops.yaml:2:14: error[TG340] PyTorch 2.6 to 2.7 has no dispatch key 'AutocastMAIA'",
        ),
        (
            ">=2.6",
            "dispatch: {AutocastMTIA: k, CPU: k}",
            "ops.yaml:2:14: error[TG340] PyTorch 2.6 has no dispatch key 'AutocastMTIA'",
        ),
        (
            ">=2.9,<2.12",
            "tags: [reduction, out_variant]",
            "ops.yaml:2:9: error[TG340] PyTorch 2.9 has no tag 'reduction'",
        ),
        (">=2.6", "{tags: reduction, torch: '>=2.10'}", ""),
        (">=2.6", "tags: [core, pointwise]", ""),
    ],
)
def test_releases(tmp_path: Path, project: str, fields: str, found: str) -> None:
    (tmp_path / "torchgen_lite.toml").write_text(f'schema = ["ops.yaml"]\ntorch = "{project}"\n')
    lines = fields.strip("{}").split(", torch") if fields.startswith("{") else [fields]
    body = f"  {lines[0]}\n" + "".join(f"  torch{line}\n" for line in lines[1:])
    (tmp_path / "ops.yaml").write_text(f"- func: my::f(Tensor x) -> Tensor\n{body}")
    printed = render_concise(load(root=tmp_path).diagnostics)
    assert printed.startswith(found) and bool(printed) == bool(found)


def test_a_type_that_the_first_release_does_not_read(tmp_path: Path) -> None:
    (tmp_path / "torchgen_lite.toml").write_text('torch = ">=2.6"\n')
    (tmp_path / "native_functions.yaml").write_text("- func: my::f(SymBool? flag) -> ()\n")
    printed = render_concise(load(root=tmp_path).diagnostics)
    assert ":1:15: error[TG340] PyTorch 2.6 to 2.8 has no type 'SymBool'" in printed


@pytest.mark.parametrize(
    ("project", "found"),
    [
        (
            ">=2.6",
            "ops.yaml:1:30: error[TG340] PyTorch 2.13 to 2.15 has no type 'Dimname', but is in the "
            "range of 'torch': not there (add 'torch: \"<2.13\"' to the entry, or set 'torch = "
            '"<2.13"\' in the configuration)\n',
        ),
        ("<2.13", ""),
        ("==2.9.*", ""),
    ],
)
def test_types(tmp_path: Path, project: str, found: str) -> None:
    (tmp_path / "torchgen_lite.toml").write_text(f'schema = ["ops.yaml"]\ntorch = "{project}"\n')
    yaml = "- func: aten::f(Tensor self, Dimname[]? names) -> Tensor\n  tags: out\n"
    (tmp_path / "ops.yaml").write_text(yaml)
    printed = render_concise(load(root=tmp_path).diagnostics)
    assert printed == found


@pytest.mark.torch
def test_the_file_of_the_installed_torch_is_for_its_own_release(tmp_path: Path) -> None:
    (tmp_path / "torchgen_lite.toml").write_text('torch = ">=2.6"\n')
    assert not load(root=tmp_path, torch=True).diagnostics


@pytest.mark.torch
def test_the_tags_of_the_installed_torch() -> None:
    torch = pytest.importorskip("torch")
    release = max(r for r in RELEASES if r <= RELEASE[:2])
    known = {tag for tag in KNOWN_TAGS if TAGS_SINCE.get(tag, release) <= release}
    assert set(torch.Tag.__members__) == known


@pytest.mark.torch
@pytest.mark.parametrize("name", TYPES_SINCE)
def test_the_types_that_the_installed_torch_reads(name: str) -> None:
    torch = pytest.importorskip("torch")
    text = f"my::f({name} x) -> ()"
    if TYPES_SINCE[name] <= RELEASE:
        torch._C.parse_schema(text)
    else:
        with pytest.raises(RuntimeError):
            torch._C.parse_schema(text)
