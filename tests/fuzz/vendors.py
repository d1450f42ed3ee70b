"""Files of vendors from a grammar, whole or with a few edits: each is read, linted, and given to all targets."""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.fuzz.entries import mutate
from tests.fuzz.grammar import ODD, Grammar
from tests.fuzz.targets import Tally, Workshop, as_toml
from torchgen_lite.analysis.native import NativeOperators, read_native

# The operators that the files are about: structured ones with variants, views, in-place ones, lists, options.
NATIVE = """\
- func: add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
  structured_delegate: add.out
  variants: function, method
- func: add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)
  structured_delegate: add.out
- func: add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)
  structured: True
  structured_inherits: TensorIteratorBase
  dispatch: {CPU, CUDA: add_out}
- func: max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)
  structured_delegate: max.dim_max
- func: max.dim_max(Tensor self, int dim, bool keepdim=False, *, Tensor(a!) max, Tensor(b!) max_values) -> (Tensor(a!) values, Tensor(b!) indices)
  structured: True
  dispatch: {CPU: max_out}
- func: relu(Tensor self) -> Tensor
  dispatch: {CPU: relu}
  autogen: relu.out
- func: relu_(Tensor(a!) self) -> Tensor(a!)
  dispatch: {CPU: relu_}
- func: view(Tensor(a) self, SymInt[] size) -> Tensor(a)
  dispatch: {CPU: view}
- func: cat(Tensor[] tensors, int dim=0) -> Tensor
  dispatch: {CPU: cat}
- func: index.Tensor(Tensor self, Tensor?[] indices) -> Tensor
  dispatch: {CPU: index}
- func: empty.memory_format(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor
  dispatch: {CPU: empty_cpu}
- func: square(Tensor self) -> Tensor
- func: _copy_from(Tensor self, Tensor dst, bool non_blocking=False) -> Tensor
  dispatch: {}
- func: _copy_from_and_resize(Tensor self, Tensor dst) -> Tensor
  dispatch: {}
"""
SIGNATURES = tuple(
    line.removeprefix("- func: ") for line in NATIVE.splitlines() if line.startswith("- func")
)
NAMES = (*[one.partition("(")[0] for one in SIGNATURES], "relu.out", "square.out")
VERSIONS = ("all_version", "newest", "v2.1", "[v2.1, newest]", "[v2.1, v2.2]", "v2.1, v2.13", "[v2.13]", "later", "True")  # fmt: skip
LEAVES = ("i", "M_PI", "retain_variables", "self_t", "original_self_p", "result", "self", "other")


class Vendors(Grammar):
    """One of the formats, each with what belongs to it and a little that does not."""

    def operator(self) -> str:
        """A name, rarely one that nobody declares."""
        return self.pick(NAMES) if self.often(0.98) else self.pick(("nothing.out", *ODD))

    def signature(self) -> str:
        """A declared signature, rarely another one."""
        if self.often(0.03):
            return self.schema("")[0]
        return self.pick(SIGNATURES)

    def some(self, one: Callable[[], str], most: int = 4) -> list[str]:
        return [one() for _ in range(self.chooser.randint(1, most))]

    def kernel(self) -> str:
        return self.pick(("k", "ns::k", "Class::k", "k_symint", self.name(), "a b"))

    def fields(self, among: Sequence[str]) -> dict[str, object]:
        """Some of the fields, with values that are usual and some that are not."""
        usual: dict[str, Callable[[], object]] = {
            "structured": lambda: self.often(0.7),
            "structured_delegate": self.operator,
            "structured_inherits": lambda: self.name(),
            "ext_structured_meta": lambda: True,
            "device_guard": lambda: self.often(0.5),
            "dispatch": lambda: {self.pick(("PrivateUse1", "CPU", "AutogradPrivateUse1", "x")): self.kernel()},
            "variants": lambda: self.pick(("function", "method", "function, method", "x")),
            "tags": lambda: self.pick(("core", "nosuch")),
            "cpp_no_default_args": lambda: ["alpha"],
            "op_api": lambda: self.pick(VERSIONS),
            "acl_op": lambda: self.pick(VERSIONS),
            "gen_opapi": lambda: {"out": {"size": "self"}, "exec": "aclnnAdd"},
            "internal_format_opapi": lambda: self.pick(VERSIONS),
            "kernel_name": self.kernel,
        }  # fmt: skip
        return {name: usual[name]() for name in among if self.often(0.15)}

    def item(self) -> object:
        """An item of a backend's list: a name, a signature, a mapping with either."""
        form = self.chooser.randint(0, 4)
        if form < 2:
            return self.operator()
        if form == 2:
            return {
                self.operator(): self.fields(("structured", "ext_structured_meta", "device_guard"))
            }
        among = ("op_api", "acl_op", "gen_opapi", "internal_format_opapi", "device_guard")
        return {"func": self.pick((self.operator(), self.signature())), **self.fields(among)}

    def backend(self) -> object:
        """As gen_backend_stubs reads it, and as op-plugin extends it."""
        lists = ("supported", "autograd", "ir_gen", "symint", "non_native", "full_codegen", "official", "custom", "tocpu")  # fmt: skip
        found: dict[str, object] = {}
        if self.often(0.8):
            found["backend"] = self.pick(("XLA", "NPU", "PrivateUse1", "MPS", "Nothing", "CPU"))
        if self.often(0.8):
            found["cpp_namespace"] = self.pick(("torch_xla", "a::b", "new", "a b", "index"))
        for name, values in (
            ("class_name", ("XLANativeFunctions", "class", "a::B")),
            ("use_out_as_primary", (True, False, "x")),
            ("device_guard", (True, False, [])),
            ("all_version", (["v2.1", "v2.13"], [], "v2.1")),
            ("extra_headers", ("#include <a>", ["a.h"])),
        ):
            if self.often(0.3):
                found[name] = self.chooser.choice(values)
        found |= {n: [self.item() for _ in range(2)] for n in lists if self.often(0.2)}
        return found or {"supported": []}

    def names(self) -> object:
        """Entries by name alone, as a list or under namespaces."""
        among = ("structured", "structured_delegate", "structured_inherits", "device_guard", "dispatch", "variants", "tags")  # fmt: skip
        entries: list[object] = [
            {"func": self.pick((self.operator(), self.signature())), **self.fields(among)}
            for _ in range(self.chooser.randint(1, 4))
        ]
        spaces = self.pick(("", "", "aten", "custom", "vision"))
        return {"aten": entries, spaces: entries[:1]} if spaces else entries

    def executorch(self) -> object:
        """`op:` or `func:` with `kernels`."""

        def one() -> object:
            kernel = {"arg_meta": self.pick((None, ["T0"], "x")), "kernel_name": self.kernel()}  # type: ignore[arg-type]
            head = {"op": self.operator()} if self.often(0.7) else {"func": self.signature()}
            among = ("variants", "tags", "dispatch", "cpp_no_default_args", "device_guard")
            return {**head, **self.fields(among), "kernels": [kernel] * self.chooser.randint(0, 2)}

        return [one() for _ in range(self.chooser.randint(1, 4))]

    def derivatives(self) -> object:
        """derivatives.yaml, as a list or under `backward`."""

        def one() -> object:
            names = ["self", "other", "tensors", "indices", "result", "dim", "out"]
            entry: dict[str, object] = {"name": self.pick((self.signature(), self.operator()))}
            if self.often(0.2):
                entry["version"] = self.pick(VERSIONS)
            for name in [n for n in names if self.often(0.4)]:
                words = (
                    "not_differentiable",
                    "auto_linear",
                    "auto_element_wise",
                    "non_differentiable",
                )
                entry[name] = self.pick(words) if self.often(0.2) else self.formula([*LEAVES])
            if self.often(0.1):
                entry["output_differentiability"] = [self.often(0.5), "result.is_complex()"][
                    : self.chooser.randint(0, 2)
                ]
            if self.often(0.1):
                entry["dispatch"] = {
                    "Default": {"self": "grad"},
                    "AutogradNestedTensor": {"self": self.formula(["self"])},
                }
            return entry

        entries = [one() for _ in range(self.chooser.randint(1, 4))]
        return {"backward": entries, "all_version": ["v2.1"]} if self.often(0.3) else entries

    def vendor(self) -> str:
        """The text of a file: JSON is YAML."""
        made = self.chooser.choice(
            (self.backend, self.backend, self.names, self.executorch, self.derivatives)
        )()
        text = json.dumps(made, indent=self.chooser.choice((None, 1)))
        return mutate(text, self.chooser) if self.often(0.2) else text


def native_operators(folder: Path) -> NativeOperators:
    """The operators of `NATIVE`, with those that are derived."""
    (folder / "native_functions.yaml").write_text(NATIVE)
    found = read_native("native_functions.yaml", folder)
    assert not found.diagnostics
    return found


def run_vendors(count: int, seed: int, first: int = 0) -> Tally:
    """What became of the inputs, each a file of a vendor and sometimes two."""
    workshop = Workshop()
    problems = workshop.tally.problems
    with tempfile.TemporaryDirectory() as folder:
        native = native_operators(Path(folder))
    for number in range(first, first + count):
        grammar = Vendors(random.Random(f"vendors {seed} {number}"))
        texts = grammar.some(grammar.vendor, 2 if grammar.often(0.2) else 1)
        toml = as_toml(grammar.options(f"fz{number}"))
        for problem in workshop.check(texts, toml, False, native):
            problems.append(f"seed {seed}, input {number}: {problem}\n{texts!r}\n{toml!r}")
    workshop.close()
    return workshop.tally
