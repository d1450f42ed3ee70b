"""The complete JSON export of one small file."""

from __future__ import annotations

from pathlib import Path

from torchgen_lite.analysis.policy import Origin
from torchgen_lite.analysis.program import build_program
from torchgen_lite.diagnostics import Source
from torchgen_lite.languages.export import export_program
from torchgen_lite.loader.config.project import Config
from torchgen_lite.loader.formats.native_functions import load_native_functions

OPS = """\
- func: mylib::neg(Tensor self) -> Tensor
  variants: function, method
  structured_delegate: neg.out
  tags: pointwise
- func: mylib::neg.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  dispatch:
    CPU: neg_out
"""


def test_a_small_program() -> None:
    functions, found = load_native_functions([Source("ops.yaml", OPS)])
    exported = export_program(build_program(functions, Config(Path(".")), diagnostics=found))
    neg, out = exported.pop("ops")  # type: ignore[misc, attr-defined]
    assert exported == {
        "version": 2,
        "kind": "ops",
        "target": None,
        "targets": [],
        "groups": [
            {
                "functional": "mylib::neg",
                "out": "mylib::neg.out",
                "inplace": None,
                "mutable": None,
                "structured": True,
            }
        ],
        "view_groups": [],
    }
    assert neg == {
        "name": "neg",
        "overload": "",
        "namespace": "mylib",
        "func": "mylib::neg(Tensor self) -> Tensor",
        "arguments": [
            {
                "name": "self",
                "type": "Tensor",
                "alias": None,
                "default": None,
                "kwarg_only": False,
            }
        ],
        "returns": [{"name": None, "type": "Tensor", "alias": None}],
        "doc": None,
        "kind": "functional",
        "generated": False,
        "variants": ["function", "method"],
        "structured": False,
        "structured_delegate": "mylib::neg.out",
        "group": "mylib::neg",
        "view": None,
        "tags": ["pointwise"],
        "dispatch": {},
        "registered": {
            "CPU": "structured",
            "Meta": "meta",
            "CompositeExplicitAutogradNonFunctional": "default",
        },
        "registered_by_pytorch": {},
        "signatures": {
            "cpp": ["at::Tensor neg(const at::Tensor& self)", "at::Tensor neg()"],
            "cpp_faithful": "at::Tensor neg(const at::Tensor& self)",
            "dispatcher": "at::Tensor neg(const at::Tensor& self)",
            "native": "at::Tensor neg(const at::Tensor& self)",
            "python": "neg(Tensor input)",
            "pyi": ["def neg(input: Tensor) -> Tensor: ...", "def neg(self) -> Tensor: ..."],
        },
    }
    assert out["dispatch"] == {"CPU": {"kernel": "neg_out", "structured": True}}
    assert out["signatures"]["cpp_faithful"] == (
        "at::Tensor& neg_outf(const at::Tensor& self, at::Tensor& out)"
    )


def test_fields_of_other_releases() -> None:
    old = """\
- func: legacy(Tensor self, Dimname[] names, ConstQuantizerPtr q, *, MemoryFormat? m=None) -> Tensor
  use_c10_dispatcher: full
  dispatch: legacy_cpu
- func: views(Tensor(a!)[] xs, Storage s, Stream t) -> (QScheme, Tensor[])
"""
    functions, found = load_native_functions([Source("old.yaml", old)])
    program = build_program(functions, Config(Path(".")), diagnostics=found)
    first, second = export_program(program)["ops"]  # type: ignore[misc, attr-defined]
    assert first["signatures"]["dispatcher"] == (
        "at::Tensor legacy(const at::Tensor& self, at::ArrayRef<at::Dimname> names, "
        "at::ConstQuantizerPtr q, ::std::optional<at::MemoryFormat> m)"
    )
    assert second["kind"] == "mutable"


def test_the_documentation_names_every_field() -> None:
    functions, _ = load_native_functions([Source("ops.yaml", OPS)])
    exported = export_program(build_program(functions, Config(Path("."))))
    text = (Path(__file__).parents[3] / "docs" / "export.md").read_text(encoding="utf-8")
    documented = [line.split("`")[1] for line in text.splitlines() if line.startswith("| `")]
    function = exported["ops"][0]  # type: ignore[index]
    reasons = [origin.name for origin in Origin]
    assert documented == [*function, *reasons, *function["signatures"]]
