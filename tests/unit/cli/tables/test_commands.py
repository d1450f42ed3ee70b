"""`table` and `why`."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

from tests.conftest import ROOT, Result
from tests.installed import needs_torch
from torchgen_lite.diagnostics.json_format import json_format_schema

Run = Callable[..., Result]
# Of TG012.
HELP = "  = help: give another name or file; `torchgen-lite list` shows operators, keys, codes and templates\n"

SCHEMA = """\
- func: twice(Tensor self) -> Tensor
  dispatch:
    CPU: twice_cpu
    CompositeImplicitAutograd: twice_composite
- func: scaled(Tensor self) -> Tensor
  dispatch:
    CPU: scaled_cpu
  derivatives:
    self: grad
- func: add.Tensor(Tensor self, Tensor other) -> Tensor
  structured_delegate: add.out
- func: add.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
  structured: true
  dispatch:
    CPU: add_cpu
"""


@pytest.fixture
def tables(project: Path) -> Path:
    (project / "native_functions.yaml").write_text(SCHEMA)
    (project / "torchgen_lite.toml").write_text('[target.python]\nkernels = ["every_kernel"]\n')
    names = ("twice_cpu", "twice_composite", "scaled_cpu", "add_cpu", "meta_add_Tensor", "isnan")
    (project / "every_kernel.py").write_text("".join(f"def {n}(*a): ...\n" for n in names))
    return project


def test_table(run: Run, tables: Path) -> None:
    result = run("table", "twice", "--key", "Undefined", "--key", "CPU", "--key", "AutogradCUDA")
    assert result.stdout == (
        "aten::twice\n"
        "  Undefined     CompositeImplicitAutograd  twice_composite\n"
        "  CPU           kernel                     twice_cpu\n"
        "  AutogradCUDA  CompositeImplicitAutograd  twice_composite\n"
    )
    assert result.code == 0


def test_structured_operators(run: Run, tables: Path) -> None:
    for operator in ("add.Tensor", "aten::add.out"):
        lines = run("table", operator, "--key", "CPU", "--key", "Meta").stdout.splitlines()
        assert lines[1:] == [
            "  CPU   kernel  structured add_cpu",
            "  Meta  kernel  calls only the meta function: shape and type",
        ]


def test_why(run: Run, tables: Path) -> None:
    (tables / "native_functions.yaml").write_text(SCHEMA.replace("func: twice", "func: my::twice"))
    result = run("why", "my::twice", "CPU", "AutogradCPU", "--target", "cpp-torch")
    assert result.code == 0
    assert result.stderr == "registrations of target `cpp-torch`\n"
    # Beside a kernel that is composed, that of a backend has no derivative.
    assert result.stdout.endswith(
        "  => autograd kernel: refuses derivatives, of which the entry says nothing, registered at Autograd\n"
        "\n"
        "redispatch with DispatchKeySet(CPU)\n"
        "  highest key: CPU\n"
        "  yes  1. a kernel is registered at this key itself\n"
        "  => kernel: twice_cpu\n"
        "\n"
        "end: no keys are left below this kernel\n"
    )


def test_fallbacks_are_those_of_the_target(run: Run, tables: Path) -> None:
    """PyTorch's fallbacks exist only in PyTorch: with target `python`, a call raises where none is registered."""
    result = run("why", "twice", "CPU", "AutogradCPU")
    assert result.stderr == "registrations of target `python`\n"
    assert "PyTorch's" not in result.stdout
    assert result.stdout.endswith("the call raises MissingKernelError\n")
    assert "unknown target `pyton`" in run("table", "twice", "--target", "pyton").stderr


def test_schema_files_of_somebody_else_are_pytorchs(run: Run, tables: Path) -> None:
    (tables / "theirs.yaml").write_text(
        "- func: f(Tensor self) -> Tensor\n  dispatch: {CPU: f_cpu}\n  autogen: f.out\n"
    )
    result = run("table", "f.out", "--schema", "theirs.yaml", "--key", "CPU", "--key", "Meta")
    assert result == Result(
        0,
        "aten::f.out\n  CPU .. Meta (2)  CompositeExplicitAutograd  f_out\n",
        "registrations of PyTorch\n",
    )


def test_operators_that_pytorch_derives(run: Run, tables: Path) -> None:
    schema = (
        "- func: isnan(Tensor self) -> Tensor\n  dispatch:\n    CPU: isnan\n  autogen: isnan.out\n"
    )
    (tables / "native_functions.yaml").write_text(schema)
    asked = ("table", "isnan.out", "--key", "CPU", "--target")
    # Outside PyTorch, it has neither a kernel nor a stub.
    for target in ("python", "cpp-runtime"):
        result = run("--config", 'target.cpp-runtime.tensor = "my::T"', *asked, target)
        assert (result.code, result.stdout) == (2, "")
        assert result.stderr.endswith(
            f"error[TG012]: target `{target}` does not have `aten::isnan.out`: it is derived, and PyTorch alone has "
            f"kernels for derived operators\n{HELP}for more: torchgen-lite explain TG012\n"
        )
    listed = json.loads(run("list", "ops", "--output-format", "json").stdout)["ops"]
    assert [(op["overload"], op["registered"]) for op in listed] == [
        ("", {"CPU": "written"}),
        ("out", {}),
    ]


@pytest.mark.torch
def test_operators_that_a_target_leaves_out(run: Run, tables: Path) -> None:
    """Commands and the export leave out operators that `skip` names or that a target cannot express."""
    (tables / "native_functions.yaml").write_text(
        SCHEMA + "- func: every(...) -> Tensor\n  dispatch: {CPU: twice_cpu}\n"
    )
    settings = ("--config", 'target.cpp-torch.skip = ["aten::twice"]', "-q")
    for command, keys in (("table", []), ("why", ["CPU"])):
        absent = {
            name: run(*settings, command, name, *keys, "--target", "cpp-torch").stderr
            for name in ("twice", "aten::every")
        }
        whose = "error[TG012]: target `cpp-torch` does not have"
        assert absent["twice"].endswith(f"{whose} `aten::twice`: `skip` names it\n{HELP}")
        assert absent["aten::every"].endswith(
            f"{whose} `aten::every`: it takes or returns any number of values, which a typed call cannot\n{HELP}"
        )
    asked = ("list", "ops", "--output-format", "json", "--target", "cpp-torch")
    listed = json.loads(run(*settings, *asked).stdout)["ops"]
    registered = {op["name"]: "CPU" in op["registered"] for op in listed}
    assert registered == {"twice": False, "scaled": True, "add": True, "every": False}


def test_formulas_that_are_somebody_elses(run: Run, tables: Path) -> None:
    (tables / "native_functions.yaml").write_text(
        SCHEMA.replace("func: scaled", "func: my::scaled")
    )
    asked = ("table", "my::scaled", "--target", "torch-python", "--key", "AutogradCPU")
    assert "`torch.library` records the call" in run(*asked).stdout
    row = run("--config", "target.torch-python.autograd = false", *asked).stdout.splitlines()[1]
    assert row == "  AutogradCPU  backend fallback  PyTorch's autograd-not-implemented"


def test_a_target_that_generates_no_kernel(run: Run, tables: Path) -> None:
    """With only stubs or typed calls, the table has the declared kernels and nothing derived from them."""
    own = re.sub("(func|delegate): ", r"\1: my::", SCHEMA)
    (tables / "native_functions.yaml").write_text(own)
    stubs, calls = "target.python.kernels = []", "target.cpp-torch.calls-only = true"
    for name, missing in (("add.out", "Meta"), ("scaled", "AutogradCPU")):
        asked = ("table", f"my::{name}", "--key", "CPU", "--key", missing)
        rows = run("--config", stubs, *asked).stdout.splitlines()[1:]
        assert [row.split()[1] for row in rows] == ["kernel", "missing"]
        rows = run("--config", calls, *asked, "--target", "cpp-torch").stdout.splitlines()[1:]
        assert [row.split()[1] for row in rows] == ["kernel", "backend"]


def test_targets_without_registrations(run: Run, tables: Path) -> None:
    settings = ("--config", 'targets = ["torch-stubs", "cpp-torch"]')
    settings += ("--config", 'namespace = "mylib"')
    assert run(*settings, "table", "twice").stderr == "registrations of target `cpp-torch`\n"
    settings = ("--config", 'targets = ["torch-stubs"]')
    assert run(*settings, "table", "twice").stderr == "registrations of PyTorch\n"
    asked = ("table", "twice")
    result = run(*asked, "--target", "torch-stubs")
    assert (result.code, result.stdout) == (2, "")
    assert "error[TG015]: target `torch-stubs` registers nothing\n" in result.stderr
    assert "= help: the targets are python, " in result.stderr
    assert "unknown target `pyton`" in run(*asked, "--target", "pyton").stderr
    # The options decide which kernels exist, so they have to be valid.
    result = run("--config", "target.python.skip = 1", *asked)
    assert (result.code, result.stdout) == (2, "")
    assert "error[TG510]: `skip` takes a list of strings" in result.stderr
    exported = ("list", "ops", "--output-format", "json")
    for wrong, code in (("torch-stubs", "TG015"), ("pyton", "TG008")):
        document = json.loads(run(*exported, "--target", wrong).stdout)
        assert [found["code"] for found in document["diagnostics"]] == [code]


def test_html(run: Run, tables: Path) -> None:
    result = run("table", "--html", "all.html")
    assert result == Result(
        0, "", "registrations of target `python`\n4 operators written to all.html\n"
    )
    page = (tables / "all.html").read_text()
    assert '"aten::add.Tensor"' in page and "<h1>Dispatch tables of aten</h1>" in page
    assert run("table", "twice", "--html", "one.html").code == 0
    assert "<h1>Dispatch table of twice</h1>" in (tables / "one.html").read_text()


def test_a_page_that_cannot_be_written(run: Run, tables: Path) -> None:
    result = run("table", "--html", "nowhere/all.html")
    assert (result.code, result.stdout) == (2, "")
    assert result.stderr.splitlines()[1].startswith(
        "error[TG009]: cannot write `nowhere/all.html`: no such file"
    )


def test_why_asks_for_keys(run: Run, tables: Path) -> None:
    result = run("why", "my::twice")
    asked = "Error: `why` needs the dispatch keys of the arguments: `torchgen-lite why my::twice CPU`.\n"
    assert (result.code, result.stdout) == (2, "")
    assert result.stderr.endswith(asked)


@pytest.mark.parametrize(
    ("options", "excluded", "first"),
    [
        ([], ["AutocastCPU"], "AutogradCPU"),
        (["--autocast", "cpu"], [], "AutocastCPU"),
        (["--autocast", "cuda"], ["AutocastCPU"], "AutogradCPU"),
        (["--inference"], ["AutogradCPU", "AutocastCPU"], "CPU"),
        (["--exclude", "Autograd"], ["AutogradCPU", "AutocastCPU"], "CPU"),
        # The functionality is excluded, for every backend.
        (["--exclude", "AutogradCUDA"], ["AutogradCPU", "AutocastCPU"], "CPU"),
        (["--include", "Functionalize"], ["AutocastCPU"], "AutogradCPU"),
        (["--exclude", "CPU"], ["CPU", "AutocastCPU"], "AutogradCPU"),
    ],
)
def test_why_in_a_local_state(
    run: Run, tables: Path, options: list[str], excluded: list[str], first: str
) -> None:
    asked = ("why", "twice", "CPU", "AutogradCPU", "AutocastCPU", *options)
    [call] = json.loads(run(*asked, "--output-format", "json").stdout)["calls"]
    assert (call["excluded"], call["steps"][0]["slot"]["key"]) == (excluded, first)
    text = run(*asked).stdout
    assert (f"\n  excluded by the local state: {', '.join(excluded)}\n" in text) == bool(excluded)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["table", "twise"], "no operator `twise` (did you mean `twice`?)"),
        (["table", "add"], "no operator `add` (its overloads are `add.Tensor`, `add.out`)"),
        (
            ["why", "aten::add", "CPU"],
            "no operator `aten::add` (its overloads are `aten::add.Tensor`, `aten::add.out`)",
        ),
        (["table", "pow"], "no operator `pow` (did you mean `pow.Scalar`?)"),
        (["table", "xyz"], "no operator `xyz` (`torchgen-lite list ops` lists them)"),
        (["table", "twice", "--key", "CPUU"], "unknown dispatch key `CPUU` (did you mean `CPU`?)"),
        (
            ["why", "twice", "sim"],
            "unknown dispatch key `sim` (`torchgen-lite list keys` lists them)",
        ),
        (
            ["why", "twice", "Dense"],
            "`Dense` is a building block of keys, which no tensor has alone"
            " (name a key of one backend, such as `CPU` or `SparseCPU`)",
        ),
        (
            ["why", "twice", "Autograd"],
            "`Autograd` is an alias key, which no tensor has"
            " (name runtime keys, such as `CPU` or `AutogradCPU`)",
        ),
        (
            ["why", "twice", "CPU", "--exclude", "AutogradCPUU"],
            "unknown dispatch key `AutogradCPUU` (did you mean `AutogradCPU`?)",
        ),
        (
            ["why", "twice", "CPU", "--autocast", "cpuu"],
            "autocast has no device `cpuu` (did you mean `cpu`?)",
        ),
    ],
)
def test_mistakes(run: Run, tables: Path, arguments: list[str], message: str) -> None:
    with (tables / "native_functions.yaml").open("a") as file:
        file.write(
            "- func: mylib::pow.Scalar(Tensor self, Scalar n) -> Tensor\n  dispatch: {CPU: add_cpu}\n"
        )
    result = run(*arguments, "--output-format", "concise")
    assert (result.code, result.stdout) == (2, "")
    said = message.replace("`", "'")
    assert result.stderr.endswith(f"error[TG012] {said}\n")
    [found] = json.loads(run(*arguments, "--output-format", "json").stdout)["diagnostics"]
    assert f"{found['message']} ({found['help']})" == message


def test_a_table_needs_an_operator(run: Run, tables: Path) -> None:
    result = run("table")
    assert result.stderr.endswith(
        "Error: `table` needs an operator, or --html or --against for all of them.\n"
    )


def test_json(run: Run, tables: Path) -> None:
    asked = ("--key", "CPU", "--key", "AutogradCUDA", "--output-format", "json")
    document = json.loads(run("table", "twice", *asked).stdout)
    jsonschema.Draft7Validator(json_format_schema()).validate(document)
    assert (document["kind"], document["ok"]) == ("table", True)
    [twice] = document["operators"]
    assert twice["operator"] == "aten::twice"
    assert [tuple(slot.values()) for slot in twice["slots"]] == [
        ("CPU", 1, "kernel", "CPU", "twice_cpu"),
        ("AutogradCUDA", 5, "math kernel", "CompositeImplicitAutograd", "twice_composite"),
    ]
    document = json.loads(run("why", "twice", "CPU", "--output-format", "json").stdout)
    [call] = document["calls"]
    assert (call["keys"], call["end"]) == (["CPU"], "no keys are left below this kernel")
    [step] = call["steps"]
    assert step["slot"] == twice["slots"][0]
    assert step["rules"] == [
        {"rule": 1, "text": "a kernel is registered at this key itself", "holds": True}
    ]


@pytest.mark.torch
def test_an_installed_torch(run: Run, tables: Path) -> None:
    pytest.importorskip("torch")
    result = run("table", "add.Tensor", "--torch", "--key", "CPU")
    assert result.stdout.startswith("aten::add.Tensor\n  CPU  kernel  registered at ")
    assert (
        "autograd kernel: registered at "
        in run("why", "add.Tensor", "AutogradCPU", "CPU", "--torch").stdout
    )


def test_a_generated_autograd_kernel_is_in_the_table(run: Run, tables: Path) -> None:
    printed = run("table", "scaled", "--key", "AutogradCPU").stdout
    assert "autograd kernel  records the call, with the formulas of `derivatives`" in printed


@needs_torch((2, 13), "PyTorch did not always say where Python registers a kernel")
@pytest.mark.torch
@pytest.mark.usefixtures("forked_python")
def test_operators_that_a_module_registers(run: Run, tables: Path) -> None:
    pytest.importorskip("torch")
    (tables / "table_of_mine.py").write_text("""\
import torch
library = torch.library.Library("table_of_mine", "DEF")
library.define("twice(Tensor x) -> Tensor")
library.impl("twice", lambda x: x + x, "CPU")
""")
    # In a separate process, since an operator stays registered in torch until the process ends.
    command = [
        sys.executable,
        "-m",
        "torchgen_lite",
        "why",
        "table_of_mine::twice",
        "CPU",
        "--torch",
    ]
    command.append("--import")

    def run_alone(module: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        return subprocess.run([*command, module], capture_output=True, text=True, env=environment)

    done = run_alone("table_of_mine")
    assert (done.returncode, done.stderr) == (0, "")
    assert "registered at" in done.stdout and "table_of_mine.py:2" in done.stdout
    done = run_alone("absent_module")
    assert (done.returncode, done.stdout) == (2, "")
    assert "cannot import `absent_module`: No module named 'absent_module'" in done.stderr
    result = run("why", "scale", "CPU", "--import", "table_of_mine")
    assert result.code == 2 and "`--import` needs `--torch`" in result.stderr


SEVERAL = """\
- func: my::f(Tensor x, Tensor? w, int n) -> Tensor
  dispatch:
    CPU:
      - {when: "x.dtype in {half} and x.size(-1) % 8 == 0 and not w.defined()", kernel: vector}
      - {when: n <= 4, kernel: small}
      - whole
    CUDA: one
"""


@pytest.fixture
def several(project: Path) -> Path:
    (project / "native_functions.yaml").write_text(SEVERAL)
    (project / "torchgen_lite.toml").write_text('targets = ["docs"]\n')
    return project


@pytest.mark.parametrize(
    ("inputs", "rows"),
    [
        (
            (),
            "  the first of these kernels whose condition holds:\n"
            "    vector  x.dtype in {half} and x.size(-1) % 8 == 0 and not w.defined()\n"
            "    small   n <= 4\n"
            "    whole   otherwise\n",
        ),
        (
            ("half[4, 8]", "w=None"),
            "  for this input it calls vector:\n"
            "    yes  vector  x.dtype in {half} and x.size(-1) % 8 == 0 and not w.defined()\n"
            "      -  small   not asked\n"
            "      -  whole   not asked\n",
        ),
        (
            ("half[4, 12]", "n=9"),
            "  for this input it calls whole:\n"
            "     no  vector  `x.size(-1) % 8 == 0` is false: x.size(-1) is 12\n"
            "     no  small   `n <= 4` is false: n is 9\n"
            "    yes  whole   otherwise\n",
        ),
        (
            ("x=float[4]", "n=1"),
            "  for this input it calls small:\n"
            "     no  vector  `x.dtype in {half}` is false: x.dtype is float32\n"
            "    yes  small   n <= 4\n"
            "      -  whole   not asked\n",
        ),
        (
            ("float16[4, 8]",),
            "  which kernel takes this input is not known:\n"
            "      -  vector  not known: the condition asks for w.defined()\n"
            "      -  small   not asked\n"
            "      -  whole   not asked\n",
        ),
    ],
)
def test_why_says_which_row_an_input_gets(
    run: Run, several: Path, inputs: tuple[str, ...], rows: str
) -> None:
    options = [word for value in inputs for word in ("--input", value)]
    result = run("why", "my::f", "CPU", *options)
    assert result.code == 0
    assert rows in result.stdout


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("CPU", "hlf[3]", "`hlf` is no dtype"),
        ("CPU", "half 3", "`half 3` is no tensor: write `float32[4, 12]`"),
        ("CPU", "half[3] large", "`large` says nothing of a tensor"),
        ("CPU", "n=many", "`many` is no value of `n`"),
        ("CUDA", "half[3]", "`--input` is for keys with several kernels, and here each has one"),
    ],
)
def test_why_refuses_what_is_no_input(
    run: Run, several: Path, key: str, value: str, message: str
) -> None:
    result = run("why", "my::f", key, "--input", value)
    assert result.code == 2
    assert message in result.stderr
    assert run("why", "my::f", "CPU", *["--input", "half[1]"] * 3).code == 2


def test_why_in_json_has_the_rows(run: Run, several: Path) -> None:
    result = run(
        "why", "my::f", "CPU", "--input", "float32[3]", "--input", "n=2", "--output-format", "json"
    )
    data = json.loads(result.stdout)
    jsonschema.validate(data, json_format_schema())
    assert data["calls"][0]["rows"] == [
        {
            "kernel": "vector",
            "condition": "x.dtype in {half} and x.size(-1) % 8 == 0 and not w.defined()",
            "applies": False,
            "why": "`x.dtype in {half}` is false: x.dtype is float32",
        },
        {"kernel": "small", "condition": "n <= 4", "applies": True, "why": ""},
        {"kernel": "whole", "condition": "otherwise", "applies": None, "why": "not asked"},
    ]
