"""Entries become functions."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import pytest

from torchgen_lite.diagnostics import Source, render_concise
from torchgen_lite.loader.entry.entry import NativeFunction
from torchgen_lite.loader.entry.known_tags import KNOWN_TAGS
from torchgen_lite.loader.entry.reader import Dialect
from torchgen_lite.loader.formats.native_functions import load_native_functions, load_schema_sources
from torchgen_lite.loader.torch.files import load_tags


def load(
    text: str, *, tags: Collection[str] = KNOWN_TAGS, extra: Collection[str] = ()
) -> tuple[tuple[NativeFunction, ...], str]:
    """The functions of a text, and its diagnostics."""
    source = Source("ops.yaml", text)
    functions, found = load_native_functions([source], Dialect(tags, extra))
    return functions, render_concise(found)


def test_an_entry_has_no_field_that_is_not_declared() -> None:
    (function,), _ = load("- func: f(Tensor x) -> Tensor\n")
    with pytest.raises(TypeError, match="unexpected keyword argument 'varaints'"):
        NativeFunction(function.func, "aten", varaints=("method",))  # type: ignore[call-arg]
    with pytest.raises((TypeError, ValueError), match="varaints"):  # Which, depends on the Python.
        function._replace(varaints=("method",))  # type: ignore[call-arg]


def test_entries_are_equal_wherever_they_are_written() -> None:
    text = "- func: f(Tensor x) -> Tensor\n"
    ((one,), _), ((other,), _) = load(text), load(f"# Below.\n\n{text}")
    assert one == other and hash(one) == hash(other) and one.span != other.span
    assert one != other._replace(variants=("method",))


def test_an_entry_with_everything() -> None:
    (function,), said = load("""\
- func: lib::add.out(Tensor self, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)
  doc: Adds.
  torch: ">=2.6"
  guard: "#ifndef USE_ROCM"
  variants: method, function
  device_check: NoCheck
  structured: True
  structured_inherits: Base
  precomputed:
  - self -> int n
  ufunc_inner_loop:
    Generic: add (AllAndComplex)
  dispatch:
    MPS, SparseCPU: lib::k
    PrivateUse1: mod.kernel
  autogen: lib::add_x, add
  tags: [core, pointwise]
  cpp_no_default_args: ['alpha']
  derivatives:
    self: grad
  samples:
  - [1, 2]
  fake: {like: self}
""")
    assert said == ""
    assert function.namespace == "lib"
    assert [(e.key, e.kernel) for e in function.dispatch] == [
        ("MPS", "lib::k"),
        ("SparseCPU", "lib::k"),
        ("PrivateUse1", "mod.kernel"),
        ("CUDA", "ufunc_add_CUDA"),
        ("CPU", "ufunc_add_CPU"),
    ]
    assert function.variants == ("function", "method")
    assert function.structured and function.structured_inherits == "Base"
    assert function.precomputed == ("self -> int n",)
    assert function.ufunc_inner_loop == (("Generic", "add (AllAndComplex)"),)
    assert function.autogen == ("lib::add_x", "add")
    assert function.tags == ("core", "pointwise")
    assert function.device_check == "NoCheck"
    assert function.cpp_no_default_args == ("alpha",)
    assert (function.doc, function.torch, function.guard) == ("Adds.", ">=2.6", "#ifndef USE_ROCM")
    assert function.derivatives is not None
    assert function.samples is not None
    assert [sample.text for sample in function.samples.calls] == ["[1, 2]"]
    assert [str(value) for value in function.samples.calls[0].arguments] == ["1", "2"]
    assert function.fake is not None and function.fake.text == "{like: self}"
    assert str(function.fake.rules[0].get("like")) == "self"


def test_defaults_of_an_entry() -> None:
    (function,), said = load("- func: relu(Tensor self) -> Tensor\n")
    assert said == ""
    assert function.namespace == "aten"
    assert function.dispatch == ()
    assert function.variants == ("function",)
    assert function.device_guard is True


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Math", "CompositeImplicitAutograd"),
        ("DefaultBackend", "CompositeExplicitAutograd"),
        ("CatchAll", "CompositeImplicitAutograd"),
        ("CPUTensorId", "CPU"),
    ],
)
def test_former_names_of_keys_are_read_as_what_they_were(old: str, new: str) -> None:
    (function,), said = load(f"- func: f(Tensor x) -> Tensor\n  dispatch:\n    {old}: k\n")
    assert [(e.key, e.kernel) for e in function.dispatch] == [(new, "k")]
    assert said.startswith("ops.yaml:3:5: warning[TG113]")


def test_retired_fields_are_kept_and_mentioned() -> None:
    (function,), said = load("""\
- func: f(Dimname x) -> ConstQuantizerPtr
  use_c10_dispatcher: hacky_wrapper_for_legacy_signatures
  hacky_wrapper_for_legacy_signatures: True
  dispatch: legacy_kernel
""")
    assert said.count("warning[TG112]") == 3 and "error" not in said
    assert function.extra[0] == ("use_c10_dispatcher", "hacky_wrapper_for_legacy_signatures")
    assert [(e.key, e.kernel) for e in function.dispatch] == [
        ("CompositeImplicitAutograd", "legacy_kernel")
    ]


def test_fields_of_a_vendor_can_be_declared() -> None:
    text = "- func: f(Tensor x) -> Tensor\n  op_api: all_version\n"
    assert "unknown field 'op_api'" in load(text)[1]
    (function,), said = load(text, extra=("op_api",))
    assert said == "" and function.extra == (("op_api", "all_version"),)


def test_an_entry_with_a_wrong_field_is_still_there() -> None:
    functions, said = load("- func: f(Tensor x) -> Tensor\n  variants: mehtod\n")
    assert len(functions) == 1 and "TG107" in said


def test_three_mistakes_in_one_entry() -> None:
    functions, said = load("""\
- func: f(Tesnor x) -> Tensor
  varaints: method
  dispatch:
    CPUU: k
""")
    assert functions == ()
    assert [line.split("[")[1][:5] for line in said.splitlines()] == ["TG202", "TG102", "TG103"]


def test_places_inside_folded_and_quoted_schemas() -> None:
    text = "- func: >\n    f(Tensor x,\n      Tesnor y) -> ()\n- func: 'f(Tesnor x) -> ()'\n"
    assert [line.split(":")[1:3] for line in load(text)[1].splitlines()] == [
        ["3", "7"],
        ["4", "12"],
    ]


@pytest.mark.parametrize(
    "line",
    [
        "CPU, CUDA: k",
        "CPU,CUDA:   k",
        '"CPU, CUDA": k',
        "'CPU,  CUDA': 'k'",
        "? CPU,\n      CUDA\n    : k",
    ],
)
def test_keys_and_kernels_are_where_they_are_written(line: str) -> None:
    (function,), said = load(f"- func: f(Tensor x) -> Tensor\n  dispatch:\n    {line}\n")
    assert said == ""
    assert [(e.key, e.kernel) for e in function.dispatch] == [("CPU", "k"), ("CUDA", "k")]
    for entry in function.dispatch:
        assert entry.key_span is not None and entry.key_span.text == entry.key
        assert entry.kernel_span is not None and entry.kernel_span.text.strip("'") == "k"


def test_unknown_tags_are_kept_and_mentioned() -> None:
    text = "- func: f(Tensor x) -> Tensor\n  tags: corre, pointwise\n"
    said = "ops.yaml:2:9: warning[TG111] unknown tag 'corre': not a tag (did you mean 'core'?)\n"
    assert load(text)[1] == said
    assert load(text, tags=("core", "pointwise"))[1] == said
    assert load(text, tags=("corre", "pointwise"))[1] == ""
    assert load(text)[0][0].tags == ("corre", "pointwise")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("func: f() -> ()\n", "TG101"),
        ("text\n", "TG101"),
        ("- text\n", "TG101"),
        ("- []\n", "TG101"),
        ("- {}\n", "TG104"),
        ("- func:\n", "TG114"),
        ("- func: [f]\n", "TG106"),
        ("- func: ''\n", "TG209"),
        ("- {func: f() -> (), ? {a: b} : c}\n", "TG121"),
        ("- func: f() -> ()\n  <<: {a: 1}\n", "TG109"),
        ("- func: f() -> ()\n  dispatch: {CPU: [k]}\n", "TG392"),
        ("- func: f() -> ()\n  dispatch: {CPU: 3}\n", "TG108"),
        ("- func: f() -> ()\n  dispatch: {'CPU,': k}\n", "TG103"),
        ("- func: f() -> ()\n  device_guard: no\n", "TG106"),
        ("- func: f() -> ()\n  tags: {a: b}\n", "TG106"),
        ("- func: f() -> ()\n  tags: [[a]]\n", "TG106"),
        ("- func: f() -> ()\n  tags: 'core}'\n", "TG128"),
        ("- func: f() -> ()\n  tags: core,,pointwise\n", "TG128"),
        ("- func: f() -> ()\n  torch: '~=2'\n", "TG119"),
        ("- func: f() -> ()\n  autogen: 1 2\n", "TG123"),
        ("- func: f() -> ()\n  samples: x\n", "TG106"),
        ("- func: f() -> ()\n  fake: [x]\n", "TG106"),
        ("- func: f() -> ()\n  derivatives: x\n", "TG106"),
        ("- func: f() -> ()\n  torch: '>=2.6 <3'\n", "TG119"),
        ("- func: f() -> ()\n  guard: '#if X\n\n    #error'\n", "TG122"),
        ("- func: f() -> ()\n  guard: '#if A /* x'\n", "TG122"),
        ("- func: f() -> ()\n  guard: ['#if A', '#if (']\n", "TG122"),
        ("- func: f() -> ()\n  guard: ['#if A', {}]\n", "TG106"),
        ("- func: f() -> ()\n  guard: []\n", "TG106"),
        (f"- func: f() -> ()\n  guard: ['#if {'A' * 600}', '#if {'B' * 600}']\n", "TG122"),
        (f"- func: f(int a=0x{'f' * 5000}) -> ()\n", "TG201"),
        ("- func: f(Tensor x) -> Tensor\n  fake: {like: x, check: {}}\n", "TG330"),
        (
            "- func: f(Tensor x) -> Tensor\n  fake: {like: x, check: {'x.dim() == 2': ' '}}\n",
            "TG330",
        ),
        ("- func: f(Tensor x) -> Tensor\n  autocast: {dtype: float32, result: ''}\n", "TG106"),
        ("- func: f() -> ()\n  guard: '#if A */ x'\n", "TG122"),
        ("- func: f() -> ()\n  guard: '#if 1) || (1'\n", "TG122"),
        ("- func: f() -> ()\n  guard: '#if (A // )'\n", "TG122"),
        ("- func: f() -> ()\n  guard: '#if // A'\n", "TG122"),
        ("- func: f(int x) -> ()\n  cpp_no_default_args: [y]\n", "TG107"),
    ],
)
def test_odd_yaml_is_one_diagnostic(text: str, code: str) -> None:
    _, found = load_native_functions([Source("ops.yaml", text)])
    assert [d.code for d in found] == [code]


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    latin = tmp_path / "latin.yaml"
    latin.write_bytes("- func: f\xe9".encode("latin-1"))
    wide = tmp_path / "wide.yaml"
    wide.write_bytes("- func: f".encode("utf-16"))
    sources, found = load_schema_sources([tmp_path / "no.yaml", tmp_path, latin, wide], tmp_path)
    assert sources == ()
    assert render_concise(found) == (
        "error[TG006] cannot read 'no.yaml': no such file or directory\n"
        "error[TG006] cannot read '.': is a directory\n"
        "latin.yaml:1:10: error[TG117] 'latin.yaml' is not UTF-8 (save the file as UTF-8)\n"
        "wide.yaml:1:1: error[TG117] 'wide.yaml' is not UTF-8"
        " (this looks like UTF-16; save the file as UTF-8)\n"
    )


def test_tags() -> None:
    text = "- tag: core\n  desc: |\n    Basic\n    operators.\n- tog: x\n- tag: [a]\n- y\n"
    tags, found = load_tags(Source("tags.yaml", text))
    assert tags == {"core": "Basic operators."}
    assert [d.code for d in found] == ["TG102", "TG104", "TG106", "TG101"]


def test_names_and_places_of_an_entry() -> None:
    functions, _ = load(
        "- func: add.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)\n  structured: True\n"
        "- func: my::lib::add.x(Tensor x) -> Tensor\n  structured_delegate: my::lib::add.out\n"
    )
    one, two = functions
    assert (one.name, one.func.local_name, one.func.flat_name) == (
        "aten::add.out",
        "add.out",
        "add_out",
    )
    assert (two.name, two.func.local_name, two.delegate) == (
        "my::lib::add.x",
        "add.x",
        "my::lib::add.out",
    )
    assert [two.flat_name("my::lib"), two.flat_name("aten")] == ["add_x", "my_lib__add_x"]
    place = one.place("structured")
    assert place is not None and place.line == 2
    assert one.place("dispatch") is None


OWN_WORDS = """\
- func: neg(Tensor self) -> Tensor
  dispatch:
    CPU: neg_cpu
    SIM, AutogradSIM: neg_sim
- func: other::neg(Tensor self) -> Tensor
  dispatch:
    PrivateUse1: neg_other
    SMI: neg_smi
"""


def test_a_namespace_and_a_device_of_ones_own() -> None:
    source = Source("ops.yaml", OWN_WORDS)
    functions, found = load_native_functions([source], Dialect(namespace="tiny", privateuse1="SIM"))
    assert [function.name for function in functions] == ["tiny::neg", "other::neg"]
    assert str(functions[0].func) == "tiny::neg(Tensor self) -> Tensor"
    keys = ["CPU", "PrivateUse1", "AutogradPrivateUse1"]
    assert [entry.key for entry in functions[0].dispatch] == keys
    assert [(d.code, str(d.help)) for d in found] == [("TG103", "did you mean `SIM`?")]
