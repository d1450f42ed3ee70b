"""The modules of our devices have what PyTorch reads of them, or the table says why not.

PyTorch reads some names with a default, so that nothing is raised where they are missing: checkpoint kept no random numbers
of a device without `_initialized`. A new release reads other names, and then the table differs from its sources.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.conformance.device_reads import defined_by, read_by_torch
from tests.conftest import ROOT
from tests.installed import RELEASE
from torchgen_lite.loader.config.project import tomllib

TABLE: dict[str, dict[str, Any]] = tomllib.loads(
    Path(__file__).with_name("device_module.toml").read_text("utf-8")
)
EXPECTED = {name for name, row in TABLE.items() if "lacks" not in row}
# What OpenReg and PyTorch's own devices have besides, which programs call.
OF_PROGRAMS = {"init", "seed", "seed_all", "get_rng_state_all", "set_rng_state_all", "_lazy_init"}
IN_CPP = (
    ROOT / "examples" / "torch_backend_cpp" / "sim" / "__init__.py",
    ROOT / "templates" / "init" / "torch-backend-cpp" / "mylib" / "__init__.py",
)
IN_PYTHON = ROOT / "examples" / "torch_backend" / "toy_backend" / "device.py"


@pytest.fixture(scope="module")
def read() -> dict[str, set[str]]:
    import torch

    return read_by_torch(Path(torch.__file__).parent)


@pytest.mark.torch
def test_the_table_has_what_the_installed_torch_reads(read: dict[str, set[str]]) -> None:
    assert set(read) - set(TABLE) == set()
    if RELEASE[:2] == (2, 13):
        assert {name: sorted(files) for name, files in read.items()} == {
            name: row["read"] for name, row in TABLE.items() if "since" not in row
        }


def test_the_sources_are_read_in_each_of_their_forms(tmp_path: Path) -> None:
    (tmp_path / "some.py").write_text(
        "device_module = torch.get_device_module(x)\n"
        "class Some:\n"
        "    def method(self, device_handle, other):\n"
        "        name = 'by_variable'\n"
        "        if hasattr(mod := getattr(torch, device.type, None), 'asked'):\n"
        "            getattr(mod, name)(other.unrelated, getattr(torch, 'fixed').unrelated)\n"
        "        return device_handle.attribute, getattr(device_module, 'with_default', None)\n"
        "_get_custom_mod_func('by_function')\n"
        "mod.unrelated\n"
    )
    names = {"asked", "by_variable", "attribute", "with_default", "by_function"}
    assert set(read_by_torch(tmp_path)) == names


@pytest.mark.parametrize("path", IN_CPP, ids=lambda path: path.parent.name)
def test_devices_in_cpp_have_all_of_it(path: Path) -> None:
    assert (EXPECTED | OF_PROGRAMS) - defined_by(path) == set()


def test_the_device_in_python_has_what_is_missed_without_a_word() -> None:
    """It has no generator of its own."""
    silent = {name for name, row in TABLE.items() if "without" in row} - {"default_generators"}
    missing = (silent | OF_PROGRAMS) - defined_by(IN_PYTHON, "ToyModule")
    assert missing == {"seed", "_lazy_init"}


def test_the_docs_name_all_of_it() -> None:
    docs = (ROOT / "docs" / "backends.md").read_text("utf-8")
    assert [name for name in TABLE if f"`{name}`" not in docs and name != "__name__"] == []
