"""A package whose kernels are Python: operators of every kind, checked by PyTorch's own means."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.torch_python.generated import run_program, run_python, write_package

pytestmark = pytest.mark.torch
HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project") / "project"
    shutil.copytree(HERE / "project", folder)
    write_package(folder)
    return folder


def test_generated_tests_pass(project: Path) -> None:
    """opcheck, gradcheck, torch.compile(fullgraph=True), vmap, autocast and references of every sample."""
    done = run_python(
        project, "-m", "pytest", "-q", "-p", "no:cacheprovider", "generated/torch-python/tests"
    )
    assert done.returncode == 0, done.stdout
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed and int(passed[1]) == 197


def test_an_operator_that_is_wrong_fails_its_tests(project: Path, tmp_path: Path) -> None:
    """The generated tests can fail: with another formula, another fake, another reference, and wrong rules."""
    folder = tmp_path / "project"
    shutil.copytree(project, folder)
    schema = folder / "ops.yaml"
    text = schema.read_text()
    text = text.replace("    a: grad * b\n", "    a: grad * b * 2\n")
    text = text.replace("fake: {like: self}\n  derivatives:\n    self: grad * s", FAKE_OF_SCALE)
    text = text.replace("reference: a * b + s", "reference: a * b - s")
    text = text.replace("gradcheck: false", "gradcheck: {eps: 1e-3}")
    schema.write_text(text)
    fakes = folder / "kern" / "fakes.py"
    fakes.write_text(fakes.read_text().replace("(a, b, s), 0", "(b, a, 1.0), 0"))
    write_package(folder)
    tests = (
        "generated/torch-python/tests",
        "-k",
        "(muladd or scale_0 or minmax or step) and not compile",
    )
    done = run_python(folder, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests)
    failed = {
        line.split("::")[1].split(" ")[0] for line in done.stdout.splitlines() if "::" in line
    }
    assert "test_opcheck[scale_0]" in failed and "test_gradcheck[step_0]" in failed
    samples = {f"muladd_{i}_{dtype}" for i in (0, 1) for dtype in ("float32", "bfloat16")}
    assert {f"test_gradcheck[{name}]" for name in samples if "float32" in name} <= failed
    assert {f"test_reference[{name}]" for name in samples} <= failed
    assert {f"test_vmap[{name}]" for name in samples} <= failed
    assert not any("minmax" in name or "autocast" in name for name in failed)


def test_autocast_that_casts_otherwise_fails_its_test(project: Path, tmp_path: Path) -> None:
    folder = tmp_path / "project"
    shutil.copytree(project, folder)
    rules = folder / "generated/torch-python/tl_ops_ops/_autocast.py"
    text = rules.read_text().replace("return torch.float32", "return torch.float16")
    rules.write_text(text.replace("casts.only or list(given)", "list(given)"))
    tests = ("generated/torch-python/tests", "-k", "autocast")
    done = run_python(folder, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests)
    assert "test_autocast[step_0]" in done.stdout and "test_autocast[weigh_0]" in done.stdout
    assert "2 failed, 2 passed" in done.stdout


FAKE_OF_SCALE = "fake: {like: self, shape: [1]}\n  derivatives:\n    self: grad * s"


def test_importing_again_registers_nothing_twice(project: Path) -> None:
    output = run_program(
        project,
        """
        import importlib, sys
        import torch
        import tl_ops_ops

        x = torch.randn(3, 4)
        first = tl_ops_ops.muladd(x, x, 2.0)
        importlib.reload(tl_ops_ops)
        importlib.reload(tl_ops_ops._operators)
        for name in [n for n in sys.modules if n.startswith("tl_ops_ops")]:
            del sys.modules[name]
        import tl_ops_ops as again

        assert again is not tl_ops_ops
        print(torch.equal(again.muladd(x, x, 2.0), first))
        """,
    )
    assert output == "True\n"


def test_a_reload_takes_effect(project: Path, tmp_path: Path) -> None:
    folder = tmp_path / "project"
    shutil.copytree(project, folder)
    output = run_program(
        folder,
        """
        import importlib
        import pathlib
        import torch
        import tl_ops_ops
        from torch._subclasses import FakeTensorMode

        def traced():
            with FakeTensorMode():
                return tuple(tl_ops_ops.scale(torch.empty(5), 2.0).shape)

        print(traced())
        path = pathlib.Path(tl_ops_ops._operators.__file__)
        text = path.read_text()
        path.write_text(text.replace("return torch.empty_like(self)", "return self.new_empty(7)"))
        importlib.reload(tl_ops_ops._operators)
        print(traced())
        """,
    )
    assert output == "(5,)\n(7,)\n"


def test_kernels_are_imported_at_their_first_call(project: Path) -> None:
    output = run_program(
        project,
        """
        import sys
        import torch
        import tl_ops_ops

        print("kern.kernels" in sys.modules)
        tl_ops_ops.scale(torch.ones(1), 2.0)
        print("kern.kernels" in sys.modules)
        """,
    )
    assert output == "False\nTrue\n"


def test_gradients_of_in_place_operators_views_and_lists(project: Path) -> None:
    output = run_program(
        project,
        """
        import torch
        import tl_ops_ops as ops

        a = torch.ones(4, requires_grad=True)
        b = a * 1
        ops.scale_(b, 3.0)
        b.sum().backward()
        print(a.grad.tolist())
        d = torch.ones(2, 3, requires_grad=True)
        ops.diagonal_view(d).sum().backward()
        print(d.grad.tolist())
        xs = [torch.ones(2, requires_grad=True), torch.ones(2)]
        ops.weighted_sum(xs, torch.tensor([2.0, 5.0]), scale=3.0).sum().backward()
        print(xs[0].grad.tolist(), xs[1].grad)
        twice = torch.full((2,), 3.0, requires_grad=True)
        (grad,) = torch.autograd.grad(ops.muladd(twice, twice, 1.0).sum(), twice, create_graph=True)
        print(torch.autograd.grad(grad.sum(), twice)[0].tolist())
        """,
    )
    assert output.splitlines() == [
        "[3.0, 3.0, 3.0, 3.0]",
        "[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]",
        "[6.0, 6.0] None",
        "[2.0, 2.0]",
    ]


def test_what_is_refused_in_place_is_left_as_it_is(project: Path) -> None:
    """Once the kernel has run there is nothing left to refuse."""
    output = run_program(
        project,
        """
        import torch
        import tl_ops_ops as ops

        def attempt(given, other=torch.ones(1)):
            try:
                ops.add_twice_(given, other)
            except RuntimeError as error:
                print(error, given.tolist(), given._version)

        wanted = torch.ones(1, requires_grad=True)
        attempt(torch.ones(1), wanted)
        attempt(wanted * 1, wanted)
        attempt(wanted)
        attempt(wanted.view(1))
        with torch.no_grad():
            print(ops.add_twice_(torch.ones(1), wanted).item())
        """,
    )
    without = "tl_ops::add_twice_ has no derivative with respect to other [1.0] 0"
    leaf = "a leaf Variable that requires grad is being used in an in-place operation. [1.0] 0"
    view = leaf.replace("a leaf", "a view of a leaf")
    assert output.splitlines() == [without, without, leaf, view, "3.0"]


def test_only_what_a_gradient_needs_is_kept(project: Path) -> None:
    output = run_program(
        project,
        """
        import torch
        import tl_ops_ops as ops

        a, b = torch.ones(2, requires_grad=True), torch.ones(2)
        sums, scaled = ops.muladd(a, b, 1.0), ops.scale(a, 2.0)
        print([t is not None for t in sums.grad_fn.saved_tensors])
        print(len(scaled.grad_fn.saved_tensors))
        """,
    )
    # The gradient of `a` needs `b`, that of `b` is not wanted; `scale` keeps a number.
    assert output == "[True, False]\n0\n"


def test_vmap_autocast_export_and_symbolic_sizes(project: Path) -> None:
    output = run_program(
        project,
        """
        import torch
        import tl_ops_ops as ops

        call = lambda a, b: ops.muladd(a, b, 1.0)
        print(tuple(torch.func.vmap(call, in_dims=(1, None))(torch.ones(5, 3), torch.ones(5)).shape))
        for dtype in (torch.bfloat16, torch.float16):
            with torch.autocast("cpu", dtype=dtype):
                print(ops.muladd(torch.ones(3), torch.ones(3), 1.0).dtype)
        more = torch.tensor([1 + 2**-12])
        with torch.autocast("cpu", dtype=torch.bfloat16):
            found = ops.weigh(more, [more, more], weight=more)
        print(found.dtype, found.item() == 3 * (1 + 2**-12))
        counts = []
        def backend(graph, inputs):
            counts.append(graph)
            return graph
        squares = torch.compile(lambda x: ops.squares(x.shape[0]), dynamic=True, fullgraph=True, backend=backend)
        print([squares(torch.ones(n)).tolist() for n in (3, 4)], len(counts))
        class Module(torch.nn.Module):
            def forward(self, a, b):
                return ops.muladd(a, b, 2.0)
        graph = torch.export.export(Module(), (torch.ones(3), torch.ones(3))).graph
        print([str(n.target) for n in graph.nodes if n.op == "call_function"])
        """,
    )
    assert output.splitlines() == [
        "(3, 5)",
        "torch.bfloat16",
        "torch.float16",
        "torch.float32 True",
        "[[0, 1, 4], [0, 1, 4, 9]] 1",
        "['tl_ops.muladd.default']",
    ]


def test_out_variants_refuse_gradients(project: Path) -> None:
    output = run_program(
        project,
        """
        import torch
        import tl_ops_ops as ops

        out = ops.scale_out(torch.ones(3, requires_grad=True), 2.0, out=torch.empty(3))
        try:
            out.sum().backward()
        except RuntimeError as error:
            print(error)
        """,
    )
    assert "scale.out has no derivatives" in output


def test_a_derivative_may_be_differentiated_again(project: Path) -> None:
    """Arguments left at their defaults, lists, keywords and in-place operators in one graph."""
    output = run_program(
        project,
        """
        import torch
        import tl_ops_ops as ops

        x = torch.tensor([1.0, 2.0], requires_grad=True)
        total = ops.weighted_sum([x, ops.muladd(x, x, 1.0)]) + ops.scale(x * 1.0, 3.0)
        (first,) = torch.autograd.grad(total.sum(), x, create_graph=True)
        (second,) = torch.autograd.grad(first.sum(), x)
        print(first.tolist(), second.tolist())
        changed = x * 1.0
        print(ops.scale_(changed, 2.0) is changed, changed.grad_fn.name())
        with torch.no_grad():
            print(ops.scale_(changed, 2.0) is changed, ops.scale(x, 2.0).requires_grad)
        """,
    )
    assert output.splitlines() == [
        "[6.0, 8.0] [2.0, 2.0]",
        "True GeneratedBackwardFor_tl_ops_scale__defaultBackward",
        "True False",
    ]
