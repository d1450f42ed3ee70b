"""Which backend files are taken, beside `torchgen.gen_backend_stubs`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

from tests.torchgen.conftest import Theirs
from tests.unit.loader.formats.test_vendors import FORMATS
from torchgen_lite import pipeline
from torchgen_lite.analysis.native import load_native
from torchgen_lite.loader.config.project import Config
from torchgen_lite.loader.torch.releases import INSTALLED
from torchgen_lite.pipeline import lint, load

pytestmark = pytest.mark.torch

# Keys with and without an autograd key, keys that PyTorch's own file has, words that are no keys.
BACKENDS = (
    "XLA Lazy PrivateUse1 Vulkan Metal FPGA VE MAIA CPU SparseXLA AutogradXLA NOT_XLA".split()
)
LISTS = (
    "supported:\n",
    "supported: [abs]\n",
    "autograd: [sub.Tensor]\n",
    "supported: [abs]\nautograd: [sub.Tensor]\n",
)
FLAGS = ("use_out_as_primary", "device_guard")
TRUTHS = ("true", "False", "frue", "'true'", "1", "", "[true]", "yes")
LIST_FIELDS = ("supported", "autograd", "symint", "full_codegen")
LIST_VALUES = ("", "abs", "[]", "[abs_BAD]", "[abs, add.Tensor]", "[add]", "[abs, abs]")
HEADS = (
    "backend: XLA\n",
    "backend: XLA\ncpp_namespace:\n",
    "backend: XLA\ncpp_namespace:\t\n",
    "cpp_namespace: x\n",
    "backend:\ncpp_namespace: x\n",
    "backend: XLA\ncpp_namespace: x\nclass_name:\n",
    "backend: XLA\ncpp_namespace: a::b\nclass_name: C\n",
)
MORE = ("invalid_key: v\n", "suported: [abs]\n", "extra_headers: a.h\n", "autocast: like CUDA\n")
VARIANTS = ("add.Tensor", "add_.Tensor", "add.out", "abs")
HEAD = "backend: XLA\ncpp_namespace: x\n"

# What is taken here and not there, or the other way round, and why: docs/backends.md says so.
TAKEN = {
    **{
        f"backend: CPU\ncpp_namespace: x\n{listed}": "kernels in the place of PyTorch's"
        for listed in LISTS
        if "supported: [" in listed
    },
    **{
        f"backend: MAIA\ncpp_namespace: x\n{listed}": "c10 has this key, torchgen's list lacks it"
        for listed in LISTS
        if "autograd" in listed
    },
    f"{HEAD}autograd: \n": "an empty list",
    f"{HEAD}full_codegen: \n": "an empty list",
    f"{HEAD}supported: [abs]\nextra_headers: a.h\n": "torchgen names the field, and refuses it",
    f"{HEAD}supported: [abs]\nautocast: like CUDA\n": "a field of ours",
}
REFUSED = {
    **{f"{HEAD}{flag}: yes\nsupported: [abs]\n": "no boolean of YAML 1.2" for flag in FLAGS},
    **{
        f"{HEAD}{field}: [abs, abs]\n": "two kernels of one operator"
        for field in LIST_FIELDS
        if field != "symint"
    },
    **{
        f"{HEAD}class_name:\n{listed}": "a field without a value"
        for listed in ("supported:\n", "supported: [abs]\n")
    },
}


@pytest.fixture(scope="module", autouse=True)
def read_once() -> Iterator[None]:
    """PyTorch's file is read once, as each of these files is small."""
    native = load_native(Config(Path(), native=INSTALLED))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pipeline, "load_native", lambda config: native)
        yield


def files() -> Iterator[str]:
    for backend, listed in product(BACKENDS, LISTS):
        yield f"backend: {backend}\ncpp_namespace: x\n{listed}"
    for flag, value in product(FLAGS, TRUTHS):
        yield f"{HEAD}{flag}: {value}\nsupported: [abs]\n"
    for field, value in product(LIST_FIELDS, LIST_VALUES):
        yield f"{HEAD}{field}: {value}\n"
    for head, listed in product(HEADS, ("supported:\n", "supported: [abs]\n")):
        yield head + listed
    for line in MORE:
        yield f"{HEAD}supported: [abs]\n{line}"
    for supported, autograd in product(VARIANTS, VARIANTS):
        yield f"{HEAD}supported: [{supported}]\nautograd: [{autograd}]\n"


def test_verdicts_are_those_of_torchgen(tmp_path: Path, theirs: Theirs) -> None:
    """Files that are made of options and values, the right ones and the wrong ones."""
    taken, refused = set(), set()
    for text in files():
        is_taken = not errors(tmp_path, text)
        if is_taken != takes(theirs, tmp_path, text):
            (taken if is_taken else refused).add(text)
    assert taken == set(TAKEN)
    assert refused == set(REFUSED)


def errors(folder: Path, text: str) -> list[str]:
    """What `lint --torch` refuses."""
    (folder / "ops.yaml").write_text(text)
    program = lint(load(["ops.yaml"], root=folder, torch=True))
    return [found.code for found in program.diagnostics if found.severity == "error"]


def takes(theirs: Theirs, folder: Path, text: str) -> bool:
    """Whether torchgen takes the file. Some of what it does not take ends in a TypeError."""
    from torchgen.gen_backend_stubs import parse_backend_yaml

    path = folder / "ops.yaml"
    path.write_text(text)
    try:
        parse_backend_yaml(str(path), theirs.grouped, dict(theirs.indices))
    except (AssertionError, TypeError, AttributeError):
        return False
    return True


@pytest.mark.parametrize("form", FORMATS)
def test_names_of_structured_operators(tmp_path: Path, theirs: Theirs, form: str) -> None:
    """Vendors name operators and leave their kernels to PyTorch, those with structured kernels, too."""
    head, item = FORMATS[form]
    names = [
        str(function.func.name)
        for group in theirs.groups
        if group.structured
        for function in group.functions()
    ]
    assert len(names) > 500
    assert errors(tmp_path, head + "".join(item.format(name) for name in names)) == []


PRIV1 = "backend: PrivateUse1\ncpp_namespace: at::priv1::native\ndevice_guard: true\n"
OUT_FIRST = f"{PRIV1}use_out_as_primary: true\nsupported:\n"

# The options of an item are newer than torchgen 2.13. Verdicts are those of PyTorch's own test of later sources,
# `tools/test/test_gen_backend_stubs.py`; its other files are in the grid above.
OPTIONS = [
    ("mul.out: {structured: true}", True),
    ("sub.out: {structured: true, define_meta: true}", True),
    ("mul.out: {structured: true, define_meta: false}", True),
    ("div.out: {device_guard: false}", True),
    ("mul.out: {define_meta: true}", False),
    ("abs: {structured: true}", False),
    ("mul.out: {structred: true}", False),
    ("upsample_nearest1d.out: {structured: true}", True),
    ("minimum.out: {structured: true, define_meta: true}", True),
    ("sort.values_stable: {structured: true, define_meta: true}", True),
    ("unbind_copy.int_out", True),
]


@pytest.mark.parametrize(("item", "is_taken"), OPTIONS)
@pytest.mark.parametrize("more", ["", "- eq.Tensor\n"], ids=["alone", "beside"])
def test_options_of_an_item(tmp_path: Path, item: str, is_taken: bool, more: str) -> None:
    assert (not errors(tmp_path, f"{OUT_FIRST}- {item}\n{more}")) == is_taken


@pytest.mark.parametrize(
    "text",
    [
        f"{OUT_FIRST}- mul.out:\n  structured: true\n",
        f"{PRIV1}use_out_as_primary: false\nsupported:\n- maximum.out: {{structured: true}}\n",
    ],
    ids=["flat", "without use_out_as_primary"],
)
def test_options_that_only_this_project_takes(tmp_path: Path, text: str) -> None:
    assert errors(tmp_path, text) == []
