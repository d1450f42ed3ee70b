"""Types in the spelling of Python and C++."""

from __future__ import annotations

import pytest

from torchgen_lite.schema import parse_schema
from torchgen_lite.schema.foreign_types import read_foreign_type


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        *((name, "ScalarType") for name in ("DType", "Dtype", "DataType", "dtype")),
        *((name, "Tensor") for name in ("NDArray", "ndarray", "Array", "array", "Tensr")),
        ("IntArrayRef", "int[]"),
        ("at::IntArrayRef", "int[]"),
        ("torch.Size", "int[]"),
        ("double", "float"),
        ("np.float32", "float"),
        ("int64", "int"),
        ("size_t", "int"),
        ("String", "str"),
        ("std::string", "str"),
        ("c10::string_view", "str"),
        ("torch.dtype", "ScalarType"),
        ("torch.device", "Device"),
        ("torch::Tensor", "Tensor"),
        ("c10::SymInt", "SymInt"),
        ("Boolean", "bool"),
        ("Number", "Scalar"),
    ],
)
def test_types_of_other_libraries(written: str, meant: str) -> None:
    """A name that sounds like another type is not taken for that."""
    schema, diagnostics = parse_schema(f"f(Tensor x, {written} y=None) -> Tensor")
    [found] = [one for one in diagnostics if one.code == "TG202"]
    assert f"`{meant}`" in str(found.help)


@pytest.mark.parametrize("written", ["Type", "List", "object", "NoneTyp"])
def test_types_that_nobody_means(written: str) -> None:
    [found] = parse_schema(f"f(Tensor x, {written} y=None) -> Tensor")[1]
    assert found.code == "TG202" and found.help is None


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("List[int]", "int[]"),
        ("typing.Sequence[Tensor]", "Tensor[]"),
        ("Optional[List[float]]", "float[]?"),
        ("Union[int, None]", "int?"),
        ("None | Tensor", "Tensor?"),
        ("Tuple[int, int, int]", "int[3]"),
        ("tuple[int, ...]", "int[]"),
        ("tuple[int, Tensor]", "(int, Tensor)"),
        ("std::optional<at::Tensor>", "Tensor?"),
        ("const std::vector<int64_t>&", "int[]"),
        ("std::array<bool, 3>", "bool[3]"),
        ("at::IntArrayRef", "int[]"),
        ("dict[str, Tensor]", "Dict(str, Tensor)"),
        ("std::unordered_map<std::string, at::Tensor>", "Dict(str, Tensor)"),
        ("Optional[torch.dtype]", "ScalarType?"),
        ("Callable[[int], int]", None),
        ("List[Wrong]", None),
        ("List[int", None),
        ("int | str", None),
        ("List[" * 50, None),
    ],
)
def test_what_a_schema_calls_it(written: str, meant: str | None) -> None:
    found = read_foreign_type(written)
    assert found == (None if meant is None else (meant, len(written)))
    schema, diagnostics = parse_schema(f"f({written} x) -> Tensor")
    if meant is not None:
        [one] = diagnostics
        assert (one.code, str(one.help)) == ("TG202", f"write `{meant}`")
    assert schema is None


def test_a_tuple_of_results() -> None:
    """Of an argument it is a list."""
    [found] = parse_schema("f(Tensor x) -> tuple[Tensor, torch.Tensor]")[1]
    assert "`(Tensor, Tensor)`" in str(found.help)
    [found] = parse_schema("f(tuple[Tensor, Tensor] x) -> Tensor")[1]
    assert "`Tensor[2]`" in str(found.help)
