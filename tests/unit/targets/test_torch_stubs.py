"""Target `torch-stubs`: tests that do not need PyTorch."""

from __future__ import annotations

from torchgen_lite.schema import FunctionSchema
from torchgen_lite.targets.torch_stubs.views import build_namespace


def test_namespaces_have_modules_of_their_own() -> None:
    schemas = [FunctionSchema.parse("f(Tensor x) -> Tensor")]
    modules: dict[str, None] = {}
    found = [build_namespace(name, schemas, modules, {})[0] for name in ("a::b", "a__b")]
    assert found == ["a__b", "a__b_"]
