"""All of PyTorch's formulas compile as our C++ against libtorch's headers, except for a list with reasons."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cpp.compiling import check_syntax, needs_compiler, with_torch, write_files
from tests.installed import RELEASE, needs_torch
from torchgen_lite.analysis.differentiability.match import match_derivatives
from torchgen_lite.analysis.differentiability.model import DifferentiabilityInfo
from torchgen_lite.analysis.resolve import Resolved, derive_functions
from torchgen_lite.emit.render import render_files
from torchgen_lite.formulas.tree import Typed
from torchgen_lite.languages.cpp.formula import Functions
from torchgen_lite.languages.cpp.formula_needs import wrong_calls
from torchgen_lite.loader.entry.reader import Dialect
from torchgen_lite.loader.formats.native_functions import load_native_functions, load_schema_sources
from torchgen_lite.loader.torch.files import find_torch_files, load_tags
from torchgen_lite.targets.cpp_torch.nodes import node_view, unsayable_parts
from torchgen_lite.targets.output import OutputFile

pytestmark = [pytest.mark.torch, needs_compiler]
pytest.importorskip("torch")

# The headers and namespaces that PyTorch's own file of nodes uses.
BEFORE = """\
#include <all/autograd.h>

#include <torch/csrc/autograd/FunctionsManual.h>

#include <array>
#include <mutex>
#include <string>
#include <tuple>

namespace all {
using namespace at;
using namespace torch::autograd::generated::details;

namespace {
namespace formulas {
using namespace at;
using namespace torch::autograd::generated::details;
} // namespace formulas
"""
AFTER = """
} // namespace
} // namespace all
"""
# The compiler's messages about formulas, with their reasons.
REASONS = {
    r"'\w+_symint' is not a member of '\S+formulas'": "helper with sizes under its plain name",
    r"only PyTorch's own nodes know `i`": "of one element",
    r"only PyTorch's own nodes know `retain_variables`": "local variable of PyTorch's nodes",
    r"invalid initialization of reference of type 'const at::Tensor&' from expression of type "
    r"'double'": "sqrt of a constant",
    r"could not convert .* from 'c10::SymFloat' to 'c10::SymInt'": "quotient of integers",
    r"nothing is kept for `self.sym_blocksize\(\)`": "fact of sparse tensors",
}
# Operators whose formulas another library would have to write differently, in every release.
_ALWAYS = {
    "helper with sizes under its plain name": """
        _fft_r2c _grouped_mm _sparse_addmm addmm as_strided as_strided_ as_strided_scatter constant_pad_nd
        cudnn_convolution cudnn_convolution_transpose lu_unpack mean.dim mm narrow_copy native_group_norm
        native_layer_norm_backward repeat slice.Tensor split.Tensor split_with_sizes squeeze squeeze.dim squeeze.dims
        squeeze_ squeeze_.dim squeeze_.dims sum.dim_IntList unsafe_split.Tensor unsafe_split_with_sizes
    """,
    "of one element": """
        _foreach_div.List _foreach_maximum.Scalar _foreach_maximum.ScalarList _foreach_minimum.Scalar
        _foreach_minimum.ScalarList _foreach_mm _foreach_norm.Scalar _foreach_pow.List
        _foreach_pow.ScalarAndTensor _foreach_pow.ScalarList
    """,
    "local variable of PyTorch's nodes": """
        _batch_norm_no_update _batch_norm_with_update _cudnn_rnn cudnn_batch_norm miopen_rnn
    """,
    "quotient of integers": "channel_shuffle",
    "fact of sparse tensors": """
        _to_sparse _to_sparse.sparse_dim _to_sparse_bsc _to_sparse_bsr _to_sparse_csc _to_sparse_csr
    """,
}
# Those of some releases: from the first release that is named on, until another one is.
_BY_RELEASE: dict[tuple[int, ...], dict[str, str]] = {
    (2, 13): {"sqrt of a constant": "erf erfc erfinv special_erfcx"},
    (2, 14): {},
}


def expected() -> dict[str, set[str]]:
    """The list of the installed release."""
    since = max(release for release in _BY_RELEASE if release <= RELEASE)
    return {why: set(names.split()) for why, names in {**_ALWAYS, **_BY_RELEASE[since]}.items()}


def differentiable() -> list[DifferentiabilityInfo]:
    """The gradients in PyTorch's file, each node once."""
    files, _ = find_torch_files()
    assert files is not None
    paths = [files.native_functions, files.derivatives, files.tags]
    sources, _ = load_schema_sources(paths, files.tags.parent)
    tags, _ = load_tags(sources[2])
    functions, _ = load_native_functions(sources[:2], Dialect(tags), derive=derive_functions)
    matches = match_derivatives(Resolved(functions, tags).operators)
    infos = [i for by_key in matches.infos.values() for i in by_key.values() if i.slots]
    return list({info.node_name: info for info in infos}.values())


def formulas(folder: Path) -> dict[str, set[str]]:
    """Write a file with the nodes of all formulas; return the messages about those that C++ cannot express."""
    called = Functions("all", has_headers=True)
    said: dict[str, set[str]] = {}
    nodes = []
    for info in differentiable():
        problems = {problem.message for problem in unsayable_parts(info, called)}
        if problems:
            said[info.function.func.full_name] = problems
        else:
            nodes.append(node_view(info, called))
    assert len(nodes) > 600
    defines = {"TORCHGEN_LITE_NAMESPACE": "all"}
    outputs = [
        OutputFile("include/all/autograd.h", "copied/cpp_torch/autograd.h", defines),
        OutputFile("include/all/version.h", "copied/cpp_torch/version.h", defines),
        OutputFile("nodes.cpp", "cpp_torch/autograd_node.cpp.j2", {"nodes": nodes}),
    ]
    texts = render_files(outputs, "derivatives.yaml")
    # `#line` makes the compiler name the operator of a node in each message.
    named = re.sub(r"^// The gradients of (.*)\.$", r'#line 1 "\1"', texts["nodes.cpp"], flags=re.M)
    write_files(folder, {**texts, "nodes.cpp": BEFORE + named + AFTER})
    return said


def undeclared(tree: Typed) -> Typed:
    """A formula as it is in a library's file, where PyTorch's operators are not declared."""
    return tree._replace(operator=None, parts=tuple(map(undeclared, tree.parts)))


@needs_torch((2, 13), "the counts are those of 2.13's functions")
def test_no_formula_gives_a_function_too_many_arguments_or_too_few() -> None:
    trees = [undeclared(d.tree) for info in differentiable() for d in info.derivatives]
    assert len(trees) > 700
    # But the square root of a constant, which needs a header with a function of numbers, and a quotient, which is no integer.
    constants = expected().get("sqrt of a constant", ())
    quotients = expected()["quotient of integers"]
    found = [wrong.message for tree in trees for wrong in wrong_calls(tree, Functions("all"))]
    assert sorted(re.sub(" takes .*", "", wrong) for wrong in found) == [
        *("`sqrt`" for _ in constants),
        *(f"no overload of `{name}_symint`" for name in sorted(quotients)),
    ]


@needs_torch((2, 13), "the lists are those of formulas since 2.13")
def test_every_formula_compiles_but_for_a_list(tmp_path: Path) -> None:
    said = formulas(tmp_path)
    flags = [*with_torch(), "-w", "-fmax-errors=0"]
    done = check_syntax(tmp_path, "nodes.cpp", flags=flags, includes=[tmp_path / "include"])
    for name, message in re.findall(r"^([^\s:]+):\d+:\d+: error: (.*)$", done.messages, flags=re.M):
        said.setdefault(name, set()).add(message)
    found: dict[str, set[str]] = {}
    for name, messages in said.items():
        for message in messages:
            why = [reason for text, reason in REASONS.items() if re.fullmatch(text, message)]
            found.setdefault(why[0] if why else message, set()).add(name)
    assert found == expected()
