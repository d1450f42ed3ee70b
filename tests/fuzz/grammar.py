"""Schema files from a grammar: most of what they say is well-formed, so that targets have something to generate.

Each choice is one of a list in which odd things are next to usual ones: reserved words, names that generated
code uses, types that a target cannot express, formulas with every kind of node.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Sequence

Pick = Callable[[Sequence[str]], str]
Options = dict[str, dict[str, object]]
PLAIN = "f g add mul_ scale_ relu sum view x y z n p".split()
ODD = (
    "from new class int print self out keyset kwargs args operators schemas dispatcher ops functions methods redispatch "
    "complex float list default None True and not this template std at torch NULL errno _list _state _ops _ __class__ "
    "__and__ __debug__ grad result grad_output unused lambda type types call name schema op kernel handle"
).split()
TYPES = (
    "Tensor Tensor Tensor Tensor? Tensor[] Tensor?[] Tensor[]? Tensor?[]? Tensor[][] int int? int[] int[2] int[]? SymInt SymInt[] "
    "float float? float[] bool bool? bool[3] bool[] Scalar Scalar? Scalar[] str str? str[] complex ScalarType? Layout? Device "
    "Device? MemoryFormat? Generator Generator? Dimname Storage Stream QScheme Any Dict(str,int) Union(Tensor,int) number t[] "
    "(int,Tensor) Future(Tensor) RRef(Tensor) SymBool SymFloat DeviceIndex AnyEnumType"
).split()  # fmt: skip
RETURNS = (*["Tensor"] * 8, "Tensor[]", "Tensor?", "int", "SymInt", "float", "bool", "Scalar", "str", "Device", "Tensor[][]", "Dict(str,Tensor)", "int[]", "ScalarType", "Generator")  # fmt: skip
DEFAULTS = (
    "None 0 1 -1 2.5 1e-5 inf -inf nan True False [] [0,1] [True,False] 'a' \"b\\\"\" contiguous_format channels_last strided float long "
    "complex128 Mean 1j 'cuda:0' 123456789012345678901234567890 int 'a\\nb' [1.5] ['a'] {}"
).split()  # fmt: skip
DEFAULTS_OF = {
    "int": ("0", "-1", "12", "Mean", "long"),
    "SymInt": ("0", "1"),
    "float": ("2.5", "1e-5", "inf", "1"),
    "bool": ("True", "False"),
    "Scalar": ("1", "2.5", "True"),
    "str": ("'a'", '"b"', "'a\\nb'", "'??/'"),
    "complex": ("1j",),
    "ScalarType": ("float", "long"),
    "MemoryFormat": ("contiguous_format",),
    "Device": ("'cuda:0'",),
    "int[2]": ("0", "[0,1]"),
    "int[]": ("[]", "[0,1]"),
    "SymInt[]": ("[]", "[1]"),
    "bool[3]": ("[True,False,True]", "True"),
    "float[]": ("[1.5]",),
    "str[]": ("['a']",),
}
GUARDS = (
    "#ifdef A",
    "#ifndef\tB",
    "#if C",
    "#if A || !defined(B)",
    "#if A > 2 // yes",
    "#if !A",
    "#if (A)",
    "#if A ?",
)
RANGES = (">=2.6", "~=2", "~=2.6", "<3,!=2.7.*", "==2", "==2.6.1.0", ">=2.6,<2.9", "2.6")
TAGS = ("core", "pointwise", "[core, pointwise]", "nondeterministic_seeded", "nosuch", "'core}'", "view_copy", "inplace_view")  # fmt: skip
KEYS = (
    "CPU CUDA Meta CompositeImplicitAutograd CompositeExplicitAutograd Autograd AutogradCPU SparseCPU PrivateUse1 XPU "
    "BackendSelect QuantizedCPU NestedTensorCPU ADInplaceOrView Functionalize CompositeExplicitAutogradNonFunctional"
).split()  # fmt: skip
TEXTS = (
    "does it",
    'quotes " and """',
    "back\\slash\\",
    "*/ //\\",
    "line\nline",
    "{{ x }}",
    "\u2028",
    "'''",
    'trailing "',
)
LEAVES = "grad grad grad grad grad 0 1 2.5 1e3 2 result True grad.size(0)".split()
ODD_LEAVES = "self x other n 007 nothing x.sizes() grad[0] 'a' self.dim() grad_output [] {}".split()
# The table, the setting, and its values as JSON; most configurations have none.
SETTINGS = (
    ("", "namespace", ('"other"', '"from"', '"a::b"')),
    ("", "privateuse1", ('"SIM"', '"XPU"', '"class"')),
    ("", "torch", ('">=2.6"', '"==2.13"', '"~=2"')),
    ("", "tags", ('["mine"]', '["nosuch"]')),
    ("", "extra-fields", ('["doc"]', '["vendor"]')),
    ("python", "runtime", ('"vendored"',)),
    ("python", "folder", ('"."', '"a b"', '"x/y"')),
    ("python", "skip", ('["f"]', '["none::such"]')),
    ("python", "package", ('"ops"', '"from"', '"a.class"', '"é"')),
    ("cpp-torch", "namespace", ('"outer::inner"', '"new"', '"at"', '"std"')),
    ("cpp-torch", "module", ('"_C"', '"2"')),
    ("cpp-torch", "calls-only", ("true",)),
    ("cpp-torch", "folder", ('"a\\"b"', '"x/../y"')),
    ("cpp-torch-stable", "target-version", ('"2.9"', '"2.10"', '"2.x"')),
    ("cpp-torch-stable", "module", ('"_C"', '"class"')),
    ("cpp-runtime", "tensor", ('"Tensor"', '"a<b, c>"', '"int*"')),
    ("cpp-runtime", "calls-only", ("true",)),
    ("cpp-runtime", "runtime", ('"vendored"',)),
    ("cpp-runtime", "constants", ('{"cpu": "1"}',)),
    ("torch-python", "package", ('"torch"', '"a.b"')),
    ("torch-python", "autograd", ("false",)),
    ("torch-python", "library", ('"fragment"',)),
    ("torch-python", "defines", ("false",)),
)
# Few entries may have them.
RISKY = frozenset(
    "autogen manual_kernel_registration structured structured_delegate fake samples python_module vmap autocast variants".split()
)


class Grammar:
    """Random files; the same for the same seed."""

    def __init__(self, chooser: random.Random, *, is_plain: bool = False) -> None:
        self.chooser = chooser
        self.is_plain = is_plain
        self.pick: Pick = chooser.choice

    def often(self, likely: float) -> bool:
        return self.chooser.random() < likely

    def name(self) -> str:
        return self.pick(PLAIN if self.often(0.85) else ODD)

    def type(self) -> str:
        return self.pick(TYPES[:24] if self.often(0.8) else TYPES)

    def argument(self, name: str, defaults: bool) -> str:
        type_ = self.type()
        if not defaults:
            return f"{type_} {name}"
        fitting = DEFAULTS_OF.get(type_, ("None",) if type_.endswith("?") else ())
        if not fitting and self.often(0.95):
            return f"{type_} {name}"
        fitting = fitting if fitting and self.often(0.95) else DEFAULTS
        return f"{type_} {name}={self.pick(fitting)}"

    def arguments(self) -> list[str]:
        """Arguments as names and texts; the first is often a tensor called `self`."""
        names = list(dict.fromkeys([self.name() for _ in range(self.chooser.randint(0, 4))]))
        if self.often(0.7):
            return ["self", *[n for n in names if n != "self"]]
        return names

    def schema(self, namespace: str) -> tuple[str, list[str]]:
        names = self.arguments()
        base = self.name()
        is_written = base.endswith("_") or self.often(0.1)
        is_out = not is_written and self.often(0.12)
        parts: list[str] = []
        has_default = False
        for index, name in enumerate(names):
            if index and self.often(0.08) and "*" not in parts:
                parts.append("*")
            has_default = has_default or self.often(0.15)
            written = "Tensor(a!) self" if is_written and name == "self" else ""
            parts.append(
                written
                or (f"Tensor {name}" if name == "self" else self.argument(name, has_default))
            )
        result = ", ".join(
            [self.pick(RETURNS)]
            if self.often(0.85)
            else [self.pick(RETURNS), f"{self.pick(RETURNS)} q"][: self.chooser.randint(0, 2)]
        )
        result = f"({result})" if result.count(",") or not result else result
        if is_written and "self" in names:
            result = "Tensor(a!)"
        if is_out:
            parts += [*([] if "*" in parts else ["*"]), "Tensor(a!) out"]
            result = "Tensor(a!)"
        if self.often(0.03):
            result = "Tensor(a!)"
        if parts and parts[-1] == "*":
            parts.pop()
        overload = ".out" if is_out else f".{self.name()}" if self.often(0.2) else ""
        where = (
            ""
            if not self.is_plain and self.often(0.1)
            else f"{namespace if self.is_plain or self.often(0.95) else self.name()}::"
        )
        return f"{where}{base}{overload}({', '.join(parts)}) -> {result}", names

    def formula(self, names: Sequence[str], depth: int = 0) -> str:
        """An expression over the operator's names; in C++ it is up to the author what a lambda or a call means."""
        if self.is_plain:
            return self.pick(("grad", "grad * 2", "-grad", "grad / 2.5 + grad", "mul(grad, grad)"))
        if depth > 2 or self.often(0.35):
            return self.pick([*LEAVES, *names] if self.often(0.95) else ODD_LEAVES)
        inner = [self.formula(names, depth + 1) for _ in range(3)]
        return self.pick([
            f"{inner[0]} * {inner[1]}", f"{inner[0]} + {inner[1]}", f"-{inner[0]}", f"({inner[0]} / {inner[1]})",
            f"{inner[0]} ? {inner[1]} : {inner[2]}", f"mul({inner[0]}, {inner[1]})", f"{inner[0]}.sum({inner[1]})",
            f"{inner[0]} == {inner[1]}", f"at::mul({inner[0]}, {inner[1]})", f"{inner[0]}.neg().conj()", f"helper({inner[0]})",
            f"{inner[0]}[{inner[1]}]", f"{{{inner[0]}, {inner[1]}}}", f"add({inner[0]}, other={inner[1]})", f"!{inner[0]}",
        ])  # fmt: skip

    def entry(self, namespace: str) -> str:
        """One entry with a few of the fields."""
        schema, names = self.schema(namespace)
        lines = [f"- func: {json.dumps(schema)}"]
        fields: dict[str, Callable[[], str]] = {
            "doc": lambda: json.dumps(self.pick(TEXTS)),
            "torch": lambda: json.dumps(self.pick(RANGES)),
            "guard": lambda: json.dumps(self.pick(GUARDS)),
            "variants": lambda: self.pick(("function", "method", "function, method")),
            "tags": lambda: self.pick(TAGS),
            "device_check": lambda: self.pick(("NoCheck", "ExactSame")),
            "vmap": lambda: self.pick(("helper", "a.b", "x y")),
            "autocast": lambda: self.pick(("float32", "lower_precision")),
            "fake": lambda: self.pick(("{like: self}", "helper", "{shape: [self.size(0), n], dtype: float32}", "{value: n}", "{view: 'self.view(n)'}", "{like: x, shape: []}")),
            "samples": lambda: self.pick(("[(randn(3))]", "[{self: randn(2)}]", "['(randn(3), 1, s=\"a\")']")),
            "manual_kernel_registration": lambda: "True",
            "structured": lambda: "True",
            "structured_delegate": lambda: self.pick(("f.out", "add.out", "from.out")),
            "autogen": lambda: self.pick(("f.out", "add_.x", "f.out, f_")),
            "python_module": lambda: self.pick(("nn", "linalg")),
        }  # fmt: skip
        chosen = [field for field in fields if self.often(0.02 if field in RISKY else 0.12)]
        if self.often(0.6):
            lines.append("  dispatch:")
            keys = dict.fromkeys(self.pick(KEYS) for _ in range(self.chooser.randint(1, 3)))
            lines += [
                f"    {key}: {self.pick(('k', 'f_cpu', f'{namespace}_k::k', 'new', 'k_symint', self.name()))}"
                for key in keys
            ]
        lines += [f"  {field}: {fields[field]()}" for field in chosen]
        tensors = [n for n in names if re.search(rf"Tensor\S* {n}\b", schema)]
        if self.often(0.03):
            tensors = names[:2]
        is_refused = ".out(" in schema or "Tensor" not in schema.partition("->")[2]
        is_refused = is_refused or "CompositeImplicitAutograd" in "".join(lines)
        # Plain formulas are those of a tensor.
        is_refused = is_refused or (self.is_plain and re.search(r"Tensor[?\[]", schema) is not None)
        is_wrong = not self.is_plain and self.often(0.02)
        if self.often(0.45) and tensors and (not is_refused or is_wrong):
            lines.append("  derivatives:")
            lines += [f"    {n}: {json.dumps(self.formula(names))}" for n in tensors]
            if self.often(0.1):
                lines.append("    output_differentiability: [True]")
        return "\n".join(lines) + "\n"

    def files(self, namespace: str) -> list[str]:
        """The native format, sometimes with a file of a backend or of ExecuTorch behind it."""
        texts = ["".join([self.entry(namespace) for _ in range(self.pick((1, 1, 2, 3)))])]
        if self.often(0.06):
            own = self.entry(namespace).replace("\n", "\n  ").rstrip()
            texts.append(
                f"backend: {self.pick(('XLA', 'MPS', 'PrivateUse1'))}\ncpp_namespace: {self.name()}_x\nsupported:\n  - f\ncustom:\n  {own}\n"
            )
        if self.often(0.06):
            schema = json.dumps(self.schema(namespace)[0])
            kernel = self.pick((f"{namespace}_k::e", "e", "a b"))
            texts.append(
                f"- func: {schema}\n  kernels:\n    - arg_meta: null\n      kernel_name: {kernel}\n"
            )
        return texts

    def options(self, namespace: str) -> Options:
        """The settings of the configuration; `""` has those for all targets."""
        library: dict[str, object] = {"namespace": namespace}
        if self.often(0.1):
            library["shards"] = 2
        if self.often(0.1):
            library["library"] = "fragment"
        types = dict.fromkeys(
            ("ScalarType", "Layout", "Device", "MemoryFormat", "Generator", "Scalar"), "int"
        )
        package = namespace if self.often(0.9) else f"outer_{namespace}.inner"
        options: Options = {
            "": {},
            "python": {"package": package, "dispatcher": "own"},
            "cpp-torch": {**library, "module": ""},
            "cpp-torch-stable": {**library, "module": ""},
            "cpp-runtime": {
                **library,
                "tensor": "toy::Tensor",
                "types": {**types, "Scalar": "double"},
            },
            "torch-python": {"package": f"{namespace}_ops", "defines": True},
            "torch-stubs": {},
        }
        options["python"]["shards"] = int(self.pick("002"))
        if not self.is_plain:
            for table, name, values in SETTINGS:
                if self.often(0.02):
                    options[table][name] = json.loads(self.pick(values))
        return options
