"""TG340: keys and tags that a release in the project's range has not got."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.installed import RELEASE
from torchgen_lite import load
from torchgen_lite.diagnostics import render_concise
from torchgen_lite.key_tables import RELEASES
from torchgen_lite.loader.known_tags import KNOWN_TAGS, TAGS_SINCE


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


@pytest.mark.torch
def test_the_tags_of_the_installed_torch() -> None:
    torch = pytest.importorskip("torch")
    release = max(r for r in RELEASES if r <= RELEASE[:2])
    known = {tag for tag in KNOWN_TAGS if TAGS_SINCE.get(tag, release) <= release}
    assert set(torch.Tag.__members__) == known
