"""What tests of wheels share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.shipping.environment import build_wheel


@pytest.fixture(scope="session")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Our own wheels, by what they are imported as; those with a runtime by the option's value for it."""
    folder = tmp_path_factory.mktemp("wheels")
    return {
        "torchgen_lite.runtime": build_wheel(ROOT, folder),
        "torchgen_lite_runtime": build_wheel(ROOT / "runtime", folder),
        "torchgen_lite_reference": build_wheel(ROOT / "reference", folder),
        "torchgen_lite_tools": build_wheel(ROOT / "tools", folder),
    }
