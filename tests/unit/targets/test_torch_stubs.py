"""Target `torch-stubs`: tests that do not need PyTorch."""

from __future__ import annotations

from torchgen_lite.schema import FunctionSchema
from torchgen_lite.targets.torch_stubs.views import build_namespace


def test_namespaces_have_modules_of_their_own() -> None:
    """Their files are apart where case is ignored, and the attributes of `torch.ops` keep their names."""
    schemas = [FunctionSchema.parse("f(Tensor x) -> Tensor")]
    modules: dict[str, str] = {}
    for name in ("a::b", "a__b", "Lib", "lib", "LIB", "lib_", "nul", "__init__"):
        build_namespace(name, schemas, modules, {})
    assert modules == {
        "a__b": "a__b",
        "a__b_": "a__b_",
        "Lib": "Lib",
        "lib": "lib_",
        "LIB": "LIB__",
        "lib_": "lib___",
        "nul": "nul_",
        "__init__": "__init___",
    }
