"""PyTorch's derivatives.yaml as we read it, compared with torchgen's loader."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from torchgen_lite.analysis.differentiability.calls import wrong_calls
from torchgen_lite.analysis.differentiability.match import Matches, match_derivatives
from torchgen_lite.analysis.differentiability.model import Derivative, DifferentiabilityInfo
from torchgen_lite.analysis.program import Program
from torchgen_lite.analysis.resolve import Resolved, derive_functions
from torchgen_lite.formulas.facts import Fact, Saved
from torchgen_lite.formulas.parser import parse_formula
from torchgen_lite.languages.cpp.formula import Functions
from torchgen_lite.languages.cpp.formula_needs import speech
from torchgen_lite.loader.entry.reader import Dialect
from torchgen_lite.loader.formats.native_functions import load_native_functions, load_schema_sources
from torchgen_lite.loader.torch.files import find_torch_files, load_tags
from torchgen_lite.pipeline import load

pytestmark = pytest.mark.torch
pytest.importorskip("torch")

# torchgen finds argument names in the text of a formula with a regular expression. It also finds them in
# string literals (`not_implemented("native_dropout_backward: mask")`) and in method names
# (`result.values()`), so it saves tensors that nothing uses.
FOUND_IN_TEXT = {
    "aten::complex": {"real", "imag"},
    "aten::native_dropout_backward": {"mask"},
    "aten::native_batch_norm_backward": {"save_mean", "save_invstd"},
    "aten::native_layer_norm_backward": {"mean", "rstd"},
    "aten::batch_norm_backward": {"save_mean", "save_var", "reserve"},
    "aten::sparse_compressed_tensor.comp_plain_value_size": {"values"},
    "aten::cudnn_batch_norm_backward": {"save_mean", "save_var", "reserveSpace"},
    "aten::miopen_batch_norm_backward": {"save_mean", "save_var"},
}


def test_as_a_file_of_formulas_it_has_no_error() -> None:
    files, _ = find_torch_files()
    assert files is not None
    found = load([files.derivatives], torch=True).diagnostics
    assert {d.code for d in found} == {"TG324", "TG347"}
    # PyTorch tests with them that a formula is used: they add one to the gradient.
    curved = {d.operator for d in found if d.code == "TG347" and d.operator}
    assert {name.partition(".")[0] for name in curved} == {
        "_test_autograd_multiple_dispatch",
        "_test_autograd_multiple_dispatch_view",
    }


def test_the_functions_of_its_formulas_are_known(matches: Matches) -> None:
    import torch

    header = Path(torch.__file__).parent / "include/torch/csrc/autograd/FunctionsManual.h"
    infos = [info for by_key in matches.infos.values() for info in by_key.values()]
    trees = [derivative.tree for info in infos for derivative in info.derivatives]
    found = [one for tree in trees for one in wrong_calls(tree, speech(Functions("all")))]
    called = {re.findall("`(.*?)`", one.message)[0] for one in found if one.code == "TG341"}
    helpers = set(re.findall(r"\b(\w+)\(", header.read_text()))
    assert len(called) > 100 and called <= helpers


@pytest.fixture(scope="module")
def matches() -> Matches:
    files, _ = find_torch_files()
    assert files is not None
    paths = [files.native_functions, files.derivatives, files.tags]
    sources, unread = load_schema_sources(paths, files.tags.parent)
    tags, _ = load_tags(sources[2])
    functions, wrong = load_native_functions(sources[:2], Dialect(tags), derive=derive_functions)
    assert (unread, wrong) == ((), ())
    return match_derivatives(Resolved(functions, tags).operators)


@pytest.fixture(scope="module")
def theirs() -> dict[Any, dict[str, Any]]:
    from torchgen.packaged.autograd.load_derivatives import load_derivatives as load_theirs

    files, _ = find_torch_files()
    assert files is not None
    infos, _ = load_theirs(str(files.derivatives), str(files.native_functions), str(files.tags))
    return dict(infos)


def test_every_formula_parses_and_prints_back() -> None:
    files, _ = find_torch_files()
    assert files is not None
    sources, _ = load_schema_sources(files[:1] + files[2:3], files.derivatives.parent)
    functions, wrong = load_native_functions(sources, derive=derive_functions)
    found = [f.derivatives for f in functions if f.derivatives is not None]
    variants = [formulas for one in found for _, formulas in one.variants]
    trees = [f.expression for formulas in variants for f in formulas if not f.word]
    assert wrong == () and len(trees) > 1000
    for tree in trees:
        assert tree is not None
        assert parse_formula(str(tree))[0] == tree


def test_every_entry_matches_an_operator(matches: Matches, theirs: dict[Any, Any]) -> None:
    assert set(matches.infos) == {f"aten::{schema.name}" for schema in theirs}


def _their_saved(attributes: Any) -> set[tuple[str, str]]:
    names = (getattr(a.nctype.name, "name", a.nctype.name) for a in attributes)
    return {(name, a.expr) for name, a in zip(names, attributes)}


# The C++ expressions with which PyTorch reads saved facts; `{0}` is the tensor, `{1}` the dimension.
READ = {
    Fact.args_scalartypes: "to_args_scalartypes({0})",
    Fact.args_sizes: "to_args_sizes({0})",
    Fact.args_sizes_symint: "to_args_sizes_symint({0})",
    Fact.blocksize: "at::sparse_csr::getSymIntBlockSize({0})",
    Fact.conjugate: "{0}.is_conj()",
    Fact.geometry: "TensorGeometry({0})",
    Fact.info: "{0}",
    Fact.size: "{0}.sym_size({1})",
    Fact.sym_sizes_opt: "{0}.has_value() ? std::optional<c10::SymIntArrayRef>({0}->sym_sizes())"
    " : std::nullopt",
    Fact.sym_strides: 'strides_or_error({0}, "{0}")',
    Fact.whole: "{0}",
}


def _saved(attributes: Iterable[Saved]) -> set[tuple[str, str]]:
    return {
        (a.name, READ.get(a.fact, f"{{0}}.{a.fact.value}()").format(a.source, a.dim))
        for a in attributes
    }


def _inputs(derivative: Derivative) -> set[tuple[str, str]]:
    return _saved(saved for saved in derivative.saved if saved.result is None)


def _their_facts(info: Any, ignored: set[str]) -> dict[str, object]:
    spurious = {(name, name) for name in ignored}
    return {
        "node": info.op or "",
        "derivatives": {
            d.var_names: (
                _their_saved(d.saved_inputs) - spurious,
                _their_saved(d.saved_outputs),
                d.named_gradients,
            )
            for d in info.derivatives
        },
        "arguments": [a.name for a in info.args_with_derivatives],
        "not differentiable": set(info.non_differentiable_arg_names),
        "outputs": info.output_differentiability,
        "gradients": list(info.available_named_gradients),
    }


def _facts(info: DifferentiabilityInfo, ignored: set[str]) -> dict[str, object]:
    spurious = {(name, name) for name in ignored}
    outputs = info.output_differentiability
    return {
        "node": info.node_name,
        "derivatives": {
            d.names: (
                _inputs(d) - spurious,
                _saved(saved for saved in d.saved if saved.result is not None),
                set(d.mentioned & set(info.available_gradients)),
            )
            for d in info.derivatives
        },
        "arguments": list(info.arguments),
        "not differentiable": set(info.not_differentiable),
        "outputs": None if outputs is None else list(outputs),
        "gradients": list(info.available_gradients),
    }


def test_what_torchgen_finds_in_text_is_all_that_it_keeps_more(
    matches: Matches, theirs: dict[Any, Any]
) -> None:
    more: dict[str, set[str]] = {}
    for schema, by_key in theirs.items():
        name = f"aten::{schema.name}"
        for key, info in by_key.items():
            mine = {
                derivative.names: derivative for derivative in matches.infos[name][key].derivatives
            }
            for its in info.derivatives:
                spurious = _their_saved(its.saved_inputs) - _inputs(mine[its.var_names])
                if spurious:
                    more.setdefault(name, set()).update(argument for argument, _ in spurious)
    assert more == FOUND_IN_TEXT


def test_the_facts_are_torchgens(matches: Matches, theirs: dict[Any, Any]) -> None:
    different = []
    for schema, by_key in theirs.items():
        name = f"aten::{schema.name}"
        mine = matches.infos[name]
        assert set(mine) == set(by_key)
        for key, info in by_key.items():
            ignored = FOUND_IN_TEXT.get(name, set())
            found, wanted = _facts(mine[key], ignored), _their_facts(info, ignored)
            if found != wanted:
                different.append((name, key, found, wanted))
    assert different == []


@pytest.fixture(scope="module")
def their_matches(theirs: dict[Any, Any]) -> list[Any]:
    from torchgen.api.autograd import match_differentiability_info
    from torchgen.gen import parse_native_yaml

    files, _ = find_torch_files()
    assert files is not None
    parsed = parse_native_yaml(str(files.native_functions), str(files.tags)).native_functions
    return match_differentiability_info(parsed, dict(theirs))


def test_variants_find_the_formulas_that_torchgen_finds(
    program: Program, matches: Matches, their_matches: list[Any]
) -> None:
    from torchgen import local
    from torchgen.api import cpp
    from torchgen.api.autograd import gen_differentiable_outputs
    from torchgen.model import SchemaKind

    by_name = program.resolved.by_name
    different = []
    for function in their_matches:
        name = f"aten::{function.func.func.name}"
        if name.startswith("aten::_foreach_"):
            # torchgen derives formulas for operators on lists; here an operator has them only if they are written.
            continue
        mine = matches.of.get(name)
        if (mine is None) != (function.info is None):
            different.append((name, mine is None))
        elif mine is not None and name in by_name and "Default" in function.info:
            if function.func.func.kind() == SchemaKind.out:
                continue
            returned = cpp.return_names(function.func)
            with local.parametrize(
                use_const_ref_for_mutable_tensors=False, use_ilistref_for_tensor_lists=False
            ):
                wanted = [output.name for output in gen_differentiable_outputs(function)]
            if [returned[index] for index in mine["Default"].outputs] != wanted:
                different.append((name, wanted))
    assert different == []
