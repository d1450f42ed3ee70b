"""The field `axes:`: shapes, `vmap`, DTensor and flops, beside what PyTorch does for operators of its own."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from textwrap import dedent

import pytest

from tests.torch_python.generated import run_program, run_python, write_package

pytestmark = pytest.mark.torch
HERE = Path(__file__).parent

SETUP = """
import sys
import warnings
import torch
import my_ops as my
from kern import CALLS

warnings.filterwarnings("ignore", "`torch.jit")
torch.manual_seed(0)

def counted(function, *args):
    CALLS.clear()
    return function(*args), CALLS.total() if hasattr(CALLS, "total") else sum(CALLS.values())
"""

# A mesh of four processes that this one pretends to be in, and DTensors whose pieces have these values.
MESH = """
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard
from torch.testing._internal.distributed.fake_pg import FakeStore

dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=4)
MESH, SQUARE = init_device_mesh("cpu", (4,)), init_device_mesh("cpu", (2, 2))

def placed(shape, *placements, mesh=MESH):
    local = list(shape)
    for placement in placements:
        if placement.is_shard():
            local[placement.dim] //= mesh.size() // mesh.ndim
    return DTensor.from_local(torch.randn(local), mesh, placements)

def of(value):
    return [list(one.placements) for one in (value if isinstance(value, (tuple, list)) else [value])]
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("axes") / "axes_ops"
    shutil.copytree(HERE / "axes_ops", folder)
    write_package(folder)
    return folder


def test_generated_tests_pass(project: Path) -> None:
    """Axes, fakes, kernels, rules of vmap and strategies agree."""
    tests = "generated/torch-python/tests"
    done = run_python(project, "-m", "pytest", "-q", "-p", "no:cacheprovider", tests)
    assert done.returncode == 0, done.stdout
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed and int(passed[1]) == 241


LIES = """\
- func: my::softmax(Tensor x) -> Tensor
  dispatch: {CPU: softmax}
  axes: x[*b, d] -> [*b, d]
  samples:
    - (randn(4, 6))
- func: my::mean(Tensor x) -> Tensor
  dispatch: {CPU: mean}
  axes: x[*b, k+] -> [*b]
  samples:
    - (randn(4, 6))
- func: my::turned(Tensor x) -> Tensor
  dispatch: {CPU: turned}
  axes: x[m!, n!] -> [m!, n!]
  samples:
    - (randn(4, 6))
- func: my::packed(Tensor x) -> Tensor
  dispatch: {CPU: packed}
  axes: x[*b] -> [*b]
  samples:
    - (randn(4, 6))
- func: my::shifted(Tensor x, Tensor bias) -> Tensor
  dispatch: {CPU: shifted}
  axes: x[n, k+], bias[n] -> [n]
  samples:
    - (randn(4, 6), randn(4))
- func: my::stretched(Tensor x, Tensor factor) -> Tensor
  dispatch: {CPU: stretched}
  axes: x[n, k+], +factor[n] -> [n]
  samples:
    - (randn(4, 6), randn(4))
- func: my::running(Tensor x) -> Tensor
  dispatch: {CPU: running}
  axes: x[*b] -> [*b]
  samples:
    - (randn(3))
"""
LYING_KERNELS = """
import torch
def softmax(x): return x.softmax(-1)
def mean(x): return x.mean(-1)
def turned(x): return x.t().contiguous()
def packed(x): return x.as_strided(x.shape, torch.empty(x.shape).stride()).clone()
def shifted(x, bias): return x.sum(-1) + bias
def stretched(x, factor): return x.sum(-1) * factor
def running(x): return x.cumsum(0)
"""


def test_a_line_that_is_wrong_fails_the_generated_tests(project: Path, tmp_path: Path) -> None:
    folder = tmp_path / "lies"
    folder.mkdir()
    (folder / "ops.yaml").write_text(LIES)
    (folder / "kern.py").write_text(LYING_KERNELS)
    shutil.copy(project / "torchgen_lite.toml", folder)
    write_package(folder)
    tests = ("generated/torch-python/tests", "-k", "not compile and not inductor")
    done = run_python(folder, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests)
    failed = set(re.findall(r"^FAILED .*::(\S+)", done.stdout, flags=re.M))
    assert failed == {
        "test_opcheck[turned_0]",
        "test_axes[turned_0]",
        "test_layouts[packed_0]",
        "test_layouts[turned_0]",
        "test_integers[turned_0]",
        "test_vmap[packed_0]",
        "test_slices[1-softmax_0]",
        "test_vmap[running_0]",
        "test_sharded[softmax_0]",
        "test_sharded[mean_0]",
        "test_sharded[shifted_0]",
        "test_sharded[stretched_0]",
    }


def test_fakes_have_the_shapes_and_say_which_axis_is_wrong(project: Path) -> None:
    program = """
        from torch._subclasses import FakeTensorMode
        e = torch.empty
        CALLS_OF = {
            "mm": lambda: my.mm(e(2, 3), e(3, 5)),
            "rms_norm": lambda: my.rms_norm(e(2, 3, 4), e(4)),
            "promoted": lambda: my.rms_norm(e(2, 4, dtype=torch.bfloat16), e(4)),
            "broadcast": lambda: my.muladd(e(2, 1), e(3), 1.0),
            "none of a list": lambda: my.weighted_sum([e(2, 3)], None),
            "several *": lambda: my.outer(e(2, 3), e(4)),
            "list": lambda: my.scaled([e(2), e(2)], 2.0),
            "own dtype": lambda: my.peaks(e(2, 3)),
            "zero": lambda: my.mm(e(0, 3), e(3, 0)),
            "k": lambda: my.mm(e(2, 3), e(4, 5)),
            "dimensions": lambda: my.mm(e(3), e(3, 5)),
            "d": lambda: my.rms_norm(e(2, 3), e(4)),
            "b": lambda: my.muladd(e(3), e(4), 1.0),
            "in a list": lambda: my.weighted_sum([e(3), e(4)]),
            "written": lambda: my.axpy(e(3), e(2, 3), 1.0),
        }
        for name, call in CALLS_OF.items():
            with FakeTensorMode():
                try:
                    found = call()
                except RuntimeError as error:
                    print(f"{name}: {error}")
                    continue
                every = found if isinstance(found, (list, tuple)) else [found]
                print(f"{name}:", *(f"{str(v.dtype)[6:]}{list(v.shape)}" for v in every))
    """
    assert run_program(project, SETUP + dedent(program)).splitlines() == [
        "mm: float32[2, 5]",
        "rms_norm: float32[2, 3, 4] float32[2, 3]",
        "promoted: my::rms_norm: result out is float32 or bfloat16, as the tensors of this call have several dtypes: "
        "the entry has to say which with `dtype` under `fake:`",
        "broadcast: float32[2, 3]",
        "none of a list: float32[2, 3]",
        "several *: float32[2, 3, 4]",
        "list: float32[2] float32[2]",
        "own dtype: float32[3] int64[3]",
        "zero: float32[0, 0]",
        "k: my::mm: axis k is 3 in a and 4 in b",
        "dimensions: my::mm: a[m, k+] has 1 dimension",
        "d: my::rms_norm: axis d is 3 in x and 4 in weight",
        "b: my::muladd: axis *b is 3 in a and 4 in b",
        "in a list: my::weighted_sum: axis *b is 3 in xs and 4 in xs",
        "written: my::axpy: y[*b] has shape (3,), but the result has (2, 3)",
    ]


def test_vmap_is_one_call_where_the_axes_allow_it(project: Path) -> None:
    """Each result is compared with that of a loop; what is printed is the number of calls of the kernel."""
    program = """
        from torch import vmap
        x, row, square = torch.randn(5, 3, 4), torch.randn(5, 4), torch.randn(5, 4, 4)

        def looped(function, in_dims, args):
            rows = [
                function(*(a.select(d, i).clone() if d is not None else a for a, d in zip(args, in_dims)))
                for i in range(5)
            ]
            return torch.utils._pytree.tree_map(lambda *some: torch.stack(some), *rows)

        def written(function):
            def call(y, *args):
                y = y.clone()
                found = function(y, *args)
                assert found is None or found is y
                return y
            return call

        for name, function, in_dims, args in (
            ("first", lambda x: my.muladd(x, x, 2.0), (0,), (x,)),
            ("last", lambda x, y: my.muladd(x, y, 2.0), (2, 1), (torch.randn(3, 4, 5), torch.randn(4, 5))),
            ("one alone", lambda x, y: my.muladd(x, y, 2.0), (0, None), (x, x[0])),
            ("broadcast", lambda x, y: my.muladd(x, y, 2.0), (0, 0), (x, row)),
            ("larger alone", lambda x, y: my.muladd(x, y, 2.0), (0, None), (row, x[0])),
            ("rms_norm", lambda x: my.rms_norm(x, row[0]), (0,), (x,)),
            ("weights", lambda x, w: my.rms_norm(x, w), (0, 0), (x, row)),
            ("no *", lambda a, b: my.mm(a, b), (0, 0), (x, square)),
            ("list", lambda x, y: my.weighted_sum([x, y], x), (0, None), (x, x[0])),
            ("of a list", lambda x: my.scaled([x, x], 2.0), (1,), (torch.randn(3, 5),)),
            ("several *", lambda x, y: my.outer(x, y), (0, None), (x, row[0])),
            ("the second *", lambda x, y: my.outer(x, y), (None, 0), (x[0], row)),
            ("both *", lambda x, y: my.outer(x, y), (0, 0), (x, row)),
            ("not first", lambda x: my.peaks(x), (0,), (x,)),
            # A tensor without dimensions has no part in the dtype of the result.
            ("a scalar each", lambda x, y: my.muladd(x, y, 2.0), (0, 0), (x, torch.ones(5).double())),
            ("a scalar", lambda x, y: my.muladd(x, y, 2.0), (0, None), (x, torch.tensor(2.0).double())),
            ("written", written(lambda y, x: my.axpy(y, x, 2.0)), (0, 0), (x, x)),
            ("less is read", written(lambda y, x: my.axpy(y, x, 2.0)), (0, None), (x, x[0])),
            ("in place", written(lambda y: my.scale_(y, 2.0)), (2,), (torch.randn(3, 4, 5),)),
            ("summed", lambda x: my.rms_norm_backward(x, x, row[0], x[:, 0]), (0,), (x,)),
        ):
            wanted = looped(function, in_dims, args)
            found, calls = counted(lambda: vmap(function, in_dims)(*args))
            torch.testing.assert_close(found, wanted)
            print(f"{name}: {calls}")

        found, calls = counted(vmap(vmap(lambda x, y: my.muladd(x, y, 2.0), (0, None))), x, row)
        torch.testing.assert_close(found, x * row[:, None] + 2.0)
        print(f"nested: {calls}")
        gradient = torch.func.grad(lambda w, x: my.rms_norm(x, w)[0].sin().sum())
        found = vmap(gradient, (None, 0))(row[0], x)
        torch.testing.assert_close(found, torch.stack([gradient(row[0], one) for one in x]))
        try:
            vmap(lambda x: my.axpy(row[0], x, 2.0))(row)
        except RuntimeError as error:
            print(error)
    """
    assert run_program(project, SETUP + dedent(program)).splitlines() == [
        "first: 1",
        "last: 1",
        "one alone: 1",
        "broadcast: 1",
        "larger alone: 1",
        "rms_norm: 1",
        "weights: 5",
        "no *: 5",
        "list: 1",
        "of a list: 1",
        "several *: 1",
        "the second *: 1",
        "both *: 5",
        "not first: 1",
        "a scalar each: 5",
        "a scalar: 5",
        "written: 1",
        "less is read: 1",
        "in place: 1",
        "summed: 5",
        "nested: 1",
        "my::axpy: vmap can't write to y, which it does not map over",
    ]


def test_compiled_calls_have_one_node_and_symbolic_sizes(project: Path) -> None:
    program = """
        graphs = []

        def backend(graph, inputs):
            graphs.append(str(graph.graph))
            return graph.forward

        mapped = torch.compile(torch.vmap(lambda x: my.rms_norm(x, weight)[0]), backend="aot_eager", fullgraph=True)
        weight = torch.randn(6)
        x = torch.randn(8, 3, 6)
        torch.testing.assert_close(mapped(x), my.rms_norm(x, weight)[0])
        print(counted(mapped, x)[1])
        product = torch.compile(lambda a, b: my.mm(a, b), backend=backend, fullgraph=True, dynamic=True)
        for m, k, n in ((2, 3, 4), (5, 6, 7), (8, 9, 2)):
            a, b = torch.randn(m, k), torch.randn(k, n)
            torch.testing.assert_close(product(a, b), a @ b)
        print(len(graphs))
    """
    assert run_program(project, SETUP + dedent(program)) == "1\n1\n"


def test_nothing_of_dtensor_is_imported_before_it_is_used(project: Path) -> None:
    program = """
        MODULES = "torch.distributed.tensor", "torch.utils.flop_counter"
        before = len(sys.meta_path)
        my.mm(torch.ones(2, 3), torch.ones(3, 2))
        print([name in sys.modules for name in MODULES])
        from torch.distributed.tensor import DTensor
        from torch.utils.flop_counter import FlopCounterMode
        known = DTensor._op_dispatcher.sharding_propagator.op_strategy_funcs
        print(torch.ops.my.mm.default in known, before - len(sys.meta_path))
        a, b = torch.randn(2, 3, requires_grad=True), torch.randn(3, 5)
        for function in (my.mm, torch.mm):
            with FlopCounterMode(display=False) as counter:
                function(a, b).sum().backward()
            print(counter.get_total_flops())
        with FlopCounterMode(display=False) as counter:
            my.muladd(a, a, 2.0)
        print(counter.get_total_flops())
    """
    assert run_program(project, SETUP + dedent(program)).splitlines() == [
        "[False, False]",
        "True 2",
        "120",
        "120",
        "0",
    ]


def test_results_are_placed_as_pytorch_places_its_own(project: Path) -> None:
    """For every placement of the tensors, on one and on two dimensions of a mesh."""
    program = """
        from itertools import product
        import torch.nn.functional as F
        ONE = Shard(0), Shard(1), Replicate()

        def compare(mesh, count, ours, theirs, *shapes):
            same = 0
            for placements in product(product(ONE, repeat=count), repeat=len(shapes)):
                if any(p.is_shard() and p.dim >= len(s) for s, own in zip(shapes, placements) for p in own):
                    continue
                args = [placed(s, *own, mesh=mesh) for s, own in zip(shapes, placements)]
                found, wanted = ours(*args), theirs(*args)
                assert of(found) == of(wanted), (placements, of(found), of(wanted))
                same += 1
            print(same)

        compare(MESH, 1, my.mm, torch.mm, (8, 8), (8, 8))
        compare(MESH, 1, lambda a, b: my.muladd(a, b, 1.0), torch.mul, (8, 8), (8, 8))
        compare(MESH, 1, lambda a, b: my.muladd(a, b, 1.0), torch.mul, (8, 8), (8,))
        compare(MESH, 1, lambda x, w: my.rms_norm(x, w)[0], lambda x, w: F.layer_norm(x, (8,), w), (8, 8), (8,))
        compare(SQUARE, 2, my.mm, torch.mm, (8, 8), (8, 8))
        mean = my.rms_norm(placed((8, 8, 8), Shard(1)), placed((8,), Replicate()))
        print(of(mean), [list(one.shape) for one in mean])
        print(of(my.weighted_sum([placed((8, 8), Shard(0)), placed((8,), Replicate())], placed((8, 1), Shard(0)))))
        print(of(my.scaled([placed((8,), Shard(0)), placed((8,), Shard(0))], 2.0)))
        print(of(my.outer(placed((8, 8), Replicate()), placed((8,), Shard(0)))))
        print(of(my.peaks(placed((8, 8), Shard(1)))))
    """
    assert run_program(project, SETUP + MESH + dedent(program)).splitlines() == [
        "9",
        "9",
        "6",
        "6",
        "81",
        "[[Shard(dim=1)], [Shard(dim=1)]] [[8, 8, 8], [8, 8]]",
        "[[Shard(dim=0)]]",
        "[[Shard(dim=0)], [Shard(dim=0)]]",
        "[[Shard(dim=2)]]",
        "[[Shard(dim=0)], [Shard(dim=0)]]",
    ]


def test_sharded_training_gives_the_results_and_gradients_of_one_process(project: Path) -> None:
    """A block with tensor parallelism, whose collectives run in one process; replicated inputs get partial gradients."""
    program = """
        from torch.distributed._local_tensor import LocalTensorMode
        from torch.distributed.tensor import distribute_tensor

        def block(x, weight, up, down):
            hidden = my.mm(my.rms_norm(x, weight)[0], up)
            return my.mm(my.muladd(hidden, hidden, 0.5), down)

        whole = [torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in ((4, 6), (6,), (6, 8), (8, 6))]
        wanted = block(*whole)
        wanted.sin().sum().backward()
        with LocalTensorMode(4):
            mesh = init_device_mesh("cpu", (2, 2))
            for name, places in {
                "tensor parallel": [(Replicate(), Replicate()), (Replicate(), Replicate()),
                                    (Replicate(), Shard(1)), (Replicate(), Shard(0))],
                "both": [(Shard(0), Replicate()), (Replicate(), Replicate()), (Replicate(), Shard(1)),
                         (Replicate(), Shard(0))],
            }.items():
                parts = [distribute_tensor(t.detach(), mesh, p).requires_grad_() for t, p in zip(whole, places)]
                found = block(*parts)
                print(name, of(found), of([one.grad for one in (found.sin().sum().backward(), parts)[1]]))
                torch.testing.assert_close(found.full_tensor().reconcile(), wanted)
                for one, other in zip(parts, whole):
                    torch.testing.assert_close(one.grad.full_tensor().reconcile(), other.grad)
    """
    assert run_program(project, SETUP + MESH + dedent(program)).splitlines() == [
        "tensor parallel [[Replicate(), Partial(sum)]] [[Shard(dim=0), Shard(dim=0)], [Partial(sum), Partial(sum)], [Replicate(), Shard(dim=1)], [Replicate(), Shard(dim=0)]]",
        "both [[Shard(dim=0), Partial(sum)]] [[Shard(dim=0), Shard(dim=0)], [Partial(sum), Partial(sum)], [Partial(sum), Shard(dim=1)], [Partial(sum), Shard(dim=0)]]",
    ]


def test_a_bias_of_a_sum_that_is_cut_is_added_once(project: Path) -> None:
    """Parallel over the rows of a weight: each process has a part of the sum, and the bias is in one of them, or in parts."""
    program = """
        from torch.distributed._local_tensor import LocalTensorMode
        from torch.distributed.tensor import distribute_tensor

        shapes = ((4, 8), (6, 8), (6,))
        whole = [torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in shapes]
        wanted = my.linear(*whole)
        wanted.sin().sum().backward()
        with LocalTensorMode(2):
            mesh = init_device_mesh("cpu", (2,))
            for places in (
                [Shard(1), Shard(1), Replicate()],
                [Replicate(), Shard(0), Shard(0)],
                [Shard(0), Replicate(), Replicate()],
            ):
                parts = [distribute_tensor(t.detach(), mesh, [p]).requires_grad_() for t, p in zip(whole, places)]
                found = my.linear(*parts)
                print(of(found))
                torch.testing.assert_close(found.full_tensor().reconcile(), wanted)
                found.sin().sum().backward()
                for one, other in zip(parts, whole):
                    torch.testing.assert_close(one.grad.full_tensor().reconcile(), other.grad)
    """
    assert run_program(project, SETUP + MESH + dedent(program)).splitlines() == [
        "[[Partial(sum)]]",
        "[[Shard(dim=1)]]",
        "[[Shard(dim=0)]]",
    ]


def test_what_is_written_is_never_redistributed(project: Path) -> None:
    program = """
        row, column = slice(0, 4), slice(None)
        for placements, where in (
            ((Shard(0), Replicate()), (row, column)),
            ((Replicate(), Shard(1)), (column, row)),
            ((Shard(0), Shard(1)), (row, row)),
            ((Shard(1), Shard(0)), (row, row)),
        ):
            y, x = placed((8, 8), *placements, mesh=SQUARE), placed((8, 8), Replicate(), Replicate(), mesh=SQUARE)
            wanted = y.to_local() + 2 * x.to_local()[where]
            assert my.axpy(y, x, 2.0) is None
            torch.testing.assert_close(y.to_local(), wanted)
            before = y.to_local().clone()
            assert my.scale_(y, 2.0) is y and y.placements == placements
            torch.testing.assert_close(y.to_local(), 2 * before)
        try:
            my.axpy(placed((8, 8), Partial()), placed((8, 8), Replicate()), 2.0)
        except RuntimeError as error:
            print(str(error).splitlines()[0])
            # Generated tests know it by its class, which DTensor's own errors have behind them.
            while type(error).__name__ != "NotPlaced":
                error = error.__cause__
            print(type(error).__module__)
    """
    assert run_program(project, SETUP + MESH + dedent(program)).splitlines() == [
        "my.axpy.default can't take tensors that are placed like this: DTensor moves neither what is written nor what "
        "is given by keyword",
        "my_ops._sharding",
    ]


def test_jagged_tensors_are_one_call_on_their_values(project: Path) -> None:
    """In a sum over `*b` as well; what is not independent along the two dimensions in front is refused."""
    program = """
    parts = [torch.randn(2, 6), torch.randn(3, 6)]
    leaves = [one.clone().requires_grad_() for one in parts]
    weight, eps = torch.randn(6, requires_grad=True), 0.1
    nested = torch.nested.as_nested_tensor(leaves, layout=torch.jagged)
    (out, rstd), count = counted(my.rms_norm, nested, weight, eps)
    print(count, out.shape == nested.shape, rstd.shape == nested.shape[:2])
    found = torch.autograd.grad(out.values().square().sum(), [*leaves, weight])
    whole = my.rms_norm(torch.cat(leaves), weight, eps)[0]
    wanted = torch.autograd.grad(whole.square().sum(), [*leaves, weight])
    torch.testing.assert_close(found, wanted)

    total = nested.detach().clone()
    my.axpy(total, nested.detach(), 2.0)
    torch.testing.assert_close(total.values(), torch.cat(parts) * 3)
    summed = my.weighted_sum([total, total])
    torch.testing.assert_close(summed.values(), total.values() * 2)

    other = torch.nested.nested_tensor(parts[::-1], layout=torch.jagged)
    for call in (
        lambda: my.mm(nested, torch.randn(6, 2)),
        lambda: my.weighted_sum([nested, other]),
        lambda: my.weighted_sum([nested, torch.ones(5, 6)]),
        lambda: my.rms_norm(nested.transpose(1, 2), weight),
        lambda: my.turned(nested),
        lambda: my.update(total, nested),
    ):
        try:
            print(call())
        except (NotImplementedError, RuntimeError) as error:
            print(error)
    """
    assert run_program(project, SETUP + dedent(program)).splitlines() == [
        "1 True True",
        "my::mm: a[m, k+] has 3 dimensions",
        "my::weighted_sum: xs[*b]: not with these jagged tensors",
        "my::weighted_sum: xs[*b]: not with these jagged tensors",
        "my::rms_norm: x[*b, d!]: not with these jagged tensors",
        "my::turned: not with jagged tensors",
        "my::update: not with jagged tensors",
    ]
