"""Fakes that are derived, beside what kernels made of PyTorch's functions give: dtypes, shapes and strides."""

from __future__ import annotations

import shutil
from pathlib import Path
from textwrap import dedent

import pytest

from tests.torch_python.generated import run_program, write_package

pytestmark = pytest.mark.torch
HERE = Path(__file__).parent

SETUP = """
import itertools
import warnings
import torch
import pw_ops
from torch._prims_common import check_significant_strides

warnings.filterwarnings("ignore", "ComplexHalf support")
warnings.filterwarnings("ignore", "Torchinductor does not support code generation for complex")
OPS = torch.ops.pw
COUNT = 0

def on_meta(value):
    if not isinstance(value, torch.Tensor):
        return value
    return torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device="meta")

def differs(op, *args):
    # What a fake says that its kernel does not do; nothing where the kernel refuses the arguments.
    global COUNT
    try:
        real = op(*args)
    except (NotImplementedError, RuntimeError):
        return ""
    COUNT += 1
    # A fake is the kernel for Meta, too, and quicker there.
    fake = op(*map(on_meta, args))
    if fake.dtype != real.dtype:
        return f"{fake.dtype} for {real.dtype}"
    if fake.shape != real.shape or not check_significant_strides(fake, real)[0]:
        return f"{fake.shape} {fake.stride()} for {real.shape} {real.stride()}"
    return ""

def report(name, op, *args):
    found = differs(op, *args)
    if found:
        print(name, found)
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pointwise") / "pointwise_ops"
    shutil.copytree(HERE / "pointwise_ops", folder)
    write_package(folder)
    return folder


def test_dtypes_are_those_of_pytorch_for_every_kind_of_tensor_and_number(project: Path) -> None:
    """Where PyTorch's own result depends on the order of computing, the fake asks for a rule."""
    program = """
        DTYPES = (torch.bool, torch.uint8, torch.int64, torch.float16, torch.float32, torch.float64, torch.complex64)
        NUMBERS = {
            OPS.times_scalar: (True, 3, 2.5, 1j), OPS.times_float: (2.5, 2), OPS.times_int: (3,),
            OPS.times_symint: (3,), OPS.times_bool: (True,), OPS.times_complex: (1j, 2.0),
        }
        every = [torch.ones(shape).to(dtype) for shape in ((), (2, 3)) for dtype in DTYPES]
        for a in every:
            for op, numbers in NUMBERS.items():
                for number in numbers:
                    report((op, a.dtype, a.dim(), number), op, a, number)
            report((a.dtype, a.dim()), OPS.times_if, a)
            report((a.dtype, a.dim()), lambda a: OPS.times_if(a, s=2.5), a)
            report((a.dtype, a.dim()), OPS.sigmoid, a)
        undecided = refused = 0
        for a, b in itertools.product(every, every):
            name = a.dtype, a.dim(), b.dtype, b.dim()
            for op in (OPS.add, OPS.add_if, OPS.less):
                report((op, *name), op, a, b)
            report(("where", *name), OPS.where, torch.ones(3, dtype=torch.bool), a, b)
            for number in (True, 3, 2.5, 1j):
                if (a * number + b).dtype == ((a + b) * number).dtype == (a + b * number).dtype:
                    report(("add_times", *name, number), OPS.add_times, a, b, number)
                    report(("times_add", *name, number), OPS.times_add, a, b, number)
                    continue
                for op in (OPS.add_times, OPS.times_add):
                    undecided += 1
                    try:
                        op(on_meta(a), on_meta(b), number)
                    except RuntimeError as error:
                        refused += "as the tensors of this call have several dtypes" in str(error)
        print(COUNT > 2000, refused == undecided > 50)
    """
    assert run_program(project, SETUP + dedent(program)) == "True True\n"


def test_a_dtype_that_the_axes_leave_open_is_refused(project: Path) -> None:
    """Whichever way the kernel computes it, the fake has its dtype or none; with a rule it has always one."""
    program = """
        dtypes = (torch.int32, torch.int64, torch.bfloat16, torch.float32, torch.float64, torch.complex64)
        refused = right = 0

        def compare(op, *args):
            global refused, right
            real = op(*args)
            real = real if isinstance(real, tuple) else (real,)
            try:
                fake = op(*map(on_meta, args))
            except RuntimeError as error:
                assert "result" in str(error) and "`fake:`" in str(error), error
                assert args[0].dtype != args[1].dtype
                refused += 1
                return
            fake = fake if isinstance(fake, tuple) else (fake,)
            assert [one.dtype for one in fake] == [one.dtype for one in real], (op, args)
            right += 1

        for a, b in itertools.product(dtypes, dtypes):
            x = torch.ones(2, 3).to(a)
            for both in (False, True):
                compare(OPS.scaled, x, torch.ones(3).to(b), both)
                compare(OPS.tallied, x, torch.ones(2, 3).to(b), both)
            compare(OPS.scaled_with_rule, x, torch.ones(3).to(b))
            compare(OPS.tallied_with_rule, x, torch.ones(2, 3).to(b))
        compiled = torch.compile(lambda x, w: OPS.scaled(x, w, True)[1] + 1, backend="aot_eager", fullgraph=True)
        try:
            compiled(torch.ones(2, 3), torch.ones(3).double())
        except RuntimeError as error:
            print("pw::scaled: result out is float64 or float32" in str(error))
        print(refused, right)
    """
    assert run_program(project, SETUP + dedent(program)) == "True\n72 144\n"


LAYOUTS = """
R = torch.randn
LAYOUTS = {
    "contiguous": R(2, 3, 4, 5),
    "channels_last": R(2, 3, 4, 5).to(memory_format=torch.channels_last),
    "transposed": R(2, 3, 5, 4).transpose(2, 3),
    "reversed": R(5, 4, 3, 2).permute(3, 2, 1, 0),
    "permuted": R(3, 2, 4, 5).transpose(0, 1),
    "expanded": R(1, 3, 4, 5).expand(2, 3, 4, 5),
    "expanded inside": R(2, 1, 4, 5).expand(2, 3, 4, 5),
    "one number": R(1).expand(2, 3, 4, 5),
    "sliced": R(2, 3, 4, 10)[..., ::2],
    "sliced and transposed": R(2, 3, 5, 8)[..., ::2].transpose(2, 3),
    "row": R(5),
    "column": R(3, 1, 1),
    "matrix, transposed": R(5, 4).t(),
    "no dimensions": R(()),
    "size one, channels_last": R(2, 3, 1, 1).to(memory_format=torch.channels_last),
    "size one, transposed": R(2, 1, 1, 5).transpose(1, 2),
}
EMPTY = [R(2, 0, 4, 1), R(2, 4, 0, 1).transpose(1, 2), R(2, 1, 4, 1), R(2, 4, 1, 1).transpose(1, 2), R(1), R(())]
"""


def test_strides_are_those_of_pytorch_for_every_pair_of_layouts(project: Path) -> None:
    program = """
        for name, a in LAYOUTS.items():
            report(name, OPS.times_float, a, 2.5)
            report(name, OPS.add_if, a)
            if a.dim() > 1:
                report(name, OPS.biased, a, R(a.shape[1]))
        for (one, a), (other, b) in itertools.product(LAYOUTS.items(), LAYOUTS.items()):
            for op, args in ((OPS.add, (a, b)), (OPS.times_add, (a, b, 2.5)), (OPS.where, (a > 0, b, a))):
                report((op, one, other), op, *args)
        for a, b in itertools.product(EMPTY, EMPTY):
            report(("empty", a.shape, b.shape), OPS.add, a, b)
        some = [LAYOUTS[name] for name in ("contiguous", "channels_last", "transposed", "expanded", "row", "sliced")]
        for abc in itertools.product(some, some, some):
            report(("addcmul", *(v.stride() for v in abc)), OPS.addcmul, *abc)
        assert OPS.add(R(()), R(2, 3, device="meta").t()).stride() == (1, 3)
        print(COUNT > 1000)
    """
    assert run_program(project, SETUP + LAYOUTS + dedent(program)) == "True\n"


def test_compiled_calls_are_as_eager_ones(project: Path) -> None:
    """One program has many calls, and computes with their results, whose bytes it would misread."""
    program = """
        import shutil
        numbers = [torch.arange(6).reshape(2, 3), torch.ones(2, 3, dtype=torch.bool), torch.tensor(3), R(2, 3).half()]
        some = [LAYOUTS[name] for name in ("contiguous", "channels_last", "transposed", "expanded", "sliced", "row")]

        def calls(numbers, some, k):
            for a in numbers:
                yield OPS.times_float(a, 2.5)
                yield OPS.times_scalar(a, 2)
                yield OPS.times_scalar(a, 1j).abs()
                yield OPS.times_symint(a, k)
                yield OPS.sigmoid(a)
                yield OPS.add(a, numbers[0])
            for a in some:
                yield OPS.times_float(a, 2.5)
                for b in some[:3]:
                    yield OPS.times_add(a, b, k)
                    yield OPS.less(b, a)

        def program(numbers, some, k):
            return [value + 1 for value in calls(numbers, some, k)]

        wanted = program(numbers, some, 7)
        for dynamic in (False, True):
            torch._dynamo.reset()
            found = torch.compile(program, backend="aot_eager", fullgraph=True, dynamic=dynamic)(numbers, some, 7)
            torch.testing.assert_close(found, wanted, check_stride=True)
        if shutil.which("g++"):
            torch._dynamo.reset()
            wanted_of_few = program(numbers[:1], some[1:3], 7)
            found = torch.compile(program, fullgraph=True)(numbers[:1], some[1:3], 7)
            torch.testing.assert_close(found, wanted_of_few, check_stride=True)
        print(len(wanted))
    """
    assert run_program(project, SETUP + LAYOUTS + dedent(program)) == "66\n"
