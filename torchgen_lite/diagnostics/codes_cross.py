"""Codes 30x and 31x: mistakes that show only when all entries are known."""

from __future__ import annotations

from .code import Code

CROSS_CODES = (
    Code(
        "TG301",
        "operator declared twice",
        "error",
        "Two entries have the same name and overload name. In a later file an entry with the same "
        "schema adds dispatch entries to the earlier one.",
        "- func: relu(Tensor self) -> Tensor\n- func: relu(Tensor self) -> Tensor",
        "- func: relu(Tensor self) -> Tensor\n- func: relu.int(int self) -> int",
    ),
    Code(
        "TG302",
        "missing kernel",
        "error",
        "A kernel that the `dispatch:` table names is not defined at the top level of any module in "
        "`kernels`. The modules are read, never imported. The note shows the signature of the function, and "
        "`torchgen-lite kernels --missing` adds a stub of it to a module.",
        """\
-- torchgen_lite.toml --
[target.python]
package = "ops"
kernels = ["kernels"]
-- native_functions.yaml --
- func: relu(Tensor self) -> Tensor
  dispatch:
    CPU, Meta: relu_cpu
-- kernels.py --
def relu(self): ...""",
        """\
-- torchgen_lite.toml --
[target.python]
package = "ops"
kernels = ["kernels"]
-- native_functions.yaml --
- func: relu(Tensor self) -> Tensor
  dispatch:
    CPU, Meta: relu_cpu
-- kernels.py --
def relu_cpu(self): ...""",
    ),
    Code(
        "TG303",
        "kernel defined in two modules",
        "error",
        "Two of the modules in `kernels` define a function of this name, so the name is ambiguous.",
        """\
-- torchgen_lite.toml --
[target.python]
package = "ops"
kernels = ["kernels", "others"]
-- native_functions.yaml --
- func: relu(Tensor self) -> Tensor
  dispatch:
    CPU, Meta: relu_cpu
-- kernels.py --
def relu_cpu(self): ...
-- others.py --
def relu_cpu(self): ...""",
        """\
-- torchgen_lite.toml --
[target.python]
package = "ops"
kernels = ["kernels", "others"]
-- native_functions.yaml --
- func: relu(Tensor self) -> Tensor
  dispatch:
    CPU, Meta: others.relu_cpu
-- kernels.py --
def relu_cpu(self): ...
-- others.py --
def relu_cpu(self): ...""",
    ),
    Code(
        "TG304",
        "structured delegate does not exist",
        "error",
        "`structured_delegate` names the out variant whose kernels this variant uses.",
        "- func: relu(Tensor self) -> Tensor\n  structured_delegate: relu.o",
        "- func: relu(Tensor self) -> Tensor\n  structured_delegate: relu.out\n"
        "- func: relu.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  structured: True",
    ),
    Code(
        "TG305",
        "structured delegate is not structured",
        "error",
        "The operator that `structured_delegate` names needs `structured: True`.",
        """\
- func: add(Tensor self) -> Tensor
  structured_delegate: add.out
- func: add.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  dispatch:
    CPU, Meta: add_out""",
        """\
- func: add(Tensor self) -> Tensor
  structured_delegate: add.out
- func: add.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  structured: True""",
    ),
    Code(
        "TG306",
        "two operators get the same name",
        "error",
        "Generated code joins the name and the overload name of an operator with an underscore, "
        "which gives the same name for two operators.",
        "- func: add.b(Tensor a) -> Tensor\n- func: add_b(Tensor a) -> Tensor",
        "- func: add.b(Tensor a) -> Tensor\n- func: add_c(Tensor a) -> Tensor",
    ),
    Code(
        "TG307",
        "overlay conflicts with an earlier file",
        "error",
        "A later file may add dispatch entries and optional fields to an operator of an earlier one. "
        "It may not give another schema, another kernel for a key, or another value of a field.",
        """\
-- torchgen_lite.toml --
schema = ["native_functions.yaml", "mine.yaml"]
-- native_functions.yaml --
- func: relu(Tensor self) -> Tensor
  dispatch:
    CPU, Meta: relu
-- mine.yaml --
- func: relu(Tensor self) -> Tensor
  dispatch:
    CPU: my_relu""",
        """\
-- torchgen_lite.toml --
schema = ["native_functions.yaml", "mine.yaml"]
-- native_functions.yaml --
- func: relu(Tensor self) -> Tensor
  dispatch:
    CPU, Meta: relu
-- mine.yaml --
- func: relu(Tensor self) -> Tensor
  dispatch:
    CUDA: my_relu""",
    ),
    Code(
        "TG308",
        "autogen names an operator that exists",
        "error",
        "`autogen` lists operators for PyTorch's generator to derive; one of them is already declared.",
        """\
- func: relu(Tensor self) -> Tensor
  dispatch:
    CompositeExplicitAutograd: relu
  autogen: relu6
- func: relu6(Tensor self) -> Tensor""",
        """\
- func: relu(Tensor self) -> Tensor
  dispatch:
    CompositeExplicitAutograd: relu
- func: relu6(Tensor self) -> Tensor""",
    ),
    Code(
        "TG309",
        "structured variants do not belong together",
        "error",
        "An operator and its structured delegate differ in more than their out arguments, so one "
        "kernel cannot serve both.",
        """\
- func: add(Tensor self, int n) -> Tensor
  structured_delegate: add.out
- func: add.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  structured: True""",
        """\
- func: add(Tensor self) -> Tensor
  structured_delegate: add.out
- func: add.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  structured: True""",
    ),
    Code(
        "TG310",
        "`structured` on an operator without out arguments",
        "error",
        "Only an out variant can be structured: the other variants delegate to it.",
        "- func: relu(Tensor self) -> Tensor\n  structured: True",
        "- func: relu(Tensor self) -> Tensor\n  structured_delegate: relu.out\n"
        "- func: relu.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  structured: True",
    ),
    Code(
        "TG311",
        "kernel module cannot be read",
        "error",
        "A module listed in `kernels` was not found, or is not Python.",
        """\
-- torchgen_lite.toml --
[target.python]
package = "ops"
kernels = ["kernels"]
-- native_functions.yaml --
- func: relu(Tensor self) -> Tensor
  dispatch:
    CPU, Meta: relu_cpu""",
        """\
-- torchgen_lite.toml --
[target.python]
package = "ops"
kernels = ["kernels"]
-- native_functions.yaml --
- func: relu(Tensor self) -> Tensor
  dispatch:
    CPU, Meta: relu_cpu
-- kernels.py --
def relu_cpu(self): ...""",
    ),
    Code(
        "TG312",
        "an overlay without its operator",
        "error",
        "The file adds kernels to an operator that no earlier file declares.",
        """\
-- torchgen_lite.toml --
schema = ["native_functions.yaml", "xla.yaml"]
-- native_functions.yaml --
- func: relu(Tensor self) -> Tensor
-- xla.yaml --
backend: XLA
cpp_namespace: torch_xla
supported:
- gelu""",
        """\
-- torchgen_lite.toml --
schema = ["native_functions.yaml", "xla.yaml"]
-- native_functions.yaml --
- func: relu(Tensor self) -> Tensor
-- xla.yaml --
backend: XLA
cpp_namespace: torch_xla
supported:
- relu""",
    ),
    Code(
        "TG313",
        "kernel next to a structured delegate",
        "error",
        "An operator with `structured_delegate` uses the kernels of the out variant on CPU, CUDA, MPS, XPU and "
        "MTIA. It cannot have its own kernel for any of these.",
        "- func: relu(Tensor self) -> Tensor\n  structured_delegate: relu.out\n  dispatch:\n    CPU: relu\n"
        "- func: relu.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  structured: True\n"
        "  dispatch:\n    CPU: relu_out",
        "- func: relu(Tensor self) -> Tensor\n  structured_delegate: relu.out\n"
        "- func: relu.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  structured: True\n"
        "  dispatch:\n    CPU: relu_out",
    ),
    Code(
        "TG314",
        "composite structured kernel",
        "error",
        "A structured kernel is split into a meta and an impl function, one for each backend. A composite kernel "
        "has no such parts. Beside kernels of backends, an explicit one may serve the out variant on all others.",
        "- func: relu(Tensor self) -> Tensor\n  structured_delegate: relu.out\n"
        "- func: relu.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  structured: True\n"
        "  dispatch:\n    CompositeImplicitAutograd: relu_out",
        "- func: relu(Tensor self) -> Tensor\n  structured_delegate: relu.out\n"
        "- func: relu.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  structured: True\n"
        "  dispatch:\n    CPU: relu_out",
    ),
    Code(
        "TG319",
        "structured operator without its functional variant",
        "error",
        "A structured kernel is split into a meta and an impl function, and the meta function is "
        "named after the functional variant: `meta_relu`, in C++ `structured_relu::meta`. So the "
        "functional variant has to be declared as well. For an operator of PyTorch, the entry in "
        "PyTorch counts if it is installed. A backend can also leave `structured` out and name a "
        "plain kernel.",
        "- func: mylib::relu.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  structured: True\n"
        "  dispatch:\n    CPU: relu_out",
        "- func: mylib::relu(Tensor self) -> Tensor\n  structured_delegate: relu.out\n"
        "- func: mylib::relu.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  structured: True\n"
        "  dispatch:\n    CPU: relu_out",
    ),
)
