"""Projects whose operators are registered by one target, or by several that one package loads.

`OPERATORS` are of each kind that targets register differently: with a fake and without, with gradients that follow from
the reference, from formulas, or from nothing, with rules for `vmap` and `autocast`, composed, in place, out, views.
"""

from __future__ import annotations

import json
from pathlib import Path

from tests.torch_python.generated import run_program
from torchgen_lite.analysis.computed_table import table
from torchgen_lite.analysis.program import Program
from torchgen_lite.runtime.table import MISSING
from torchgen_lite.targets.output import Selection
from torchgen_lite.targets.registered import registrations_of_program

OPERATORS = """\
- func: demo::plain(Tensor x) -> Tensor
  dispatch: {CPU: plain_cpu}
- func: demo::faked(Tensor x) -> Tensor
  dispatch: {CPU: faked_cpu}
  fake: {like: x}
- func: demo::by_hand(Tensor x) -> Tensor
  dispatch: {CPU: by_hand_cpu, Meta: by_hand_meta}
- func: demo::auto(Tensor x) -> Tensor
  dispatch: {CPU: auto_cpu}
  fake: {like: x}
  derivatives: auto
  samples:
    calls:
      - (randn(3))
    reference: x * x
- func: demo::formula(Tensor x) -> Tensor
  dispatch: {CPU: formula_cpu}
  fake: {like: x}
  derivatives: {x: grad * 2}
- func: demo::still(Tensor x) -> Tensor
  dispatch: {CPU: still_cpu}
  fake: {like: x}
  derivatives: {x: non_differentiable}
- func: demo::mapped(Tensor x) -> Tensor
  dispatch: {CPU: mapped_cpu}
  fake: {like: x}
  vmap: mapped_vmap
- func: demo::pointwise(Tensor x) -> Tensor
  dispatch: {CPU: pointwise_cpu}
  axes: x[*n] -> [*n]
- func: demo::cast(Tensor x) -> Tensor
  dispatch: {CPU: cast_cpu}
  fake: {like: x}
  autocast: float32
- func: demo::composed(Tensor x) -> Tensor
  dispatch: {CompositeImplicitAutograd: composed}
- func: demo::everywhere(Tensor x) -> Tensor
  dispatch: {CompositeExplicitAutograd: everywhere}
- func: demo::twice_(Tensor(a!) self) -> Tensor(a!)
  dispatch: {CPU: twice_cpu_}
  derivatives: {self: grad * 2}
- func: demo::write_(Tensor(a!) self, Tensor x) -> Tensor(a!)
  dispatch: {CPU: write_cpu_}
- func: demo::copy.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)
  dispatch: {CPU: copy_out_cpu}
- func: demo::count(Tensor x) -> int
  dispatch: {CPU: count_cpu}
- func: demo::made(int n) -> Tensor
  dispatch: {CompositeExplicitAutograd: made}
"""
RULES = "def mapped_vmap(info, in_dims, x):\n    return x, in_dims[0]\n"
# The targets of each project; those with a library in C++ and a package in Python in either order.
ORDERS = (
    ("cpp-torch", "torch-python"),
    ("torch-python", "cpp-torch"),
    ("docs", "torch-python", "cpp-torch"),
    ("cpp-torch", "docs", "torch-python"),
)
ALONE = (("cpp-torch",), ("torch-python",))


def write_together(folder: Path, targets: tuple[str, ...], more: str = "") -> Path:
    """A project with these targets, and more options of the package in Python."""
    quoted = ", ".join(f'"{target}"' for target in targets)
    config = f'schema = ["ops.yaml"]\ntargets = [{quoted}]\n'
    if "torch-python" in targets:
        config += '[target.torch-python]\npackage = "demo_ops"\nfakes = ["rules"]\n' + more
    folder.mkdir(parents=True, exist_ok=True)
    files = {"ops.yaml": OPERATORS, "torchgen_lite.toml": config, "rules.py": RULES}
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


# What a process that has loaded libraries and modules says of each operator.
_LIVE = """
import json, os, sys, torch
for one in sys.argv[1:]:
    torch.ops.load_library(one) if os.path.isfile(one) else __import__(one)
names = [name for name in torch._C._dispatch_get_all_op_names() if name.startswith("demo::")]
print(json.dumps({name: torch._C._dispatch_dump_table(name) for name in names}))
"""


# What the package adds for operators that write depends on the release that loads it (`_compiled.functionalize`), and is
# in no table.
_FUNCTIONALIZED = ("Functionalize", "FuncTorchDynamicLayerFrontMode")


def wrong_cells(program: Program, selection: Selection, *loaded: str) -> list[tuple[object, ...]]:
    """Where `table` and the dispatcher differ: operator, key, what `table` says, and what PyTorch has."""
    dumps: dict[str, str] = json.loads(run_program(program.config.root, _LIVE, *loaded))
    wrong: list[tuple[object, ...]] = []
    for one in registrations_of_program(program, selection):
        live = dict(line.split(": ", 1) for line in dumps[one.name].splitlines())
        writes = bool(program.resolved.by_name[one.name].schema.written)
        for cell in table(one):
            has = live.get(cell.key, "")
            if cell.key in _FUNCTIONALIZED and writes:
                continue
            origin = has[has.rfind(" [") + 2 : -1] or MISSING
            found = (origin, has.startswith("fallthrough"))
            if found != (cell.origin, cell.falls_through):
                wrong.append((one.name, cell.key, cell.origin, cell.label, has))
    return wrong
