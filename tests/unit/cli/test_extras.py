"""The command that brings an extra or the tools, for each way of installing the generator that pip records."""

from __future__ import annotations

import json
import sys
from importlib import metadata
from pathlib import Path
from typing import NoReturn

import pytest

from tests.conftest import ROOT
from torchgen_lite.cli.extras import TOOLS, install_command

REPOSITORY = "https://example.org/torchgen_lite"
GIT = {"vcs": "git", "commit_id": "b1946ac9"}


@pytest.mark.parametrize(
    ("record", "extra", "tools"),
    [
        (None, 'pip install "torchgen-lite[watch]"', 'pip install "torchgen-lite-tools"'),
        (
            {"url": "file:///home/me/my%20clone", "dir_info": {"editable": True}},
            'pip install -e "/home/me/my clone[watch]"',
            'pip install -e "/home/me/my clone/tools"',
        ),
        (
            {"url": "file:///home/me/clone", "dir_info": {}},
            'pip install "/home/me/clone[watch]"',
            'pip install "/home/me/clone/tools"',
        ),
        (
            {"url": REPOSITORY, "vcs_info": {**GIT, "requested_revision": "v0.1"}},
            f'pip install "torchgen-lite[watch] @ git+{REPOSITORY}@v0.1"',
            f'pip install "{TOOLS} @ git+{REPOSITORY}@v0.1#subdirectory=tools"',
        ),
        (
            {"url": REPOSITORY, "vcs_info": GIT},
            f'pip install "torchgen-lite[watch] @ git+{REPOSITORY}@b1946ac9"',
            f'pip install "{TOOLS} @ git+{REPOSITORY}@b1946ac9#subdirectory=tools"',
        ),
        (
            {"url": "file:///tmp/torchgen_lite-0.1.0-py3-none-any.whl", "archive_info": {}},
            'pip install "torchgen-lite[watch] @ file:///tmp/torchgen_lite-0.1.0-py3-none-any.whl"',
            'pip install "torchgen-lite-tools"',
        ),
    ],
)
@pytest.mark.skipif(sys.platform == "win32", reason="has the paths of POSIX")
def test_the_command_is_for_how_the_tool_was_installed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, record: object, extra: str, tools: str
) -> None:
    folder = tmp_path / "torchgen_lite-0.1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: torchgen-lite\nVersion: 0.1.0\n")
    if record is not None:
        (folder / "direct_url.json").write_text(json.dumps(record))
    monkeypatch.syspath_prepend(tmp_path)
    assert install_command("torchgen-lite[watch]") == extra
    assert install_command(TOOLS) == tools


def test_a_clone_that_nobody_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    def distribution(name: str) -> NoReturn:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "distribution", distribution)
    assert install_command(TOOLS) == f'pip install -e "{ROOT}/tools"'
