"""Several kernels under one key: the first runs whose condition holds, eagerly and in compiled programs."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from tests.torch_python.generated import run_program, run_python, write_package
from torchgen_lite import load, pipeline

pytestmark = pytest.mark.torch

CONFIG = """\
schema = ["ops.yaml"]
targets = ["torch-python"]

[target.torch-python]
kernels = ["small", "others"]
"""
ENTRIES = """\
- func: my::norm(Tensor x, float eps=1e-6, int[] max=[], Tensor? w=None) -> Tensor
  dispatch:
    CPU:
      - {when: "x.dtype in {half, bfloat16} and x.size(-1) % 8 == 0 and x.is_contiguous()", kernel: norm_vec8}
      - {when: "w.defined() and len(max) == 2 and max[1] > max(w.size(0), 2)", kernel: norm_weighted}
      - {when: "x.size(-1) <= 4", kernel: norm_small}
      - norm_any
  fake: {like: x}
  axes: x[*b], w[*b] -> [*b]
  derivatives: {x: grad * 1e-6, w: "zeros_like(w)"}
  samples:
    calls:
      - (randn(4, 8))
      - (randn(2, 4))
    reference: x * 1e-6
    dtypes: [float32]
- func: my::aligned(Tensor x) -> Tensor
  dispatch:
    CPU:
      - {when: "x.is_aligned(16) and not x.is_complex()", kernel: aligned_vec}
      - {when: "capability(x) == 0 and floor_div(-x.size(0), 2) == -2 and -x.size(0) % 4 == 1", kernel: aligned_3}
      - {when: "x.shape == [2, 2]", kernel: aligned_2}
  fake: {like: x}
- func: my::seen(Tensor x) -> Tensor
  dispatch:
    CPU:
      - {when: "x.size(0) <= 8", kernel: seen_small}
      - {when: "x.is_contiguous()", kernel: seen_whole}
      - seen_any
  triton: CPU
  fake: {like: x}
- func: my::composed(Tensor x) -> Tensor
  dispatch:
    CompositeImplicitAutograd:
      - {when: "x.size(0) <= 8", kernel: composed_small}
      - {when: "x.size(0) > 8 and x.is_aligned(4)", kernel: composed_large}
"""
SMALL = """\
def norm_small(x, eps, max, w):
    print("norm_small")
    return x * 1e-6
"""
OTHERS = """\
import torch


def _named(name, compute):
    def kernel(x, *_):
        print(name, *map(int, x.shape))
        return compute(x)

    return kernel


norm_vec8 = _named("norm_vec8", lambda x: x * 1e-6)
norm_weighted = _named("norm_weighted", lambda x: x * 1e-6)
norm_any = _named("norm_any", lambda x: x * 1e-6)
aligned_vec = _named("aligned_vec", torch.sin)
aligned_3 = _named("aligned_3", torch.sin)
aligned_2 = _named("aligned_2", torch.sin)


def seen_small(x):
    return torch.sin(x)


def seen_whole(x):
    return torch.sin(x) + 0


def seen_any(x):
    return torch.sin(x) - 0


composed_small = seen_small
composed_large = seen_any
"""
HEAD = "import sys\nimport my_ops, torch\nops = torch.ops.my\n"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rows")
    files = {"ops.yaml": ENTRIES, "small.py": SMALL, "others.py": OTHERS}
    for name, text in {"torchgen_lite.toml": CONFIG, **files}.items():
        (folder / name).write_text(text)
    write_package(folder)
    return folder


def _printed(project: Path, program: str, head: str = HEAD) -> list[str]:
    return run_program(project, head + program.replace("\n    ", "\n")).splitlines()


def test_the_first_row_runs_whose_condition_holds(project: Path) -> None:
    program = """
    x = torch.randn(2, 8)
    ops.norm(x.half())
    ops.norm(x.bfloat16()[:, ::2])
    ops.norm(x, 2.0, [1, 4], x)
    ops.norm(x, 2.0, [1, 2], x)
    ops.norm(x, 2.0, [1])
    print("small" in sys.modules)
    ops.norm(x[:, :4])
    base = torch.randn(9)
    ops.aligned(base[:4]), ops.aligned(base[1:4]), ops.aligned(base[1:5].view(2, 2))
    """
    assert _printed(project, program) == [
        "norm_vec8 2 8",
        "norm_small",
        "norm_weighted 2 8",
        "norm_any 2 8",
        "norm_any 2 8",
        "True",
        "norm_small",
        "aligned_vec 4",
        "aligned_3 3",
        "aligned_2 2 2",
    ]


def test_a_module_is_imported_when_its_row_runs(project: Path) -> None:
    program = """
    ops.norm(torch.randn(2, 8))
    print("small" in sys.modules)
    """
    assert _printed(project, program) == ["norm_any 2 8", "False"]


def test_a_call_that_no_row_takes_is_refused_by_name(project: Path) -> None:
    program = """
    try:
        ops.aligned(torch.randn(7)[1:])
    except NotImplementedError as error:
        print(error)
    """
    assert _printed(project, program) == [
        "ops.yaml:20: my::aligned for CPU: no kernel takes x=float32[6]"
    ]


def test_what_is_above_kernels_knows_nothing_of_rows(project: Path) -> None:
    """Gradients, `vmap`, fakes, and `opcheck` with them."""
    program = """
    x = torch.randn(3, 8, requires_grad=True)
    ops.norm(x, 2.0).sum().backward()
    print(x.grad[0, 0].item() == torch.tensor(1e-6).item())
    torch.vmap(ops.norm)(torch.randn(5, 2, 3))
    for size in (3, 4, 5):
        torch.library.opcheck(ops.norm.default, (torch.randn(2, size, requires_grad=True), 2.0))
    """
    printed = _printed(project, program)
    assert printed[:3] == ["norm_any 3 8", "True", "norm_small"]


def test_all_generated_tests_pass(project: Path) -> None:
    """DTensor, `vmap`, gradients, compilers, other layouts and dtypes, both sides of each bound."""
    tests = "generated/torch-python/tests/test_my_ops.py"
    done = run_python(project, "-m", "pytest", "-q", "-p", "no:cacheprovider", tests)
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout.splitlines()[-1]


def test_a_compiled_program_chooses_when_it_runs(project: Path) -> None:
    """Opaque kernels get numbers, whatever compilers know of sizes."""
    program = """
    f = torch.compile(lambda x: ops.norm(x) + 1, dynamic=True, fullgraph=True, backend="aot_eager")
    for size in (3, 4, 5, 9):
        x = torch.randn(2, size)
        torch.testing.assert_close(f(x), x * 1e-6 + 1)
    f(torch.randn(2, 8, dtype=torch.half))
    print("unbacked")

    def g(x):
        return ops.norm(x.nonzero().t().float())

    torch._dynamo.config.capture_dynamic_output_shape_ops = True
    g = torch.compile(g, fullgraph=True, backend="aot_eager")
    for count in (4, 5):
        g(torch.ones(count))
    print(torch._dynamo.utils.counters["stats"]["unique_graphs"])
    """
    assert _printed(project, program) == [
        "norm_small",
        "norm_small",
        "norm_any 2 5",
        "norm_any 2 9",
        "norm_vec8 2 8",
        "unbacked",
        "norm_small",
        "norm_any 1 5",
        "4",
    ]


TRACING = """
from functorch.compile import make_boxed_func
from torch._dynamo.backends.common import aot_autograd

torch._dynamo.config.capture_dynamic_output_shape_ops = True

def show(graph, given):
    called = [str(node.target) for node in graph.graph.nodes if node.op == "call_function"]
    print(*[name for name in called if name.startswith(("aten.si", "aten.add", "aten.sub"))])
    return make_boxed_func(graph.forward)

def compiled(function, **options):
    return torch.compile(function, backend=aot_autograd(fw_compiler=show), fullgraph=True, **options)
"""


def test_a_kernel_that_compilers_see_is_guarded(project: Path) -> None:
    """A symbolic size gets a guard: the program is traced once for each side of the bound."""
    program = """
    f = compiled(ops.seen, dynamic=True)
    for size in (5, 7, 9, 12, 6):
        x = torch.randn(size)
        torch.testing.assert_close(f(x), x.sin())
    print(torch._dynamo.utils.counters["stats"]["unique_graphs"])
    """
    assert _printed(project, program, HEAD + TRACING) == [
        "aten.sin.default",
        "aten.sin.default aten.add.Tensor",
        "2",
    ]


def test_the_rest_runs_where_a_traced_condition_is_unknown(project: Path) -> None:
    """Not the second row, though its condition holds: whether the first does is not known."""
    program = """
    def f(x):
        return ops.seen(x.nonzero().squeeze(1).float())

    f = compiled(f)
    for count in (12, 20, 3):
        x = torch.ones(count)
        torch.testing.assert_close(f(x), torch.arange(count).float().sin())
    torch._dynamo.reset()
    f(torch.ones(3))
    """
    assert _printed(project, program, HEAD + TRACING) == [
        "aten.sin.default aten.sub.Tensor",
        "aten.sin.default aten.sub.Tensor",
        # Of three elements no more than eight can be selected.
        "aten.sin.default",
    ]


def test_without_a_rest_an_unknown_condition_is_refused(project: Path) -> None:
    program = """
    print(ops.composed(torch.ones(3)).shape, ops.composed(torch.ones(9)).shape)

    def f(x):
        return ops.composed(x.nonzero().squeeze(1).float())

    for function, size in ((f, 20), (ops.composed, 20)):
        try:
            compiled(function)(torch.ones(size))
        except Exception as error:
            print([line for line in str(error).splitlines() if "no kernel takes" in line][0])
    """
    printed = _printed(project, program, HEAD + TRACING)
    assert printed[0] == "torch.Size([3]) torch.Size([9])"
    words = "ops.yaml:35: my::composed for CompositeImplicitAutograd: no kernel takes x="
    assert [words in line for line in printed[1:]] == [True, True]


def test_a_counter_says_what_ran(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = """
    for size in (3, 5, 7):
        ops.norm(torch.randn(2, size))
    """
    program = HEAD + program.replace("\n    ", "\n")
    assert run_python(project, "-c", program).stderr == ""
    monkeypatch.setenv("TORCHGEN_LITE_TRACE", "kernels")
    assert run_python(project, "-c", program).stderr == """\
ops.yaml:6: my::norm for CPU: norm_small ran once
ops.yaml:7: my::norm for CPU: norm_any ran 2 times
"""


def test_nothing_is_paid_without_the_counter(project: Path) -> None:
    """The function that finds a kernel is that of operators with one kernel."""
    program = "from my_ops import _library, _rows\nprint(_rows.kernel is _library.resolve)\n"
    assert _printed(project, program) == ["True"]


LAUNCHED = """\
import torch
import triton
import triton.language as tl
from torch.library import wrap_triton


@triton.jit
def _add(x, out, n, BY: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) + BY, mask=at < n)


def _added(x, by):
    out = torch.empty_like(x)
    wrap_triton(_add)[(triton.cdiv(x.numel(), 64),)](x, out, x.numel(), BY=by, BLOCK=64)
    return out


def seen_small(x):
    return _added(x, 1)


def seen_whole(x):
    return _added(x, 2)


def seen_any(x):
    return _added(x, 3)


composed_small = composed_large = seen_any
"""


@pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="triton is not installed")
def test_triton_runs_the_row(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "others.py").write_text(OTHERS + LAUNCHED)
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    program = "print(*[ops.seen(torch.zeros(n, n)[:, 0])[0].item() for n in (1, 8, 9)], ops.seen(torch.zeros(9))[0].item())"
    assert _printed(project, program) == ["1.0 1.0 3.0 2.0"]
    (project / "others.py").write_text(OTHERS)


@pytest.mark.parametrize(
    ("config", "codes"),
    [("", ["TG302"]), ("defines = false\n", ["TG302"])],
    ids=["Python defines", "C++ defines"],
)
def test_a_row_that_no_module_has(tmp_path: Path, config: str, codes: list[str]) -> None:
    """Where C++ defines the operators, all kernels for a key are in Python, or none is."""
    entry = """\
- func: my::f(Tensor x) -> Tensor
  dispatch:
    CPU: [{when: x.dim() == 1, kernel: f_one}, f_any]
    CUDA: [{when: x.dim() == 1, kernel: g_one}, g_any]
  fake: {like: x}
"""
    (tmp_path / "ops.yaml").write_text(entry)
    (tmp_path / "kern.py").write_text("def f_one(x): ...\ndef g_one(x): ...\ndef g_any(x): ...\n")
    (tmp_path / "torchgen_lite.toml").write_text(
        'schema = ["ops.yaml"]\ntargets = ["torch-python"]\n'
        f'[target.torch-python]\nkernels = ["kern"]\n{config}'
    )
    found = pipeline.generate_all(load(root=tmp_path)).diagnostics
    assert [d.code for d in found if d.severity == "error"] == codes
