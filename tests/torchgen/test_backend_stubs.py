"""The code that we generate from a backend's file, compared with that of `torchgen.gen_backend_stubs`."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.cpp.compiling import check_syntax, needs_compiler, quick_torch, write_files
from tests.installed import needs_torch
from tests.torchgen.conftest import Theirs
from torchgen_lite import Program, generate, load
from torchgen_lite.analysis.policy import PYTORCH
from torchgen_lite.analysis.registrations import registrations
from torchgen_lite.targets import TARGETS

pytestmark = pytest.mark.torch

SUPPORTED = """
_copy_from _copy_from_and_resize _foreach_add.List _foreach_add_.List _foreach_mul.Scalar _foreach_mul_.Scalar
_local_scalar_dense _softmax _to_copy abs add.Scalar add.Tensor addmm amax aminmax arange.start_out as_strided
bernoulli bernoulli_.float bmm cat clamp clone convolution_overrideable cumsum diagonal_copy embedding
empty.memory_format empty_strided expand eye.out fill_.Scalar gather index.Tensor index_put_ isnan item linspace
log_softmax.int logical_and lt.Scalar max.dim mean.dim min.dim mm mul.Tensor mul.out native_batch_norm
native_batch_norm_backward native_dropout native_layer_norm nonzero normal_ random_ random_.from relu relu_ resize_
roll scatter.src scatter_add select.int set_.source_Tensor slice.Tensor sort split.Tensor split_with_sizes_copy stack
std.correction sum.dim_IntList t_ topk transpose.int unbind.int unsafe_split.Tensor upsample_nearest2d
upsample_nearest2d.vec var_mean.correction view_copy where.self zero_
"""
LISTS = {
    "supported": SUPPORTED,
    "full_codegen": "tanh silu",
    "symint": "as_strided empty.memory_format empty_strided expand roll view_copy",
    "autograd": "einsum linear max_pool2d max_pool3d",
    "ir_gen": "abs",
}
HEAD = "backend: XLA\ncpp_namespace: torch_xla\nclass_name: XLANativeFunctions\n"
SETTINGS = 'schema = ["ops.yaml"]\nnative = "torch"\ntargets = ["cpp-torch"]\n'
SCOPE = "torch_xla::XLANativeFunctions::"


class Registered(NamedTuple):
    """What one `m.impl` registers: the backend's kernel, the copies it makes, and its device checks and guard."""

    kernel: str
    copies: tuple[tuple[str, str], ...]
    checked: tuple[str, ...]
    guarded: str


def backend_file(*flags: str) -> str:
    lists = [
        f"{name}:\n" + "".join(f"  - {item}\n" for item in names.split())
        for name, names in LISTS.items()
    ]
    return HEAD + "".join(f"{flag}: true\n" for flag in flags) + "".join(lists)


def project(folder: Path, text: str) -> Program:
    write_files(folder, {"ops.yaml": text, "torchgen_lite.toml": SETTINGS})
    return load(root=folder)


def our_files(folder: Path, text: str) -> dict[str, str]:
    program = project(folder, text)
    assert [one.code for one in program.diagnostics] == [
        "TG130"
    ], "torchgen leaves full_codegen to another generator"
    files = generate(program, targets=["cpp-torch"])
    return {Path(path).name: text for path, text in files.items()}


def their_files(folder: Path, text: str) -> dict[str, str]:
    """The files that torchgen writes, in its own process: it adds the backend to its copy of PyTorch's file."""
    (folder / "theirs").mkdir()
    (folder / "backend.yaml").write_text(text)
    command = [sys.executable, "-m", "torchgen.gen_backend_stubs", "-s", "backend.yaml"]
    subprocess.run([*command, "-o", "theirs"], cwd=folder, check=True)
    return {path.name: path.read_text() for path in (folder / "theirs").iterdir()}


def plain(text: str) -> str:
    """The text without comments and in one style."""
    text = re.sub(r"//.*|^#.*", "", text, flags=re.MULTILINE)
    text = re.sub(r"\s+", " ", text).replace(" &", "&").replace("::std::", "std::")
    return re.sub(r"(\(|::) ", r"\1", re.sub(r",\s*", ", ", text))


def declared(text: str) -> list[str]:
    return re.findall(r"static ([^;]+\));", plain(text))


_CHECKED = r"check_and_update_common_device\(common_device, (\w+),"
_GUARDED = r"DeviceGuard device_guard\((?:at::)?(?:c10::)?\w+\((\w+)\)\)"
_COPIED = r"at::(_copy_from\w*)\([^;]*, (\w+)(?:\[|\.at|\))"


def registered(text: str, key: str) -> dict[tuple[str, str], Registered]:
    """The registrations for a key, by key and operator name."""
    text = plain(text)
    blocks = "".join(re.findall(rf"TORCH_LIBRARY_IMPL\(\w+, {key}, m\) {{(.*?)}}", text))
    names = re.findall(r'm\.impl\( ?"([^"]+)", TORCH_FN\((?:::)?([\w:]+)\)\);', blocks)
    bodies = dict(re.findall(r"\b(\w+)\([^(){}]*\) (\{[^}]*(?:\{[^}]*\}[^}]*)?\})", text))
    found = {}
    for name, function in names:
        body = bodies.get(function, function)
        called = re.search(r"_tmp = (\w+)\(", body)
        copies = re.findall(_COPIED, body)
        device = bodies[called[1]] if called else body
        kernel = re.search(rf"{SCOPE}(\w+)", bodies[called[1]] if called else body)
        guarded = re.search(_GUARDED, device)
        checked = tuple(re.findall(_CHECKED, device))
        assert kernel is not None, name
        found[key, name] = Registered(
            kernel[1], tuple(copies), checked, guarded[1] if guarded else ""
        )
    return found


def everything(files: dict[str, str], *names: str) -> dict[tuple[str, str], Registered]:
    keys = zip(names, ("XLA", "AutogradXLA"))
    return {pair: one for name, key in keys for pair, one in registered(files[name], key).items()}


@needs_torch((2, 12), "torchgen.gen_backend_stubs needed a checkout of PyTorch before 2.12")
@pytest.mark.parametrize("flag", ["", "use_out_as_primary", "device_guard"])
def test_the_same_kernels_and_registrations(tmp_path: Path, flag: str) -> None:
    text = backend_file(*filter(None, [flag]))
    ours, theirs = our_files(tmp_path, text), their_files(tmp_path, text)
    members = declared(theirs["XLANativeFunctions.h"])
    assert sorted(declared(ours["XLANativeFunctions.h"])) == sorted(members)
    mine = everything(ours, "register_xla.cpp", "register_xla.cpp")
    expected = everything(theirs, "RegisterXLA.cpp", "RegisterAutogradXLA.cpp")
    assert mine.keys() == expected.keys()
    assert len(members) > 80 and (len(expected) == len(members)) == (flag == "use_out_as_primary")
    for pair, one in expected.items():
        if pair[1].startswith("_copy_from"):
            # With this check, an operator that copies between devices could not be called.
            one = one._replace(checked=())
        if not one.copies:
            assert mine[pair] == one, pair
            continue
        # torchgen's functional wrapper guards a device, but not that of `out`.
        assert mine[pair][:2] == one[:2], pair
        assert bool(mine[pair].guarded) == bool(one.guarded), pair
        assert set(one.checked) <= set(mine[pair].checked), pair


@needs_compiler
def test_it_compiles(tmp_path: Path) -> None:
    program = project(tmp_path, backend_file("device_guard"))
    write_files(tmp_path, generate(program, targets=["cpp-torch"]))
    include, source = tmp_path / "cpp-torch" / "include", "cpp-torch/src/register_xla.cpp"
    assert check_syntax(tmp_path, source, compiler=quick_torch(), includes=[include]) == (True, "")


@pytest.mark.parametrize("which", ["functional", "every"])
def test_all_operators(tmp_path: Path, theirs: Theirs, which: str) -> None:
    """The registrations if all operators of a kind are listed; those that torchgen cannot generate get a warning."""
    from torchgen.dest import RegisterDispatchKey
    from torchgen.gen_backend_stubs import parse_backend_yaml
    from torchgen.model import DispatchKey, NativeFunction, SchemaKind
    from torchgen.selective_build.selector import SelectiveBuilder
    from torchgen.utils import Target

    functions = [
        f for g in theirs.grouped for f in ([g] if isinstance(g, NativeFunction) else g.functions())
    ]
    names = [
        str(f.func.name)
        for f in functions
        if which == "every" or f.func.kind() is SchemaKind.functional
    ]
    program = project(tmp_path, f"{HEAD}supported:\n" + "".join(f"- {name}\n" for name in names))
    parsed = parse_backend_yaml(str(tmp_path / "ops.yaml"), theirs.grouped, dict(theirs.indices))
    register = RegisterDispatchKey(
        parsed.backend_indices[DispatchKey.XLA],
        Target.REGISTRATION,
        SelectiveBuilder.get_nop_selector(),
        rocm=False,
        symint=True,
        class_method_name="XLANativeFunctions",
        skip_dispatcher_op_registration=False,
    )
    text = "".join(line for group in theirs.grouped for line in register(group))
    expected = set(re.findall(r'm\.impl\("([^"]+)"', text))
    refused = set()
    for one in program.diagnostics:
        assert one.code == "TG373", one
        refused.add(one.message.split("`")[1])
    selection = TARGETS["cpp-torch"].select(program)
    mine = {one.operator.schema.local_name for one in selection.registrations(program)}
    assert len(expected) > 3000 and mine == expected - refused
    assert (which == "functional") == bool(refused)
    of_pytorch = registrations(program, PYTORCH)
    assert mine == {one.operator.schema.local_name for one in of_pytorch if one.key == "XLA"}
