"""Whole programs: groups of entries that belong together, and a configuration with several targets.

Operators of a group have the group's mark in their names (`mulq3_`, `mulq3.out`), and need no other group. So a line of
generated code shows which group it is for. Most programs are well-formed; each has something of everything over time.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any, NamedTuple

import yaml

from tests.fuzz.grammar import DEFAULTS_OF, ODD, Grammar, Options

Entry = dict[str, Any]
Group = list[Entry]
# A type, a name, and a default or nothing.
Argument = tuple[str, str, str]

NAMES = "add mul scale relu sum view norm cat pad".split()
WORDS = "x y z n p dim value mask".split()
# Types that every target can express, with what a sample passes.
SIMPLE = {
    "Tensor": ("randn(2, 3)", "ones(2)"),
    "Tensor?": ("randn(2)", "None"),
    "Tensor[]": ("[randn(2), randn(2)]", "[]"),
    "int": ("2", "-1"),
    "SymInt": ("3",),
    "float": ("0.5", "2.0"),
    "bool": ("True",),
    "Scalar": ("1", "2.5"),
    "str": ("'a'", "'é'"),
    "int[]": ("[1, 2]",),
    "int[2]": ("[1, 2]",),
    "SymInt[]": ("[1]",),
    "int?": ("None", "1"),
    "float?": ("None",),
    "ScalarType?": ("None",),
}
# Other types, which a target may refuse.
RARE = ("Tensor?[]", "bool[3]", "Device?", "Generator?", "complex", "str[]", "MemoryFormat?", "Scalar[]", "Dimname", "Layout", "t[]")  # fmt: skip
BACKENDS = ("CPU", "CUDA", "PrivateUse1", "XPU", "SparseCPU", "QuantizedCPU", "Meta")
COMPOSED = ("CompositeImplicitAutograd", "CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional")  # fmt: skip
MODES = ("Autograd", "AutogradCPU", "AutogradPrivateUse1", "Tracer", "Functionalize", "ADInplaceOrView", "BackendSelect", "AutocastCPU", "FuncTorchBatched")  # fmt: skip
KNOWN = ("nondeterministic_seeded", "dynamic_output_shape", "data_dependent_output", "needs_fixed_stride_order", "flexible_layout", "generated")  # fmt: skip
TEXTS = ("What it does.", "Two\n\nparagraphs.", 'A "quoted" word, a back\\slash and `code`.', "ünï")
RESULTS = ("Tensor", "(Tensor, Tensor)", "(Tensor a, Tensor b)", "Tensor[]", "int", "Tensor?", "(Tensor a, int b)", "bool", "Scalar", "()", "float")  # fmt: skip
TARGETS = ("python", "cpp-torch", "cpp-torch-stable", "cpp-runtime", "torch-python", "torch-stubs", "docs")  # fmt: skip


class Case(NamedTuple):
    """A program as data, so that it can be edited; `text` and `toml` are what files say."""

    groups: tuple[Group, ...]
    options: Options
    namespace: str

    @property
    def text(self) -> str:
        """One schema file with all entries."""
        return written([entry for group in self.groups for entry in group])

    def names(self, at: int) -> list[str]:
        """The full names of a group's operators."""
        return [entry["func"].partition("(")[0] for entry in self.groups[at]]


def written(entries: Sequence[Entry]) -> str:
    """The entries as YAML, one after the other in their order."""
    # The entries may share values, which YAML would write as anchors.
    plain = json.loads(json.dumps(entries))
    return yaml.safe_dump(plain, sort_keys=False, width=10_000, allow_unicode=True)


def mark(at: int) -> str:
    """What the names of a group's operators and kernels end in."""
    return f"q{at}q"


def _without_contradictions(entry: Entry) -> None:
    """Leave out what another field excludes: it is an error on purpose rarely enough."""
    dispatch = entry.get("dispatch", {"CompositeImplicitAutograd": ""})
    is_delegate = "structured_delegate" in entry
    if "Meta" in dispatch or "FuncTorchBatched" in dispatch:
        entry.pop("fake", None)
        entry.pop("vmap", None)
    if "CompositeImplicitAutograd" in dispatch and not is_delegate:
        entry.pop("derivatives", None)
        entry.pop("fake", None)
    if any("Autocast" in key for key in dispatch):
        entry.pop("autocast", None)
    result = entry["func"].rpartition("->")[2]
    if "Tensor[]" in result:
        entry.pop("derivatives", None)
    if "method" in entry.get("variants", "") and ".out(" in entry["func"]:
        del entry["variants"]


class Programs(Grammar):
    """Random programs; the same for the same seed."""

    def case(self, namespace: str) -> Case:
        """A program of a few groups."""
        count = self.chooser.choice((1, 2, 3, 3, 4, 6))
        groups = tuple([self.group(at, namespace) for at in range(count)])
        return Case(groups, self.settings(namespace, groups), namespace)

    def group(self, at: int, namespace: str) -> Group:
        """Entries that are variants of one another, or one alone."""
        where = f"{namespace}_too" if at and self.often(0.04) else namespace
        base = f"{where}::{self.pick(NAMES)}{mark(at)}"
        kinds: tuple[Callable[[str, str], Group], ...] = (
            *(self.alone, self.alone, self.alone, self.family, self.family, self.structured),
            *(self.overloads, self.view, self.mutates, self.factory),
        )
        group = self.chooser.choice(kinds)(base, mark(at))
        for entry in group:
            self.describe(entry)
            if self.often(0.96):
                _without_contradictions(entry)
        return group

    def fit_arguments(self, least: int = 0, most: int = 3) -> list[Argument]:
        """Arguments with other names than `self`; once one has a default, those that follow have one, too."""
        names = [self.pick(ODD) if self.often(0.02) else n for n in WORDS]
        names = [n for n in dict.fromkeys(names) if n not in ("self", "out")]
        self.chooser.shuffle(names)
        found: list[Argument] = []
        for name in names[: self.chooser.randint(least, most)]:
            type_ = (
                self.pick((*SIMPLE, "Tensor", "Tensor")) if self.often(0.93) else self.pick(RARE)
            )
            fitting = DEFAULTS_OF.get(type_, ("None",) if type_.endswith("?") else ())
            found.append((type_, name, self.pick(fitting) if fitting and self.often(0.35) else ""))
        return sorted(found, key=lambda one: bool(one[2]))

    def call(self, arguments: Sequence[Argument], more: Sequence[str] = ()) -> str:
        """The arguments of a schema, some of them by keyword alone, and `more` behind them."""
        texts = [f"{type_} {name}={value}" if value else f"{type_} {name}" for type_, name, value in arguments]  # fmt: skip
        at = self.chooser.randint(1, len(texts)) if texts and self.often(0.3) else len(texts)
        keywords = [*texts[at:], *more]
        return ", ".join([*texts[:at], *(["*"] if keywords else []), *keywords])

    def dispatch(self, token: str, suffix: str = "", *, of: Sequence[str] = BACKENDS) -> Entry:
        """`dispatch:` of an entry, as a mapping with that field, or none."""
        if self.often(0.15):
            return {}
        if self.often(0.2):
            return {"dispatch": {self.pick(COMPOSED): f"k_{token}{suffix}_composed"}}
        keys = self.chooser.sample(of, self.chooser.randint(0, min(3, len(of))))
        keys += [self.pick(MODES)] if self.often(0.12) else []
        where = self.pick(("lib::", "a::b::")) if self.often(0.02) else ""
        end = "_symint" if self.often(0.05) else ""
        found = {key: f"{where}k_{token}{suffix}_{key.lower()}{end}" for key in keys}
        if len(keys) > 1 and self.often(0.1):
            return {"dispatch": {", ".join(keys): f"k_{token}{suffix}_shared"}}
        return {"dispatch": found}

    def gradients(self, arguments: Sequence[Argument], results: str = "Tensor") -> Entry:
        """`derivatives:` for the tensors among the arguments."""
        tensors = [name for type_, name, _ in arguments if type_ in ("Tensor", "Tensor?")]
        if not tensors or not self.often(0.55) or "Tensor" not in results:
            return {}
        grad = "grad"
        if results.count("Tensor") > 1:
            grad = self.pick(("grad_a", "grad_b", "(grad_a + grad_b)")) if " a" in results else f"grads[{self.pick('01')}]"  # fmt: skip
        formulas = {name: self.formula_of(grad, arguments) for name in tensors}
        if len(formulas) > 1 and self.often(0.15):
            del formulas[tensors[-1]]
        if len(tensors) > 1 and self.often(0.1):
            formulas = {", ".join(tensors): f"helper({grad}, grad_input_mask)"}
        if self.often(0.06):
            return {"derivatives": {"dispatch": {"Default": formulas, "AutogradCUDA": formulas}}}
        if results.count("Tensor") > 1 and self.often(0.2):
            formulas["output_differentiability"] = self.chooser.choice(([True, False], [True, True]))  # type: ignore[assignment]
        return {"derivatives": formulas}

    def formula_of(self, grad: str, arguments: Sequence[Argument]) -> str:
        """Most are accepted by every target."""
        tensors = [name for type_, name, _ in arguments if type_ == "Tensor"] or [grad]
        numbers = [name for type_, name, _ in arguments if type_ in ("int", "float", "SymInt")] or ["2"]  # fmt: skip
        tensor, number = self.pick(tensors), self.pick(numbers)
        if self.often(0.04):
            return self.formula([name for _, name, _ in arguments])
        return self.pick((
            grad, f"-{grad}", f"{grad} * 2", f"{grad} * {tensor}", f"{grad} * {number}", f"{grad} / ({number} + 1.5)",
            f"{grad} * ({tensor} + {tensor} * {number})", f"{number} > 1 ? {grad} : {grad} * 3", "not_differentiable",
            f"{grad} * {tensor}.size(0)", f"{grad} * {tensor}.dim()", f"{grad} * 1e-3 - {grad}",
        ))  # fmt: skip

    def fake(self, results: str, tensors: Sequence[str]) -> Entry:
        """`fake:` for a result, rarely as the name of a function."""
        if not tensors or not self.often(0.4):
            return {}
        like = self.pick(tensors)
        rules = {
            "Tensor": ({"like": like}, {"shape": f"[{like}.size(0)]", "dtype": "float32"}, {"like": like, "shape": []},
                       {"like": like, "check": {f"{like}.dim() > 0": "it is empty"}}, {"shape": f"reduced({like}, 0, False)", "dtype": f"promote({like}, 1)"},
                       {"shape": f"with_size({like}, -1, 3)", "device": f"{like}.device"}, "fake_of"),
            "(Tensor a, Tensor b)": ({"a": {"like": like}, "b": {"like": like, "dtype": "int64"}},),
            "(Tensor, Tensor)": ([{"like": like}, {"like": like}],),
            "int": ({"value": f"{like}.dim()"},),
            "Tensor[]": ({"like": like, "count": f"{like}.size(0)"},),
        }  # fmt: skip
        return {"fake": self.chooser.choice(rules[results])} if results in rules else {}

    def samples(self, arguments: Sequence[Argument]) -> Entry:
        """`samples:`, calls that fit the arguments."""
        if not self.often(0.25) or not all(type_ in SIMPLE for type_, _, _ in arguments):
            return {}
        calls: list[object] = []
        for _ in range(self.chooser.randint(1, 2)):
            calls.append({name: self.pick(SIMPLE[type_]) for type_, name, value in arguments if not value or self.often(0.4)})  # fmt: skip
        more = self.chooser.choice(({"rtol": 1e-3, "atol": 1e-3}, {"dtypes": ["float32"]}, {"gradcheck": False}, {"reference": "fake_of"}))  # fmt: skip
        return {"samples": {"calls": calls, **more} if self.often(0.2) else calls}

    def describe(self, entry: Entry) -> None:
        """Fields that every operator may have."""
        fields: dict[str, Callable[[], object]] = {
            "doc": lambda: self.pick(TEXTS),
            "tags": lambda: self.chooser.choice(
                ("core", ["pointwise"], ["core", "pt2_compliant_tag"], *KNOWN)
            ),
            "torch": lambda: self.pick((">=2.6", ">=2.6,<2.13", ">=2.9")),
            "guard": lambda: self.pick(("#ifdef A", "#if A > 2", "#ifndef B")),
            "device_check": lambda: "NoCheck",
            "device_guard": lambda: False,
            "category_override": lambda: "dummy",
            "manual_cpp_binding": lambda: True,
        }
        for name, likely in zip(fields, (0.25, 0.15, 0.05, 0.06, 0.05, 0.05, 0.02, 0.02)):
            if self.often(likely):
                entry[name] = fields[name]()
        if self.often(0.3) and "Tensor" in entry["func"].partition("->")[0]:
            has_self = "self" in entry["func"]
            entry["variants"] = self.pick(("function", "method", "function, method")) if has_self else "function"  # fmt: skip

    def alone(self, base: str, token: str) -> Group:
        """One functional operator with any result."""
        arguments = [*self.first(), *self.fit_arguments()]
        results = self.pick(("Tensor", "Tensor", *RESULTS))
        tensors = [name for type_, name, _ in arguments if type_ == "Tensor"]
        entry: Entry = {"func": f"{base}({self.call(arguments)}) -> {results}"}
        entry |= self.dispatch(token) | self.gradients(arguments, results)
        entry |= self.fake(results, tensors) | self.samples(arguments)
        if self.often(0.08):
            entry["vmap"] = f"{token}_vmap"
        if tensors and self.often(0.2):
            entry["autocast"] = self.chooser.choice(("float32", "lower_precision", {"dtype": "float32", "result": tensors[0]}))  # fmt: skip
        return [entry]

    def first(self) -> list[Argument]:
        return [("Tensor", "self", "")] if self.often(0.85) else []

    def family(self, base: str, token: str) -> Group:
        """Functional, in-place and out variants, or some of them."""
        arguments: list[Argument] = [("Tensor", "self", ""), *self.fit_arguments()]
        functional: Entry = {"func": f"{base}({self.call(arguments)}) -> Tensor"}
        functional |= self.dispatch(token) | self.gradients(arguments)
        functional |= self.fake("Tensor", ["self"]) | self.samples(arguments)
        written = [("Tensor(a!)", "self", ""), *arguments[1:]]
        inplace: Entry = {"func": f"{base}_({self.call(written)}) -> Tensor(a!)"}
        inplace |= self.dispatch(token, "_")
        out: Entry = {
            "func": f"{base}.out({self.call(arguments, ['Tensor(a!) out'])}) -> Tensor(a!)"
        }
        out |= self.dispatch(token, "_out")
        if self.often(0.15):
            functional["autogen"] = functional["func"].partition("::")[2].partition("(")[0] + ".out"
            return [functional, inplace][: self.chooser.randint(1, 2)]
        group = [entry for entry in (functional, inplace, out) if self.often(0.75)] or [functional]
        if self.often(0.2):
            self.chooser.shuffle(group)
        return group

    def structured(self, base: str, token: str) -> Group:
        """A structured out variant, and those that delegate to it."""
        arguments: list[Argument] = [("Tensor", "self", ""), *self.fit_arguments(0, 2)]
        # All variants have the same arguments after `self`.
        call, name = self.call(arguments), base.partition("::")[2]
        before = call if ", *" in call else f"{call}, *"
        out: Entry = {
            "func": f"{base}.out({before}, Tensor(a!) out) -> Tensor(a!)",
            "structured": True,
        }
        keys = self.chooser.sample(("CPU", "PrivateUse1", "CUDA"), self.chooser.randint(1, 2))
        out["dispatch"] = {key: f"k_{token}_out_{key.lower()}" for key in keys}
        functional: Entry = {
            "func": f"{base}({call}) -> Tensor",
            "structured_delegate": f"{name}.out",
        }
        functional |= self.gradients(arguments) | self.samples(arguments)
        written = call.replace("Tensor self", "Tensor(a!) self", 1)
        inplace: Entry = {"func": f"{base}_({written}) -> Tensor(a!)", "structured_delegate": f"{name}.out"}  # fmt: skip
        if self.often(0.2):
            functional["dispatch"] = {self.pick(("SparseCPU", "Autograd")): f"k_{token}_beside"}
        return [functional, *([inplace] if self.often(0.6) else []), out]

    def overloads(self, base: str, token: str) -> Group:
        """Overloads of one name, which differ in the type of an argument."""
        group: Group = []
        for type_ in self.chooser.sample(("Tensor", "Scalar", "int", "str"), 2):
            arguments: list[Argument] = [("Tensor", "self", ""), (type_, "other", ""), *self.fit_arguments(0, 1)]  # fmt: skip
            entry: Entry = {"func": f"{base}.{type_}({self.call(arguments)}) -> Tensor"}
            entry |= self.dispatch(token, f"_{type_.lower()}") | self.gradients(arguments)
            group.append(entry | self.fake("Tensor", ["self"]) | self.samples(arguments))
        return group

    def view(self, base: str, token: str) -> Group:
        """A view of its argument."""
        arguments: list[Argument] = [("Tensor(a)", "self", ""), ("int", "n", "")]
        entry: Entry = {"func": f"{base}({self.call(arguments)}) -> Tensor(a)"}
        entry |= self.dispatch(token)
        if self.often(0.5):
            entry["fake"] = {"view": "self", "shape": "[self.size(0), n]"}
        if self.often(0.4):
            entry["derivatives"] = {"self": self.pick(("grad", "grad * n", "not_differentiable"))}
        return [entry]

    def mutates(self, base: str, token: str) -> Group:
        """Writes to its arguments, and returns nothing or what it wrote."""
        arguments: list[Argument] = [("Tensor(a!)", "x", ""), ("Tensor", "y", ""), *self.fit_arguments(0, 1)]  # fmt: skip
        arguments = list({name: (type_, name, value) for type_, name, value in arguments}.values())
        if any(type_ == "Tensor(a!)" for type_, _, _ in arguments) and self.often(0.3):
            arguments[1:2] = [("Tensor(b!)", "y", "")]
        arguments.sort(key=lambda one: bool(one[2]))
        entry: Entry = {"func": f"{base}({self.call(arguments)}) -> ()"}
        return [entry | self.dispatch(token)]

    def factory(self, base: str, token: str) -> Group:
        """Without tensors: the tensor options say which backend."""
        options = "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"
        entry: Entry = {"func": f"{base}(SymInt[] size, *, {options}) -> Tensor"}
        return [entry | self.dispatch(token)]

    def settings(self, namespace: str, groups: Sequence[Group]) -> Options:
        """The configuration, whose targets are some of all."""
        options = self.options(namespace)
        chosen = [name for name in TARGETS if self.often(0.6)] or ["python"]
        if self.often(0.2):
            self.chooser.shuffle(chosen)
        options[""]["targets"] = chosen
        options["docs"] = {"folder": "docs"} if self.often(0.2) else {}
        for target in ("python", "torch-python"):
            if self.often(0.6):
                options[target]["kernels"] = ["kernels"]
        if self.often(0.9):
            options["python"]["framework"] = "framework"
        options["torch-python"] |= {"fakes": ["fakes"]} if self.often(0.8) else {}
        names = [entry["func"].partition("(")[0] for group in groups for entry in group]
        for target in ("python", "cpp-torch", "cpp-torch-stable", "cpp-runtime", "torch-python"):
            if self.often(0.08):
                options[target]["skip"] = [self.pick(names)]
        return options


# Edits of text that leave valid YAML, most of them with a mistake.
_MISTAKES: tuple[Callable[[Programs, Entry], None], ...] = (
    lambda made, entry: entry.pop("func"),
    lambda made, entry: entry.update(nosuch=1),
    lambda made, entry: entry.update(func=entry["func"].replace("->", "-", 1)),
    lambda made, entry: entry.update(func=entry["func"].replace("Tensor", "Tensr", 1)),
    lambda made, entry: entry.update(func=entry["func"] + made.pick((")", " x", "(a!)", "[]", "?"))),
    lambda made, entry: entry.update(func=entry["func"].replace("self", "x", 1)),
    lambda made, entry: entry.update(func=entry["func"].replace("Tensor", "Tensor(a!)", 1)),
    lambda made, entry: entry.update(structured=True),
    lambda made, entry: entry.update(structured_delegate=made.pick(("nothing.out", "a b", ""))),
    lambda made, entry: entry.update(autogen=made.pick(("x.out", "nosuch", ",", "add_.x"))),
    lambda made, entry: entry.update(derivatives=made.chooser.choice(({"nothing": "grad"}, {"self": "grad +"}, [], "grad", {"self": 1}, {}))),
    lambda made, entry: entry.update(derivatives={"self": made.formula(["self", "x", "n"])}),
    lambda made, entry: entry.update(output_differentiability=made.chooser.choice(([True] * 3, "x", [None]))),
    lambda made, entry: entry.update(fake=made.chooser.choice(({"like": "nothing"}, {"shape": 3}, [], {"a": {}}, {"value": "self +"}, None))),
    lambda made, entry: entry.update(samples=made.chooser.choice(([{}], ["(randn(2)"], {"calls": 3}, "x", [{"nothing": "1"}], [["x"]]))),
    lambda made, entry: entry.update(vmap=made.chooser.choice(("a b", 1, "x.y", ""))),
    lambda made, entry: entry.update(autocast=made.chooser.choice(("float8", {"dtype": "float32"}, 3))),
    lambda made, entry: entry.update(tags=made.chooser.choice(("nosuch", ["view_copy"], {"a": 1}, "inplace_view", []))),
    lambda made, entry: entry.update(variants=made.chooser.choice(("method", "nothing", [], "function,,"))),
    lambda made, entry: entry.update(dispatch=made.chooser.choice(({"Nothing": "k"}, {"CPU": "a b"}, [], "CPU", {"CPU, CUDA": "k", "CUDA": "l"}, {"CPU": None}))),
    lambda made, entry: entry.update(torch=made.chooser.choice((">=99", "x", 2.6, ">=2.9,<2.6"))),
    lambda made, entry: entry.update(guard=made.chooser.choice(("#if", "if A", ["#ifdef A", "#endif"], 1))),
    lambda made, entry: entry.update(python_module=made.chooser.choice(("nn", "a b", 1))),
    lambda made, entry: entry.update(category_override="nosuch"),
    lambda made, entry: entry.update(precomputed=made.chooser.choice((["n -> int n"], "x", ["x"]))),
    lambda made, entry: entry.update(ufunc_inner_loop=made.chooser.choice(({"Generic": "k (Float)"}, "x", {}))),
    lambda made, entry: entry.update(cpp_no_default_args=made.chooser.choice((["nothing"], "x"))),
    lambda made, entry: entry.update(manual_kernel_registration=True),
    lambda made, entry: entry.update(device_check="x"),
)  # fmt: skip


def mistaken(made: Programs, case: Case) -> Case:
    """The program with one or two mistakes in its entries."""
    groups = deepcopy(case.groups)
    for _ in range(made.chooser.randint(1, 2)):
        entry = made.chooser.choice(made.chooser.choice(groups))
        if "func" in entry:
            made.chooser.choice(_MISTAKES)(made, entry)
    return case._replace(groups=groups)
