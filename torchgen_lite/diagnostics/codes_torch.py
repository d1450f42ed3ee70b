"""Codes TG330 to TG343, about PyTorch's Python side: fakes, samples, vmap, autocast, formulas."""

from __future__ import annotations

from .code import Code

_MM = "- func: mm(Tensor a, Tensor b) -> Tensor\n  dispatch: {CPU: mm_cpu}\n  "

TORCH_CODES = (
    Code(
        "TG330",
        "invalid fake",
        "error",
        "`fake:` is the name of a Python function, or a rule: `like`, `shape`, `dtype`, `device`, "
        "`stride`, `memory_format`; `view` and `offset` for a result that shares memory; `count` for a "
        "list of tensors; `value` for what is not a tensor; `check` for conditions with messages. Several results have a list of rules, or a "
        "mapping from their names to rules.",
        _MM + "fake: {shap: [1]}",
        _MM + "fake: {shape: [1]}",
    ),
    Code(
        "TG331",
        "fake that disagrees with the schema",
        "error",
        "There is one rule for each result, `view` for one that aliases an argument, `value` for one that "
        "is not a tensor. The fake of an operator that returns nothing, or what it wrote to, is derived from its schema.",
        _MM + "fake: [{like: a}, {like: b}]",
        _MM + "fake: {like: a}",
    ),
    Code(
        "TG332",
        "unknown name in a rule for fakes",
        "error",
        "A rule knows the arguments, their `shape`, `dtype`, `device`, `ndim`, `size(i)`, `stride(i)`, "
        "`numel()`, dtypes and memory formats, and a few functions: docs/torch-python-target.md lists them.",
        _MM + "fake: {shape: [a.size(0), n], like: a}",
        _MM + "fake: {shape: [a.size(0), b.size(1)], like: a}",
    ),
    Code(
        "TG333",
        "wrong kind of value in a rule for fakes",
        "error",
        "A shape is a list of integers, `like` a tensor, `dtype` a dtype. An optional argument may "
        "be None: `weight.defined() ? weight.size(0) : 1` checks first.",
        _MM + "fake: {shape: [a.dtype], like: a}",
        _MM + "fake: {shape: [a.size(0)], like: a}",
    ),
    Code(
        "TG334",
        "function that does not fit the operator",
        "error",
        "The Python function that `dispatch`, `fake`, `vmap` or a formula names is looked up in the modules of the "
        "configuration, which are read and never imported. A kernel takes the operator's arguments: positional "
        "ones by position, the others by name. So does a fake, with a default wherever the schema has one, as "
        "PyTorch leaves out arguments that are equal to it. A function that a formula calls takes what the formula passes.",
        """\
- func: mylib::f(Tensor x) -> Tensor
  dispatch:
    CPU, Meta: f
  vmap: f-vmap""",
        """\
- func: mylib::f(Tensor x) -> Tensor
  dispatch:
    CPU, Meta: f
  vmap: f_vmap""",
    ),
    Code(
        "TG335",
        "invalid sample",
        "error",
        "A sample is a list of arguments, `(randn(3, 4), 2.0, dim=1)`, or a mapping from names to values. "
        "Values are numbers, strings, lists, dtypes, and tensors made with `randn`, `rand`, `zeros`, "
        "`ones`, `full`, `arange`, `randint` and `tensor`. A mapping has the samples under `calls`, and beside them "
        "`reference`, `dtypes`, `rtol` with `atol`, and `gradcheck`.",
        """\
- func: mm(Tensor a, Tensor b) -> Tensor
  dispatch: {CPU: mm_cpu, Meta: mm_meta}
  samples:
    - (random(3, 3), randn(3, 3))""",
        """\
- func: mm(Tensor a, Tensor b) -> Tensor
  dispatch: {CPU: mm_cpu, Meta: mm_meta}
  samples:
    - (randn(3, 3), randn(3, 3))""",
    ),
    Code(
        "TG336",
        "sample that does not fit the operator",
        "error",
        "A sample gives every argument without a default, none twice, and with values that fit the types.",
        """\
- func: mm(Tensor a, Tensor b) -> Tensor
  dispatch: {CPU: mm_cpu, Meta: mm_meta}
  samples:
    - (randn(3, 3))""",
        """\
- func: mm(Tensor a, Tensor b) -> Tensor
  dispatch: {CPU: mm_cpu, Meta: mm_meta}
  samples:
    - (randn(3, 3), randn(3, 3))""",
    ),
    Code(
        "TG337",
        "invalid autocast rule",
        "error",
        "`autocast` says in which precision an operator runs under `torch.autocast`: `float32`, or "
        "`lower_precision` for the dtype of the autocast context. With `{dtype: float32, result: a}` results "
        "are cast to the dtype of argument `a`. Operators that write to their arguments cannot be autocast.",
        """\
- func: mm(Tensor a, Tensor b) -> Tensor
  dispatch: {CPU: mm_cpu, Meta: mm_meta}
  autocast: float31""",
        """\
- func: mm(Tensor a, Tensor b) -> Tensor
  dispatch: {CPU: mm_cpu, Meta: mm_meta}
  autocast: float32""",
    ),
    Code(
        "TG338",
        "operator that torch.library cannot differentiate",
        "error",
        "`torch.library.register_autograd` takes functional operators whose tensors are positional. An "
        "in-place variant gets its derivative from the functional one; a view from its `view:` rule.",
        """\
-- torchgen_lite.toml --
targets = ["torch-python"]
[target.torch-python]
package = "mylib"
-- native_functions.yaml --
- func: mylib::f(Tensor x, *, Tensor y) -> Tensor
  dispatch:
    CPU, Meta: f
  derivatives:
    x: grad
    y: grad
$ torchgen-lite generate""",
        """\
-- torchgen_lite.toml --
targets = ["torch-python"]
[target.torch-python]
package = "mylib"
-- native_functions.yaml --
- func: mylib::f(Tensor x, Tensor y) -> Tensor
  dispatch:
    CPU, Meta: f
  derivatives:
    x: grad
    y: grad
$ torchgen-lite generate""",
    ),
    Code(
        "TG339",
        "operator without a fake",
        "warning",
        "An operator with kernels for backends, and neither a `fake:`, a Meta kernel nor a composite one, "
        "fails under `torch.compile` and `torch.export`.",
        """\
-- torchgen_lite.toml --
targets = ["torch-python"]
[target.torch-python]
package = "mylib"
-- native_functions.yaml --
- func: mylib::f(Tensor x) -> Tensor
  dispatch:
    CPU: f
$ torchgen-lite generate""",
        """\
-- torchgen_lite.toml --
targets = ["torch-python"]
[target.torch-python]
package = "mylib"
-- native_functions.yaml --
- func: mylib::f(Tensor x) -> Tensor
  dispatch:
    CPU: f
  fake: {like: x}
$ torchgen-lite generate""",
    ),
    Code(
        "TG340",
        "missing in a release of PyTorch that the project supports",
        "error",
        "`torch` in the configuration lists the releases that the project supports, from 2.6 on. C++ code with a "
        "dispatch key, a type or a tag compiles only if libtorch has it: `Dimname` was removed in 2.13, and schemas can "
        "have `SymBool` since 2.9. For target `cpp-torch-stable` this also covers types that the stable ABI of one of "
        "these releases lacks, from 2.10 or its `target-version` on, which has its own code (TG532).",
        """\
-- torchgen_lite.toml --
torch = ">=2.6"
-- native_functions.yaml --
- func: mylib::total(Tensor x) -> Tensor
  tags: reduction
  dispatch: {CPU: total_cpu, Meta: total_meta}""",
        """\
-- torchgen_lite.toml --
torch = ">=2.6"
-- native_functions.yaml --
- func: mylib::total(Tensor x) -> Tensor
  tags: reduction
  torch: ">=2.10"
  dispatch: {CPU: total_cpu, Meta: total_meta}""",
    ),
    Code(
        "TG341",
        "formula calls a function that PyTorch does not have",
        "warning",
        "In formulas for target `torch-python` a name is a function of a module of `formulas`, an "
        "operator of the package, or a function of `torch`; for target `cpp-torch`, an operator of "
        "the file, or a function of the namespace `at`, unless `formula-headers` have more. The "
        "names of PyTorch 2.13 are known; a function that it lacks fails when the package is "
        "imported or the library is compiled, unless a newer PyTorch has it.",
        """\
-- torchgen_lite.toml --
targets = ["torch-python"]
[target.torch-python]
package = "mylib"
-- native_functions.yaml --
- func: mylib::f(Tensor x) -> Tensor
  dispatch:
    CPU, Meta: f
  derivatives:
    x: sigmoyd(grad)
$ torchgen-lite generate""",
        """\
-- torchgen_lite.toml --
targets = ["torch-python"]
[target.torch-python]
package = "mylib"
-- native_functions.yaml --
- func: mylib::f(Tensor x) -> Tensor
  dispatch:
    CPU, Meta: f
  derivatives:
    x: sigmoid(grad)
$ torchgen-lite generate""",
    ),
    Code(
        "TG343",
        "integer result treated as differentiable",
        "warning",
        "Integers have no gradients. Without `output_differentiability` every result that is a tensor counts as "
        "differentiable, including this one, which is an integer according to `fake`: formulas would get zeros for it.",
        """\
- func: mylib::largest(Tensor x) -> (Tensor values, Tensor indices)
  dispatch: {CPU: largest_cpu}
  fake:
    values: {like: x}
    indices: {like: x, dtype: int64}
  derivatives:
    x: grad_values""",
        """\
- func: mylib::largest(Tensor x) -> (Tensor values, Tensor indices)
  dispatch: {CPU: largest_cpu}
  fake:
    values: {like: x}
    indices: {like: x, dtype: int64}
  output_differentiability: [True, False]
  derivatives:
    x: grad_values""",
    ),
)
