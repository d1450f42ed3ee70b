"""What builds a library in C++, with the generated code: `CMakeLists.txt`, `setup.py` and `MANIFEST.in`.

Note [Certain or by hand]
A build file is changed only if its text says for certain that one target, or one extension, compiles all the files that
registered, and where its sources and folders go. For every other one there is the reason.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from torchgen_lite.diagnostics import Source
from torchgen_lite.loader.sources import read_source
from torchgen_lite.targets.cpp.registrations import REGISTER, file_of

_NAMES = ("CMakeLists.txt", "setup.py", "pyproject.toml", "MANIFEST.in")
# Those whose text is never changed.
_OTHERS = ("*.cmake", "Makefile", "meson.build", "BUILD", "BUILD.bazel", "xmake.lua")
_MADE = frozenset({"CppExtension", "CUDAExtension", "Extension"})
_CMAKE = re.compile(
    r"^([ \t]*)(\w+)[ \t]*\(((?:\"(?:\\.|[^\"\\])*\"|#[^\n]*|[^()\"#]|\([^()]*\))*)\)", re.M
)
_TARGETS = re.compile(
    r"(?i)add_library|add_executable|(?:pybind11|nanobind)_add_module|python3?_add_library"
)
_REPEATED = re.compile(r"(?i)foreach|while|function|macro")
_HERE = re.compile(r"\$\{(?:CMAKE_(?:CURRENT_)?|PROJECT_)SOURCE_DIR\}/")
_SETTING = re.compile(r"set|file|list|foreach", re.I)
_ADDING = frozenset({"GLOB", "APPEND", "INSERT", "PREPEND"})
_CHANGING = frozenset({"FILTER", "POP_BACK", "POP_FRONT", "REMOVE_AT", "REMOVE_ITEM", "TRANSFORM"})
_VARIABLE = re.compile(r"\$\{(\w+)\}")
# What is no text of its own in a word of CMake: what the file does not say, any folders, any part of a name.
_OPEN = re.compile(r"\$\{[^}]*\}|\$<[^>]*>|\*\*/|\*")
_MATCHED = {"**/": "(?:.*/)?", "*": "[^/]*"}


class _Uncertain(Exception):
    """Why a build file is left as it is."""


@dataclass(frozen=True, slots=True)
class Build:
    """The build files that change, each with its new text; what there is to do by hand, with the reason and the lines to
    add; the paths of all others."""

    changed: list[tuple[Source, str]]
    by_hand: list[str]
    untouched: list[str]


def with_generated_code(
    root: Path,
    registered: Collection[str],
    devices: Collection[str],
    written: Collection[str],
    generated: str = "generated/cpp-torch",
) -> Build:
    """The build files of a folder, so that they compile the generated code with the files that `registered`, whose
    operators have kernels for these devices besides CPU; its source distribution has the files `written`, too. `generated`
    is the folder of the target.
    """
    build = Build([], [], [])
    for source in _build_files(root):
        below = PurePosixPath(os.path.relpath(source.path, root)).parent
        files = [os.path.relpath(file, below) for file in registered]
        up = PurePosixPath(os.path.relpath(".", below))
        where = up / generated
        text = source.text
        try:
            if registered:
                text = _changed(source, files, up, where, devices)
            if registered and text.strip() and os.path.relpath(source.path, root) == "MANIFEST.in":
                listed = f"include {' '.join(written)}\nrecursive-include generated *\n"
                text = f"{text.rstrip()}\n{listed}"
        except _Uncertain as why:
            lines = _to_add(source, up, where, devices)
            build.by_hand.append("\n".join([f"{source.path}: {why}", *lines]))
        else:
            if text == source.text:
                build.untouched.append(source.path)
            else:
                build.changed.append((source, text))
    return build


def _to_add(
    source: Source, up: PurePosixPath, where: PurePosixPath, devices: Collection[str]
) -> Iterator[str]:
    """What a build file that is left needs, in its own words. The files of devices, whose kernels a build without them
    lacks, are apart."""
    files = sorted({file_of(key) for key in devices} - {REGISTER})
    name = PurePosixPath(source.path).name
    if name == "CMakeLists.txt":
        first, *rest = _lines("TARGET", up, where).splitlines()[1:]
        yield f"    {first}"
        if files:
            listed = "|".join(files)
            yield f'    list(FILTER TORCHGEN_LITE_SOURCES EXCLUDE REGEX "/({listed})")  # but where the device is'
        yield from (f"    {line}" for line in rest)
    elif name == "setup.py":
        every = f'glob.glob("{where}/src/*.cpp")'
        apart = [f'glob.glob("{where}/src/{file}*.cpp")' for file in files]
        if apart:
            every = " - ".join([f"set({pattern})" for pattern in (every, *apart)])
        yield f"    sources      += sorted({every})"
        yield from (
            f"    sources      += sorted({pattern})  # where the device is" for pattern in apart
        )
        yield f"    include_dirs += [{_absolute(up, where)}]"
    else:
        apart = [f", {file}*.cpp only where the device is" for file in files]
        yield f"    sources: {where}/src/*.cpp{''.join(apart)}"
        yield f"    folders of headers: {where}/include {up}"


def _build_files(root: Path) -> Iterator[Source]:
    for path in sorted(one for name in (*_NAMES, *_OTHERS) for one in root.rglob(name)):
        source, _ = read_source(path, Path.cwd())
        if source is not None:
            yield source


def _changed(
    source: Source,
    files: list[str],
    up: PurePosixPath,
    where: PurePosixPath,
    devices: Collection[str],
) -> str:
    name = PurePosixPath(source.path).name
    if name == "MANIFEST.in":
        return source.text
    if name == "pyproject.toml":
        if re.search(r"^\s*ext-modules\s*=", source.text, re.M):
            raise _Uncertain("`ext-modules` takes no patterns: add the generated files by name")
        return source.text
    if name not in _NAMES:
        if _mentions(source.text, files):
            raise _Uncertain("it names files that registered")
        return source.text
    if name == "setup.py" and any(file.startswith("..") for file in files):
        return source.text  # That of another library.
    change = _cmake if name == "CMakeLists.txt" else _setup
    text = change(source.text, files, up, where)
    if text != source.text and devices:
        listed = ", ".join(sorted(devices))
        raise _Uncertain(f"generated code for {listed} is compiled only where that is there")
    return text


def _setup(text: str, files: list[str], up: PurePosixPath, where: PurePosixPath) -> str:
    """A `setup.py` whose one extension has the generated sources and headers."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise _Uncertain("this is not Python") from None
    calls = {
        node: word
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and (word := ast.unparse(node.func).rpartition(".")[2]) in _MADE
    }
    several = (ast.For, ast.While, ast.ListComp, ast.GeneratorExp)
    repeated = {
        inner for node in ast.walk(tree) if isinstance(node, several) for inner in ast.walk(node)
    }
    computed = list[ast.Call]()
    having = list[tuple[ast.Call, ast.List]]()
    for call in calls:
        given = {keyword.arg: keyword.value for keyword in call.keywords}
        sources = given.get("sources", call.args[1] if len(call.args) > 1 else None)
        texts = _texts(sources)
        if texts is None or call in repeated:
            computed.append(call)
        elif isinstance(sources, ast.List) and set(files) & texts:
            having.append((call, sources))
    if computed:
        line = computed[0].lineno
        raise _Uncertain(f"line {line}: which sources this extension has is computed")
    if len(having) != 1 or not set(files) <= (_texts(having[0][1]) or set()):
        if not calls and not re.search(r"\bext_modules\b|Extension\b", text):
            return text
        if not calls:
            raise _Uncertain("what makes its extension is computed: it has to compile the sources")
        raise _Uncertain("no extension has all the files that registered: one has to")
    call, sources = having[0]
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    include = given.get("include_dirs")
    shown = _absolute(up, where)
    globbed = f'*sorted(glob.glob("{where}/src/*.cpp"))'
    inserted = [_behind_last(text, sources, globbed)]
    if include is None:
        last = [*call.args, *(keyword.value for keyword in call.keywords)][-1]
        at = _offset(text, last.end_lineno, last.end_col_offset)
        inserted.append((at, f", include_dirs=[{shown}]"))
    elif isinstance(include, ast.List):
        inserted.append(_behind_last(text, include, shown))
    else:
        raise _Uncertain(f"line {include.lineno}: `include_dirs` is computed")
    modules = [
        f"import {module}\n"
        for module in ("glob", "os")
        if not re.search(rf"^import {module}$", text, re.M)
    ]
    if modules:
        first = next(
            statement
            for statement in tree.body
            if isinstance(statement, (ast.Import, ast.ImportFrom))
            and "__future__" not in ast.unparse(statement)
        )
        inserted.append((_offset(text, first.lineno, 0), "".join(modules)))
    for at, more in sorted(inserted, reverse=True):
        text = text[:at] + more + text[at:]
    return text


def _absolute(up: PurePosixPath, where: PurePosixPath) -> str:
    """The folders of headers for a `setup.py`. PyTorch runs ninja in another folder, so they are absolute."""
    return ", ".join(f'os.path.abspath("{one}")' for one in (where / "include", up))


def _texts(node: ast.expr | None) -> set[str] | None:
    """The texts of a list of literals, as paths; None if something in it is computed."""
    parts = node.elts if isinstance(node, (ast.List, ast.Tuple)) else [node]
    texts = [one.value for one in parts if isinstance(one, ast.Constant)]
    paths = {os.path.normpath(one) for one in texts if isinstance(one, str)}
    if node is not None and len(texts) == len(parts):
        return paths
    return None


def _behind_last(text: str, node: ast.List, more: str) -> tuple[int, str]:
    if not node.elts:
        return _offset(text, node.lineno, node.col_offset) + 1, more
    last = node.elts[-1]
    return _offset(text, last.end_lineno, last.end_col_offset), f", {more}"


def _offset(text: str, line: int | None, column: int | None) -> int:
    """Where a place of `ast` is, which counts bytes."""
    before = text.splitlines(keepends=True)
    row = (line or 1) - 1
    return sum(map(len, before[:row])) + len(before[row].encode()[: column or 0].decode())


def _files_among(words: Sequence[str], files: Sequence[str]) -> set[str]:
    """The files that some of these words of a build file mean."""
    meant = set[str]()
    for pattern in map(_pattern, words):
        meant.update(filter(pattern.fullmatch, files))
    return meant


def _cmake(text: str, files: list[str], up: PurePosixPath, where: PurePosixPath) -> str:
    """A `CMakeLists.txt` whose one target has the generated sources and headers."""
    having = list[tuple[str, int]]()
    some = set[str]()
    is_computed = False
    open_ = 0
    for match, words in cmake_commands(text):
        command = match[2].lower()
        if command.startswith("end") and _REPEATED.fullmatch(command[3:]):
            open_ -= 1
        elif _REPEATED.fullmatch(command):
            open_ += 1
        if (_TARGETS.fullmatch(command) or command == "target_sources") and words:
            has = _files_among([word for word in words[1:] if "$" not in word], files)
            computed = [word for word in words[1:] if "$" in word]
            is_computed = is_computed or bool(_files_among(computed, files))
            target = (match[3].split() or [""])[0]
            some |= has
            if has == set(files) and not open_:
                having.append((target, match.end()))
            elif has and (open_ or command == "target_sources"):
                raise _Uncertain(f"the sources of `{target}` are put together from several places")
    if len(having) == 1:
        target, at = having[0]
        line, _, rest = text[at:].partition("\n")
        return f"{text[:at]}{line}\n{_lines(target, up, where)}{rest}"
    if having:
        raise _Uncertain("several targets have the files that registered")
    if some:
        raise _Uncertain("no target has all the files that registered: one has to")
    if is_computed or _mentions(text, files):
        raise _Uncertain("which target has the files that registered is computed")
    return text


def _mentions(text: str, files: Iterable[str]) -> bool:
    names = (re.escape(PurePosixPath(one).name) for one in files)
    return any(re.search(rf"(?<![\w.]){name}\b", text) for name in names)


def cmake_commands(text: str) -> Iterator[tuple[re.Match[str], list[str]]]:
    """The commands of a `CMakeLists.txt`, each with its words, in which variables have the values that they may have."""
    known = dict[str, list[str]]()
    for match in _CMAKE.finditer(text):
        words = _words(match[3], known)
        if _SETTING.fullmatch(match[2]):
            _set(match[2].lower(), words, known)
        yield match, words


def _lines(target: str, up: PurePosixPath, where: PurePosixPath) -> str:
    return f"""\
# What torchgen-lite generates from ops.yaml.
file(GLOB TORCHGEN_LITE_SOURCES CONFIGURE_DEPENDS {where}/src/*.cpp)
target_sources({target} PRIVATE ${{TORCHGEN_LITE_SOURCES}})
target_include_directories({target} PRIVATE {where}/include {up})
"""


def _words(text: str, known: dict[str, list[str]]) -> list[str]:
    """The arguments of a command, with the values of variables in their place."""
    words = re.findall(r'"(?:\\.|[^"\\])*"|[^\s"]+', re.sub(r"#[^\n]*", "", text))
    values = list[str]()
    for word in (_HERE.sub("", word.strip('"')) for word in words):
        variable = _VARIABLE.fullmatch(word)
        if variable:
            values += known.get(variable[1], [word])
        else:
            values.append(_VARIABLE.sub(lambda part: _value(part, known), word))
    return values


def _value(variable: re.Match[str], known: dict[str, list[str]]) -> str:
    """What stands for a variable within a word: its value, if it has but one."""
    values = known.get(variable[1], [])
    return values[0] if len(values) == 1 else variable[0]


def _set(command: str, words: list[str], known: dict[str, list[str]]) -> None:
    """Notes what may be in a variable behind a command."""
    if command in ("set", "foreach"):
        name, given = words[0] if words else "", words[1:]
    elif len(words) < 2:
        return
    else:
        name, given = words[1], words[2:]
        if words[0] == "GLOB_RECURSE":
            given = [
                os.path.join(os.path.dirname(pattern), "**", os.path.basename(pattern))
                for pattern in given
            ]
        elif words[0] in _CHANGING:
            # What is left is not known.
            known[name] = []
            given = [f"${{{name}}}"]
        elif words[0] not in _ADDING:
            return
    known[name] = [*known.get(name, []), *given]


def _pattern(word: str) -> re.Pattern[str]:
    """The paths that a word of CMake names, which may be a pattern. What the file does not say may be any text."""
    plain = os.path.normpath(word)
    pattern = ""
    at = 0
    for match in _OPEN.finditer(plain):
        pattern += re.escape(plain[at : match.start()]) + _MATCHED.get(match[0], ".*")
        at = match.end()
    return re.compile(pattern + re.escape(plain[at:]))
