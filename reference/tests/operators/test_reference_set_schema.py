"""`native_functions.yaml` itself: complete, well-formed, and in agreement with PyTorch's own file."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml

from torchgen_lite.loader.entry.fields import FIELDS

ROOT = Path(__file__).parents[3]
TEXT = (ROOT / "native_functions.yaml").read_text("utf-8")
# Every process of a run reads it; the reader in C, where there is one, is ten times as fast.
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
ENTRIES: list[dict[str, Any]] = yaml.load(TEXT, LOADER)
BY_NAME = {entry["func"].split("(")[0]: entry for entry in ENTRIES}
KEYS = {"CPU", "Meta", "SparseCPU", "CompositeImplicitAutograd", "CompositeExplicitAutograd"}
# Fields whose value is PyTorch's own; `dispatch` differs, for other keys and kernels exist there.
TAKEN_OVER: tuple[str, ...] = (
    "device_check",
    "structured",
    "structured_delegate",
    "structured_inherits",
)
TAKEN_OVER += ("ufunc_inner_loop", "cpp_no_default_args", "category_override")


def keys_of(entry: dict[str, Any]) -> dict[str, str]:
    return {
        key.strip(): kernel
        for keys, kernel in entry.get("dispatch", {}).items()
        for key in keys.split(",")
    }


def test_size_and_uniqueness() -> None:
    assert len(ENTRIES) >= 160
    assert len(BY_NAME) == len(ENTRIES)


def test_every_dispatch_key_is_one_of_the_reference_backends() -> None:
    used = {key for entry in ENTRIES for key in keys_of(entry)}
    assert used == KEYS


def test_the_opening_comment_documents_every_field() -> None:
    comment = TEXT[: TEXT.index("- func:")]
    described = set(re.findall(r"^#   ([a-z_0-9]+(?:, [a-z_]+)*)(?: |$)", comment, re.MULTILINE))
    words = {word for line in described for word in line.split(", ")}
    assert words == {field.name for field in FIELDS.values() if not field.retired}


@pytest.mark.parametrize(
    ("name", "dispatch"),
    [
        ("zero_", {"CPU": "zero_", "Meta": "zero_meta_", "SparseCPU": "zero_sparse_"}),
        ("sub.out", {"CPU": "sub_out", "SparseCPU": "sub_out_sparse"}),
        ("sub.Tensor", {"SparseCPU": "sub_sparse"}),
        ("add.Tensor", {"SparseCPU": "add_sparse"}),
        ("add.out", {"SparseCPU": "add_out_sparse_cpu"}),
        ("range", {"CompositeExplicitAutograd": "range"}),
        ("range.out", {"CPU": "range_out", "Meta": "range_out"}),
    ],
)
def test_dispatch_has_the_shape_of_pytorch(name: str, dispatch: dict[str, str]) -> None:
    assert keys_of(BY_NAME[name]) == dispatch


def test_structured_fields_of_the_arithmetic() -> None:
    assert BY_NAME["sub.Tensor"]["structured_delegate"] == "sub.out"
    assert BY_NAME["sub.out"]["structured"] is True
    assert BY_NAME["sub.out"]["structured_inherits"] == "TensorIteratorBase"
    assert set(BY_NAME["add.out"]["ufunc_inner_loop"]) == {"Generic", "ScalarOnly"}


def test_every_structured_group_is_whole() -> None:
    structured = {name for name, entry in BY_NAME.items() if entry.get("structured")}
    delegates = {entry.get("structured_delegate") for entry in ENTRIES} - {None}
    assert structured == delegates


# Against PyTorch's own files, which are read without importing torch.


def native_folder() -> Path:
    spec = find_spec("torchgen")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("PyTorch is not installed")
    return Path(spec.submodule_search_locations[0], "packaged", "ATen", "native")


@pytest.fixture(scope="module")
def pytorch() -> dict[str, dict[str, Any]]:
    text = (native_folder() / "native_functions.yaml").read_text("utf-8")
    entries = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return {entry["func"].split("(")[0]: entry for entry in entries}


@pytest.mark.torch
def test_every_schema_is_the_one_of_aten(pytorch: dict[str, dict[str, Any]]) -> None:
    wrong = [e["func"] for name, e in BY_NAME.items() if pytorch[name]["func"] != e["func"]]
    assert not wrong


@pytest.mark.torch
def test_fields_agree_with_pytorch(pytorch: dict[str, dict[str, Any]]) -> None:
    for name, entry in BY_NAME.items():
        for field in TAKEN_OVER:
            assert entry.get(field) == pytorch[name].get(field), f"{name}: {field}"


@pytest.mark.torch
def test_variants_agree_with_pytorch(pytorch: dict[str, dict[str, Any]]) -> None:
    def variants(entry: dict[str, Any]) -> set[str]:
        return {word.strip() for word in entry.get("variants", "function").split(",")}

    wrong = [name for name, e in BY_NAME.items() if variants(e) != variants(pytorch[name])]
    assert not wrong


@pytest.mark.torch
def test_tags_are_pytorchs(pytorch: dict[str, dict[str, Any]]) -> None:
    known = {entry["tag"] for entry in yaml.safe_load((native_folder() / "tags.yaml").read_text())}
    for name, entry in BY_NAME.items():
        tags = entry.get("tags", [])
        theirs = pytorch[name].get("tags", [])
        mine = {tags} if isinstance(tags, str) else set(tags)
        assert mine <= known, name
        assert mine == ({theirs} if isinstance(theirs, str) else set(theirs)), name
