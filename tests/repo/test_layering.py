"""What may import what, read from the imports: layers import only lower layers, modules make no circles."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "torchgen_lite"

LAYERS = {
    "diagnostics": 0,
    "schema": 1,
    "formulas": 2,
    "loader": 3,
    "analysis": 4,
    "languages": 5,
    "targets": 6,
    "emit": 7,
    "pipeline": 8,
    "cli": 9,
    "build_hooks": 10,
}
# Pure data, the rules over it, and how classes are made, which any layer may use.
SHARED = {
    f"torchgen_lite.{name}" for name in ("key_sets", "key_tables", "runtime.table", "version")
}
STANDARD_LIBRARY_ONLY = {"diagnostics", "schema", "formulas", "runtime"}
# These run under any name: as `torchgen_lite_runtime`, and inside packages that carry them.
RELATIVE = {"copied", "diagnostics", "schema", "runtime", "key_sets", "key_tables"}
THIRD_PARTY = {"yaml", "jinja2", "black", "click", "tomli"}
# Where what an extra brings is imported.
OF_EXTRAS = {
    "watchfiles": "cli/watch.py",
}
# What the tool never imports, and what this imports of ours.
REFERENCE = ROOT / "reference" / "torchgen_lite_reference"
GENERATED = ROOT / "generated" / "python" / "torchgen_lite_ops"
OF_THE_REFERENCE_SET = {REFERENCE.name, GENERATED.name, "torchgen_lite_runtime"}
# What stands above the generator, and where it imports what others wrote.
TOOLS = ROOT / "tools" / "torchgen_lite_tools"
OF_TOOLS = {
    "auditwheel": {"auditing"},
    "elftools": {"auditing"},
    "lsprotocol": {"lsp"},
    "pygls": {"lsp"},
    "torch": {"backends", "importing"},
    "tree_sitter": {"importing"},
    "tree_sitter_cpp": {"importing"},
}

MODULES = sorted(PACKAGE.rglob("*.py"))
PATH_OF = {
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__"): path
    for path in MODULES
}


@cache
def import_statements(path: Path) -> list[ast.Import | ast.ImportFrom]:
    """Those of a file, in functions and for types too. Several rules look at them."""
    nodes = ast.walk(ast.parse(path.read_text()))
    return [node for node in nodes if isinstance(node, (ast.Import, ast.ImportFrom))]


def names_of(node: ast.AST, package: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """For each name that a statement imports what it may be: a module, or a name in one."""
    if isinstance(node, ast.Import):
        yield from ((alias.name,) for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        parts = (*package[: len(package) + 1 - node.level], node.module or "")
        module = ".".join(filter(None, parts)) if node.level else node.module or ""
        yield from ((f"{module}.{alias.name}", module) for alias in node.names)


def imports(path: Path) -> Iterator[tuple[str, ...]]:
    """The names that a file of the package imports."""
    package = path.relative_to(PACKAGE.parent).parts[:-1]
    for node in import_statements(path):
        yield from names_of(node, package)


def wrongly_relative(path: Path) -> Iterator[str]:
    """Imports of ours that are relative where they should not be, or the other way around."""
    package = path.relative_to(PACKAGE.parent).parts[:-1]
    is_relative = home_of(path) in RELATIVE
    for node in import_statements(path):
        if isinstance(node, ast.ImportFrom):
            [(_, module), *_] = names_of(node, package)
            is_ours = module.split(".")[0] == PACKAGE.name
            if bool(node.level) != (is_ours and is_relative):
                yield f"{path}: line {node.lineno}"


def layer_of(module: str) -> str | None:
    parts = module.split(".")
    return parts[1] if parts[0] == "torchgen_lite" and len(parts) > 1 else None


def home_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def may_use(path: Path, module: str) -> bool:
    """Whether a file may import a module for what it is: third parties, the reference set, the tools."""
    here, top = home_of(path), module.split(".")[0]
    if here == "copied":
        is_beside = module.startswith("torchgen_lite.copied.torch_python.")
        if not is_beside and top not in {"torch", *sys.stdlib_module_names}:
            return False
    if not path.relative_to(PACKAGE).as_posix().startswith(OF_EXTRAS.get(top, "")):
        return False
    if here in STANDARD_LIBRARY_ONLY and top in THIRD_PARTY:
        return False
    return top not in {"numpy", TOOLS.name, *OF_THE_REFERENCE_SET}


def goes_down(path: Path, module: str) -> bool:
    """Whether an import leads to a lower layer, or to what any layer may use."""
    here, there = home_of(path), layer_of(module)
    if there is None or there == here or module.startswith(tuple(SHARED)):
        return True
    if here in LAYERS and there in LAYERS:
        return LAYERS[there] < LAYERS[here]
    if here in LAYERS:
        return there != "runtime" or LAYERS[here] >= LAYERS["cli"]
    return here != "runtime" or (there, path.stem) == ("schema", "read_schema")


def test_imports_go_down() -> None:
    assert len(MODULES) > 300
    found = [(path, names[0]) for path in MODULES for names in imports(path)]
    assert [f"{path} imports {m}" for path, m in found if not may_use(path, m)] == []
    assert [f"{path} imports {m}" for path, m in found if not goes_down(path, m)] == []
    assert [place for path in MODULES for place in wrongly_relative(path)] == []


def files_among(found: Iterable[tuple[str, ...]], modules: dict[str, Path]) -> set[Path]:
    """The files that imported names come from, of those that are listed."""
    chosen = (next((name for name in names if name in modules), None) for names in found)
    return {modules[name] for name in chosen if name is not None}


def reachable(start: Path, graph: dict[Path, set[Path]]) -> set[Path]:
    seen: set[Path] = set()
    waiting = list(graph[start])
    while waiting:
        path = waiting.pop()
        if path not in seen:
            seen.add(path)
            waiting.extend(graph[path])
    return seen


def circular(graph: dict[Path, set[Path]]) -> list[str]:
    return [str(path) for path in graph if path in reachable(path, graph)]


def test_no_module_imports_itself_through_others() -> None:
    """At once or later, for types too."""
    assert circular({path: files_among(imports(path), PATH_OF) for path in MODULES}) == []


def run_time_imports(node: ast.AST, package: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """What a statement and those in it import when they run: in functions too, for types alone not."""
    if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING":
        return
    yield from names_of(node, package)
    for child in ast.iter_child_nodes(node):
        yield from run_time_imports(child, package)


def reference_graph() -> dict[Path, set[Path]]:
    """The reference set and the operators that are generated for it, each file with those that it imports."""
    packages = {
        path: path.relative_to(root.parent).parts[:-1]
        for root in (REFERENCE, GENERATED)
        for path in root.rglob("*.py")
    }
    modules = {
        ".".join((*package, path.stem)).removesuffix(".__init__"): path
        for path, package in packages.items()
    }
    return {
        path: files_among(run_time_imports(ast.parse(path.read_text()), package), modules)
        for path, package in packages.items()
    }


def test_the_reference_set_imports_in_one_direction() -> None:
    """Tensors stand on autograd, indexing and conversions; these know a tensor as a window on memory."""
    graph = reference_graph()
    assert circular(graph) == []
    assert reachable(REFERENCE / "tensor.py", graph) >= {
        REFERENCE / "autograd" / "engine.py",
        REFERENCE / "indexing.py",
        GENERATED / "operators_0.py",
    }


def foreign_to_the_reference_set(path: Path) -> Iterator[str]:
    """What a file imports beside NumPy and the runtime as a whole.

    `erf` uses scipy where it is installed; `typing_extensions` is imported for type checkers.
    """
    others = {"numpy", "scipy", "typing_extensions"}
    known = OF_THE_REFERENCE_SET | sys.stdlib_module_names | others
    for node in import_statements(path):
        for module in (names[-1] for names in names_of(node, ())):
            top = module.partition(".")[0]
            if top not in known or (top == "torchgen_lite_runtime" and top != module):
                yield f"{path} imports {module}"


def test_the_reference_set_needs_numpy_and_the_runtime_alone() -> None:
    paths = sorted(REFERENCE.rglob("*.py"))
    assert len(paths) > 50
    assert [fault for path in paths for fault in foreign_to_the_reference_set(path)] == []


def imports_by_file(root: Path) -> dict[Path, list[tuple[str, ...]]]:
    """What each file of a package imports, at once or later, for types too."""
    return {
        path: [
            names
            for node in import_statements(path)
            for names in names_of(node, path.relative_to(root.parent).parts[:-1])
        ]
        for path in root.rglob("*.py")
    }


def test_each_of_the_tools_stands_on_the_generator_alone() -> None:
    """Tools import the generator, and what they read with in one folder; there are no circles."""
    found = imports_by_file(TOOLS)
    for path, imported in found.items():
        folder = path.relative_to(TOOLS).parts[0]
        for names in imported:
            top = names[-1].partition(".")[0]
            if top not in {TOOLS.name, PACKAGE.name, "click", *sys.stdlib_module_names}:
                assert folder in OF_TOOLS[top], f"{path} imports {top}"
    modules = {
        ".".join(path.relative_to(TOOLS.parent).with_suffix("").parts): path for path in found
    }
    graph = {path: files_among(imported, modules) for path, imported in found.items()}
    assert sum(map(len, graph.values())) > 50 and circular(graph) == []


def test_layers_are_the_folders() -> None:
    folders = {p.name for p in PACKAGE.iterdir() if p.is_dir() and any(p.glob("*.py"))}
    assert folders - {"__pycache__"} <= set(LAYERS) | {"runtime", "copied"}


def test_the_runtime_imports_the_standard_library_alone() -> None:
    program = (
        "import sys; before = set(sys.modules); import torchgen_lite.runtime\n"
        "names = {name.split('.')[0] for name in set(sys.modules) - before}\n"
        "print(*sorted(names - set(sys.stdlib_module_names)))\n"
        "print(*sorted(n for n in sys.modules if n.startswith('torchgen_lite.')"
        " and not n.startswith('torchgen_lite.runtime') and n.count('.') > 1))"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == ["torchgen_lite", ""], "third parties, other layers"
