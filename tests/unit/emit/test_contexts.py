"""Templates and views agree: each name is documented, passed and used, and each field is read.

An environment that records attribute reads renders every template.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cache
from pathlib import Path

import pytest
from jinja2 import Environment, UndefinedError, nodes
from jinja2.meta import find_undeclared_variables

from torchgen_lite import Program, load
from torchgen_lite.emit.recorder import recording
from torchgen_lite.emit.render import build_environment
from torchgen_lite.emit.templates import find_templates
from torchgen_lite.loader.torch.files import InstalledTorch
from torchgen_lite.targets import DEFAULT_TARGETS, TARGETS
from torchgen_lite.targets.output import CalledModule, OutputFile

ROOT = Path(__file__).parents[3]
# Together they reach every branch of every template.
PROJECTS = [
    ".",
    "examples/cpp_runtime",
    "examples/tinyarr",
    "examples/torch_backend",
    "examples/torch_classes",
    "examples/torch_ops",
    "tests/cases/cpp_runtime/input",
    "tests/cases/cpp_backend/input",
    "tests/cases/cpp_selection/input",
    "tests/cases/cpp_torch/input",
    "tests/cases/device_tests/input",
    "tests/cases/docs/input",
    "tests/cases/kernels/input",
    "tests/cases/torch_python/input",
    "tests/cases/torch_stubs/input",
    "tests/cpp/autograd_ops",
    "tests/cpp/device_ops",
    "tests/cpp/hub_ops",
    "tests/cpp/structured_ops",
    "tests/cpp_runtime/every_shape",
    "tests/torch_python/project",
]
TEMPLATES = sorted(
    path.relative_to(find_templates()).as_posix() for path in find_templates().rglob("*.j2")
)
# The lines of an opening comment that describe the context: `  key, other  what they are`.
DOCUMENTED = re.compile(r"^  (\w+(?:, \w+)*)  +\S", re.MULTILINE)
# `vars` has the user's `template-vars`.
GIVEN = {"vars"}
IMPORTING = (nodes.Extends, nodes.Include, nodes.FromImport)


class Recording(Environment):
    """Records the attributes that templates read, by class."""

    read: dict[type, set[str]]

    def getattr(self, obj: object, attribute: str) -> object:
        self.read.setdefault(type(obj), set()).add(attribute)
        return super().getattr(obj, attribute)

    def getitem(self, obj: object, argument: object) -> object:
        if isinstance(argument, str):
            self.read.setdefault(type(obj), set()).add(argument)
        return super().getitem(obj, argument)  # type: ignore[arg-type]


@dataclass
class Rendered:
    """The record of a run over all projects: contexts by template, classes of values, attributes by class."""

    contexts: dict[str, list[Mapping[str, object]]] = field(default_factory=dict)
    seen: set[type] = field(default_factory=set)
    read: dict[type, set[str]] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)


@cache
def rendered() -> Rendered:
    found = Rendered()
    built_in = build_environment()
    environment = Recording(
        loader=built_in.loader,
        undefined=built_in.undefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters = built_in.filters
    environment.read = found.read
    visited: dict[int, object] = {}
    for file in described_files():
        if file.template.endswith(".j2"):
            found.contexts.setdefault(file.template, []).append(file.context)
            try:
                environment.get_template(file.template).render(
                    {**recording(file.context), "vars": {}}
                )
            except UndefinedError as error:
                found.failures.append(f"{file.template}: {error}")
            walk(file.context, found.seen, visited)
    return found


def described_files() -> Iterator[OutputFile]:
    for project in PROJECTS:
        program = load(root=ROOT / project)
        for name in program.config.targets or DEFAULT_TARGETS:
            for one in (program, *unusual(program, name)):
                yield from TARGETS[name].build(one).files


def unusual(program: Program, target: str) -> Iterator[Program]:
    """The program with options that no project sets: shards, hashes of schemas, PyTorch's stub files, a vendored runtime."""
    if target == "python":
        options = {**program.config.target_options.get(target, {}), "runtime": "vendored"}
        yield replace(program, config=replace(program.config, target_options={target: options}))
    if target == "torch-stubs":
        yield replace(program, installed=InstalledTorch((), (("_C/__init__.pyi", "x: int"),)))
    if target in ("cpp-torch", "cpp-runtime"):
        options = {**program.config.target_options.get(target, {}), "shards": 2}
        if target == "cpp-torch":
            options["schema-hashes"] = True
        yield replace(program, config=replace(program.config, target_options={target: options}))


def walk(value: object, seen: set[type], visited: dict[int, object]) -> None:
    """Collect the classes of views in a context in `seen`; `visited` holds values already walked, by identity."""
    if isinstance(value, str) or id(value) in visited:
        return
    visited[id(value)] = value
    if type(value).__module__.startswith("torchgen_lite.targets."):
        seen.add(type(value))
    inner: Iterable[object] = ()
    if isinstance(value, Mapping):
        inner = value.values()
    elif isinstance(value, (list, tuple)):
        inner = value
    elif is_dataclass(value):
        inner = (getattr(value, field_.name) for field_ in fields(value))
    for one in inner:
        walk(one, seen, visited)


@cache
def parsed(name: str) -> nodes.Template:
    environment = build_environment()
    assert environment.loader is not None
    return environment.parse(environment.loader.get_source(environment, name)[0])


@cache
def used_names(name: str) -> frozenset[str]:
    """The names that a template takes from its context, including those of the templates that it includes."""
    tree = parsed(name)
    tree.environment = Environment()
    tree.environment.filters = build_environment().filters
    # `namespace` is a function of Jinja, and also a name in our contexts.
    del tree.environment.globals["namespace"]
    # A scoped block sees the names of its surroundings, and so does the block that replaces it.
    extended = [parsed(part.template.value) for part in tree.find_all(nodes.Extends)]  # type: ignore[attr-defined]
    every = [node for one in (tree, *extended) for node in one.find_all(nodes.Name)]
    own = {node.name for node in every if node.ctx in ("store", "param")}
    own |= {macro.name for macro in tree.find_all(nodes.Macro)}
    own |= {str(name) for node in tree.find_all(nodes.FromImport) for name in node.names}
    names = find_undeclared_variables(tree) - own
    for part in tree.find_all((nodes.Include, nodes.Extends)):
        assert isinstance(part.template, nodes.Const)
        names |= used_names(part.template.value) - own
    return frozenset(names - GIVEN)


@cache
def imported() -> set[str]:
    """The templates that others import, include or extend."""
    parts = [part.template for name in TEMPLATES for part in parsed(name).find_all(IMPORTING)]
    return {part.value for part in parts if isinstance(part, nodes.Const)}


def used_attributes(name: str) -> set[str]:
    """The attributes that a template reads in any of its branches."""
    tree = parsed(name)
    found = {
        node.attr
        for node in tree.find_all(nodes.Getattr)
        if not (isinstance(node.node, nodes.Name) and node.node.name == "loop")
    }
    for filter_ in tree.find_all(nodes.Filter):
        for keyword in filter_.kwargs:
            assert keyword.key != "attribute" or isinstance(keyword.value, nodes.Const)
            found |= {keyword.value.value} if keyword.key == "attribute" else set()  # type: ignore[attr-defined]
    return found


def test_no_name_is_missing() -> None:
    assert rendered().failures == []


@pytest.mark.parametrize("name", TEMPLATES)
def test_the_opening_comment_lists_what_is_used(name: str) -> None:
    comment = (find_templates() / name).read_text("utf-8").partition("#}")[0]
    documented = {word for line in DOCUMENTED.findall(comment) for word in line.split(", ")}
    assert documented == used_names(name)


@pytest.mark.parametrize("name", TEMPLATES)
def test_what_is_given_is_what_is_used(name: str) -> None:
    contexts = rendered().contexts.get(name, [])
    assert contexts or name in imported()
    for context in contexts:
        assert set(context) == used_names(name)


@pytest.mark.parametrize("name", TEMPLATES)
def test_every_attribute_has_been_read(name: str) -> None:
    """Rendering fails if an attribute is missing, so this shows that the tests reach every line of a template."""
    assert used_attributes(name) <= set().union(*rendered().read.values())


def test_views_are_few() -> None:
    """A view exists where something is decided: for anything else a template calls a verb."""
    views = [one for one in rendered().read if one.__module__.startswith("torchgen_lite.targets.")]
    assert len(views) <= 30, sorted(view.__qualname__ for view in views)


def test_every_field_of_a_view_is_read() -> None:
    """A template reads it, or a module that names the class."""
    found = rendered()
    unread = []
    for view in found.seen - {CalledModule}:
        properties = [name for name, value in vars(view).items() if isinstance(value, property)]
        own = view._fields if issubclass(view, tuple) else [one.name for one in fields(view)]
        names = {*properties, *own}
        read = found.read.get(view, set()) | read_in_python(view.__name__)
        unread += [f"{view.__qualname__}.{name}" for name in sorted(names - read)]
    assert unread == []


@cache
def read_in_python(view: str) -> frozenset[str]:
    """The attributes read in those modules of the targets that name a class."""
    texts = [path.read_text("utf-8") for path in (ROOT / "torchgen_lite/targets").rglob("*.py")]
    trees = [ast.parse(text) for text in texts if re.search(rf"\b{view}\b", text)]
    every = [node for tree in trees for node in ast.walk(tree)]
    return frozenset(
        node.attr
        for node in every
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)
    )


@pytest.mark.parametrize("project", PROJECTS)
def test_contexts_of_python_compare_by_value(project: str) -> None:
    """`generate --watch` renders a file again if its context differs from that of the last run."""
    first, second = load(root=ROOT / project), load(root=ROOT / project)
    names = {"python", "torch-python", "torch-stubs"}
    for name in names.intersection(first.config.targets or DEFAULT_TARGETS):
        assert [*TARGETS[name].build(first).files] == [*TARGETS[name].build(second).files]
