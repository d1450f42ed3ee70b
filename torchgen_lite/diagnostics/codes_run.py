"""Codes 0xx (configuration, command line, files) and 9xx (internal)."""

from __future__ import annotations

from .code import Code

RUN_CODES = (
    Code(
        "TG001",
        "the configuration cannot be read",
        "error",
        "The configuration file does not exist, is not readable, or is not TOML.",
        """\
-- torchgen_lite.toml --
output-dir = generated
-- native_functions.yaml --
- func: relu(Tensor self) -> Tensor""",
        """\
-- torchgen_lite.toml --
output-dir = "generated"
-- native_functions.yaml --
- func: relu(Tensor self) -> Tensor""",
    ),
    Code(
        "TG002",
        "unknown configuration key",
        "error",
        "Unknown keys of `[tool.torchgen_lite]` are errors, since a misspelt key would otherwise be "
        "silently ignored.",
        """\
-- torchgen_lite.toml --
output-dirs = "generated"
-- native_functions.yaml --
- func: relu(Tensor self) -> Tensor""",
        """\
-- torchgen_lite.toml --
output-dir = "generated"
-- native_functions.yaml --
- func: relu(Tensor self) -> Tensor""",
    ),
    Code(
        "TG003",
        "wrong type of configuration value",
        "error",
        "The configuration key takes a value of another type.",
        """\
-- torchgen_lite.toml --
schema = 3
-- native_functions.yaml --
- func: relu(Tensor self) -> Tensor""",
        """\
-- torchgen_lite.toml --
schema = ["native_functions.yaml"]
-- native_functions.yaml --
- func: relu(Tensor self) -> Tensor""",
    ),
    Code(
        "TG004",
        "two configurations",
        "error",
        "A folder has both `torchgen_lite.toml` and a `[tool.torchgen_lite]` table in its "
        "pyproject.toml, and it is unclear which one is meant. Remove one of them.",
        """\
-- pyproject.toml --
[tool.torchgen_lite]
output-dir = "generated"
-- torchgen_lite.toml --
output-dir = "out"
-- native_functions.yaml --
- func: relu(Tensor self) -> Tensor""",
        """\
-- torchgen_lite.toml --
output-dir = "out"
-- native_functions.yaml --
- func: relu(Tensor self) -> Tensor""",
    ),
    Code(
        "TG005",
        "required version not met",
        "error",
        "`required-version` in the configuration excludes the installed torchgen-lite.",
        """\
-- torchgen_lite.toml --
required-version = ">=99"
-- native_functions.yaml --
- func: relu(Tensor self) -> Tensor""",
        """\
-- torchgen_lite.toml --
required-version = ">=0.1"
-- native_functions.yaml --
- func: relu(Tensor self) -> Tensor""",
    ),
    Code(
        "TG006",
        "the file cannot be read",
        "error",
        "A schema file does not exist, is not readable, or is not a regular file but a folder, a pipe or a device. "
        "Its name has to be UTF-8 without control characters, because generated files contain it.",
        """\
- func: relu(Tensor self) -> Tensor
$ torchgen-lite lint --schema ops.yaml""",
        """\
- func: relu(Tensor self) -> Tensor
$ torchgen-lite lint --schema native_functions.yaml""",
    ),
    Code(
        "TG007",
        "no schema file",
        "error",
        "Neither the configuration nor the command line names a schema file, and there is no "
        "native_functions.yaml next to the configuration.",
        """\
-- ops.yaml --
- func: relu(Tensor self) -> Tensor""",
        """\
-- ops.yaml --
- func: relu(Tensor self) -> Tensor
-- torchgen_lite.toml --
schema = ["ops.yaml"]""",
    ),
    Code(
        "TG008",
        "unknown target",
        "error",
        "There is no target of this name; `torchgen-lite list targets` lists them.",
        """\
-- torchgen_lite.toml --
targets = ["pyton"]
-- native_functions.yaml --
- func: relu(Tensor self) -> Tensor
$ torchgen-lite generate""",
        """\
-- torchgen_lite.toml --
targets = ["python"]
[target.python]
package = "ops"
-- native_functions.yaml --
- func: relu(Tensor self) -> Tensor
$ torchgen-lite generate""",
    ),
    Code(
        "TG009",
        "the output cannot be written",
        "error",
        "The output folder, or a file in it, cannot be written. The message says whether other files were.",
        """\
- func: relu(Tensor self) -> Tensor
$ torchgen-lite table relu --html missing/relu.html""",
        """\
- func: relu(Tensor self) -> Tensor
$ torchgen-lite table relu --html relu.html""",
    ),
    Code(
        "TG010",
        "a file that was not generated is in the way",
        "error",
        "A file that would be written already exists and lacks the marker of generated files, so "
        "it may be written by hand; or its marker names a schema file of another project. Such files are "
        "never overwritten; move or delete it.",
        """\
-- torchgen_lite.toml --
output-dir = "out"
[target.python]
package = "ops"
-- native_functions.yaml --
- func: relu(Tensor self) -> Tensor
-- out/python/ops/__init__.py --
# Written by hand.
$ torchgen-lite generate""",
        """\
-- torchgen_lite.toml --
output-dir = "out"
[target.python]
package = "ops"
-- native_functions.yaml --
- func: relu(Tensor self) -> Tensor
$ torchgen-lite generate""",
    ),
    Code(
        "TG011",
        "PyTorch's files were not found",
        "error",
        "`--torch` takes native_functions.yaml, tags.yaml and derivatives.yaml from the installed "
        "PyTorch, and none is installed in this environment (or it does not ship them).",
        """\
- func: relu(Tensor self) -> Tensor
$ torchgen-lite lint --torch""",
        """\
- func: relu(Tensor self) -> Tensor""",
        "where PyTorch is not installed",
    ),
    Code(
        "TG012",
        "unknown name on the command line",
        "error",
        "The operator, dispatch key, code or template that was asked for does not exist, or a module "
        "cannot be imported: it does not exist, raises an exception, or exits, even with exit code 0.",
        "$ torchgen-lite explain TG019",
        """\
- func: relu(Tensor self) -> Tensor""",
    ),
    Code(
        "TG013",
        "the output path leaves the output folder",
        "error",
        "A target gave a path that is absolute, contains `..`, or is given by two targets; or a "
        "symbolic link, a folder or something else that is not a file is where a file should be.",
        """\
-- torchgen_lite.toml --
targets = ["cpp-torch", "cpp-torch-stable"]
[target.cpp-torch]
namespace = "mylib"
folder = "cpp"
[target.cpp-torch-stable]
namespace = "mylib"
folder = "cpp"
-- native_functions.yaml --
- func: mylib::f(Tensor x) -> Tensor
  dispatch:
    CPU, Meta: f
$ torchgen-lite generate""",
        """\
-- torchgen_lite.toml --
targets = ["cpp-torch", "cpp-torch-stable"]
[target.cpp-torch]
namespace = "mylib"
folder = "cpp"
[target.cpp-torch-stable]
namespace = "mylib"
folder = "stable"
-- native_functions.yaml --
- func: mylib::f(Tensor x) -> Tensor
  dispatch:
    CPU, Meta: f
$ torchgen-lite generate""",
    ),
    Code(
        "TG014",
        "the comparison base cannot be read",
        "error",
        "`breaking --against` takes a path or a git revision in which the schema files exist.",
        """\
- func: relu(Tensor self) -> Tensor
$ torchgen-lite breaking --against old.yaml""",
        """\
-- old.yaml --
- func: relu(Tensor self) -> Tensor
-- native_functions.yaml --
- func: relu(Tensor self) -> Tensor
$ torchgen-lite breaking --against old.yaml""",
    ),
    Code(
        "TG015",
        "invalid command line",
        "error",
        "The command does not take this option or argument, or not together with another one. `--help` "
        "lists the options of the command.",
        """\
- func: relu(Tensor self) -> Tensor
$ torchgen-lite lint --schemas native_functions.yaml""",
        """\
- func: relu(Tensor self) -> Tensor
$ torchgen-lite lint --schema native_functions.yaml""",
    ),
    Code(
        "TG016",
        "an output is out of date",
        "error",
        "`check` found a generated file that is missing, that differs from what would be generated, or that is no "
        "longer produced. Text output has a line for each file; `json`, `github` and `sarif` use this code.",
        """\
- func: relu(Tensor self) -> Tensor
$ torchgen-lite check""",
        """\
- func: relu(Tensor self) -> Tensor
$ torchgen-lite generate
$ torchgen-lite check""",
    ),
    Code(
        "TG017",
        "a schema file is not formatted",
        "error",
        "`fmt --check` or `fmt --diff` found a file that `fmt` would change. Text output names it; `json`, `github` "
        "and `sarif` use this code.",
        """\
- dispatch:
    CPU: relu_cpu
  func: relu(Tensor self) -> Tensor
$ torchgen-lite fmt --check""",
        """\
- func: relu(Tensor self) -> Tensor
  dispatch:
    CPU: relu_cpu
$ torchgen-lite fmt --check""",
    ),
    Code(
        "TG018",
        "no operators are left",
        "error",
        "The schema files have no operators, probably because a file was emptied by mistake, and the existing outputs "
        "would lose all of their registrations. `generate --allow-empty` proceeds anyway.",
        """\
- func: relu(Tensor self) -> Tensor
$ torchgen-lite generate
$ cp /dev/null native_functions.yaml
$ torchgen-lite generate""",
        """\
- func: relu(Tensor self) -> Tensor
$ torchgen-lite generate
$ cp /dev/null native_functions.yaml
$ torchgen-lite generate --allow-empty""",
    ),
    Code(
        "TG900",
        "internal error",
        "error",
        "torchgen-lite has a bug. Please report it, with the entry that causes it and the file that the message "
        "names, which has the versions, the command and the traceback; with `-v` they are printed instead.",
        """\
- func: relu(Tensor self) -> Tensor""",
        """\
- func: relu(Tensor self) -> Tensor""",
        "with a fault in torchgen-lite",
    ),
)
