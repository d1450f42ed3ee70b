"""What an item in a list of a backend's file says of its kernel."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.loader.formats.test_vendors import kernels, read, said
from torchgen_lite.pipeline import generate

HEAD = "backend: PrivateUse1\ncpp_namespace: x\nuse_out_as_primary: true\ndevice_guard: true\nsupported:\n"
PLUGIN = "all_version: [v2.1]\nofficial:\n"
GUARD = "OptionalDeviceGuard device_guard("


def wrapper(folder: Path, text: str) -> str:
    """The generated wrapper of `add.out`."""
    files = generate(read(folder, text))
    [code] = [code for path, code in files.items() if path.endswith("register_privateuse1.cpp")]
    return code.partition(" wrapper_PrivateUse1_add_out(")[2].partition("\n}\n")[0]


@pytest.mark.parametrize(
    "item",
    [
        "add.out:\n    device_guard: false",
        "add.out:\n  device_guard: false",
        "func: add.out\n  device_guard: False",
        "op: add.out\n  device_guard: False",
    ],
)
def test_the_device_guard_of_an_item(tmp_path: Path, item: str) -> None:
    guarded = wrapper(tmp_path, f"{HEAD}- add.out\n")
    assert guarded.count(GUARD) == 1 and "check" in guarded
    plain = wrapper(tmp_path, f"{HEAD}- {item}\n")
    assert plain.count(GUARD) == 0 and "check" in plain


def test_a_guard_needs_both_the_file_and_the_item(tmp_path: Path) -> None:
    text = HEAD.replace("device_guard: true", "device_guard: false")
    code = "".join(generate(read(tmp_path, f"{text}- add.out: {{device_guard: true}}\n")).values())
    assert GUARD not in code


def test_how_devices_are_checked(tmp_path: Path) -> None:
    [add] = read(tmp_path, f"{PLUGIN}- func: add.out\n  device_check: NoCheck\n").functions
    assert add.device_check == "NoCheck" and add.device_guard


def test_a_kernel_that_the_out_variant_gives(tmp_path: Path) -> None:
    text = f"{PLUGIN}- func: add.Tensor\n  structured_delegate: add.out\n- func: add.out\n  structured: True\n"
    program = read(tmp_path, text)
    assert said(program) == []
    assert kernels(program) == {"aten::add.Tensor": [], "aten::add.out": ["PrivateUse1: add_out"]}
    assert program.functions[0].delegate == "aten::add.out" and program.functions[1].structured


def test_structured_beside_a_plain_kernel_for_autograd(tmp_path: Path) -> None:
    """What the first list says of the operator holds; the second one adds a kernel."""
    text = f"{HEAD}- abs: {{device_guard: false}}\nautograd:\n- abs\n"
    [function] = read(tmp_path, text).functions
    assert not function.device_guard and len(function.dispatch) == 2


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ("abs: {structured: true}", "TG310 `abs` is not structured where it is declared"),
        (
            "add.Tensor: {structured: true}",
            "TG310 `add.Tensor` is not structured where it is declared",
        ),
        (
            "add.out: {structured: frue}",
            "TG106 `structured` takes True or False, not `frue`",
        ),
        (
            "add.out: {structured: 'true'}",
            "TG106 `structured` takes True or False, not `true`",
        ),
        ("add.out: {device_guard: 1}", "TG106 `device_guard` takes True or False, not `1`"),
        ("add.out: {define_meta: true}", "TG116 `define_meta` needs `structured: true`"),
        (
            "add.out: {structured: true, structured_delegate: add.out}",
            "TG116 `structured` and `structured_delegate` exclude each other",
        ),
        ("add.out: {tags: core}", "TG102 an item in a list has no field `tags`"),
        ("add.out: {dispatch: {CPU: f}}", "TG102 an item in a list has no field `dispatch`"),
        ("add.out: {roll: }", "TG102 unknown field `roll`"),
        (
            "add.out: {structured: true}\n  structured: false",
            "TG105 `structured` is written twice",
        ),
        ("add.out: structured", "TG106 `supported` takes the name of an operator, not a mapping"),
    ],
)
def test_what_an_item_cannot_say(tmp_path: Path, item: str, message: str) -> None:
    assert said(read(tmp_path, f"{HEAD}- {item}\n")) == [message]


def test_where_a_structured_kernel_belongs(tmp_path: Path) -> None:
    [found] = read(tmp_path, f"{HEAD}- add.Tensor: {{structured: true}}\n").diagnostics
    assert str(found.help) == "put it on `add.out`"
    [found] = read(tmp_path, f"{HEAD}- abs: {{structured: true}}\n").diagnostics
    assert str(found.help) == "leave `structured` of `abs` out"


def test_options_of_what_another_file_declares(tmp_path: Path) -> None:
    """The entry there has fields of these names; an item elsewhere does not change it."""
    other = "- func: abs(Tensor self) -> Tensor\n  dispatch: {CPU: abs_cpu}\n"
    program = read(tmp_path, other, f"{HEAD}- abs: {{device_guard: false}}\n")
    assert said(program) == [
        "TG116 `device_guard` of `abs`, which has an entry elsewhere, is not read here"
    ]
    assert program.functions[0].device_guard


@pytest.mark.parametrize("backend", ["Vulkan", "Metal", "FPGA"])
def test_kernels_under_a_key_that_is_none(tmp_path: Path, backend: str) -> None:
    text = f"backend: {backend}\ncpp_namespace: x\nautograd:\n- abs\n"
    message = f"TG103 `{backend}` has no key `Autograd{backend}` for the kernels under `autograd`"
    assert said(read(tmp_path, text)) == [message]
    assert said(read(tmp_path, text.replace("\n- abs", ""))) == []


def test_a_backend_without_a_namespace(tmp_path: Path) -> None:
    message = "TG104 a backend file without `cpp_namespace`"
    for lists in ("supported:\n- add.out\n", "supported:\n", ""):
        text = f"backend: PrivateUse1\nuse_out_as_primary: true\n{lists}"
        assert said(read(tmp_path, text)) == [message]


def test_a_file_without_kernels_names_any_backend(tmp_path: Path) -> None:
    head = "backend: NOT_XLA\ncpp_namespace: x\n"
    assert said(read(tmp_path, f"{head}supported:\n")) == []
    assert "TG103 unknown dispatch key `NOT_XLA`" in said(read(tmp_path, f"{head}custom: [x]\n"))


def test_nodes_of_a_lazy_backend(tmp_path: Path) -> None:
    text = f"{HEAD}- abs\nnon_native:\n- func: scalar(Scalar value) -> Tensor\n"
    assert said(read(tmp_path, text)) == [
        "TG130 `non_native` asks for nodes of a lazy backend, which are not generated"
    ]
