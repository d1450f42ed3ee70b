"""No text of the YAML becomes code: each field gets text that would break out of strings, comments and lines."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hostile.text import HOSTILE, MARK, RESERVED, escaped, places
from torchgen_lite.analysis.program import Program, build_program
from torchgen_lite.diagnostics import Source
from torchgen_lite.loader.config.project import Config
from torchgen_lite.loader.entry.fields import FIELDS
from torchgen_lite.loader.entry.reader import Dialect
from torchgen_lite.loader.formats.native_functions import load_native_functions
from torchgen_lite.pipeline import generate_all
from torchgen_lite.targets import TARGETS

CONFIG = Config(
    Path("nowhere"),
    target_options={"cpp-runtime": {"tensor": "toy::Tensor"}, "torch-python": {"defines": True}},
)
# A formula is code, and a guard is a condition of the author's, which is parsed.
CODE = {"derivatives", "guard"}
ENTRY = "- func: lib::f(Tensor x, str s='a') -> Tensor\n"
SCHEMAS = (
    "{}(Tensor x) -> Tensor",
    "lib::{}(Tensor x) -> Tensor",
    "lib::f.{}(Tensor x) -> Tensor",
    "{}::f(Tensor x) -> Tensor",
    "lib::f(Tensor {}) -> Tensor",
    "lib::f(Tensor x, *, int {}=1) -> Tensor",
    "lib::f(Tensor x) -> Tensor {}",
    "lib::f(Tensor x) -> (Tensor {}, Tensor b)",
    "lib::f({} x) -> Tensor",
    "lib::f(Tensor({}!) x) -> Tensor({}!)",
    "lib::f(Tensor x, str s='{}') -> Tensor",
    'lib::f(Tensor x, str s="{}") -> Tensor',
    "lib::f(Tensor x, int n={}) -> Tensor",
    "lib::f(Tensor x, str[] s=['{}']) -> Tensor",
    "lib::f(Tensor x, Device d='{}') -> Tensor",
    "lib::f(Tensor x, int[{}] n) -> Tensor",
)


def values(name: str, text: str) -> Iterator[object]:
    """A text in every place where the field may have one, and in some that its JSON Schema lacks."""
    yield from places(FIELDS[name].shape.schema(Dialect(tags=())), text)
    if name == "samples" and text not in RESERVED:
        yield [f"(x, s={json.dumps(text)})"]
        yield {"calls": ["(ones(1))"], "reference": f"x.f({text!r})"}


def entries() -> Iterator[tuple[str, str]]:
    """The place of the text, and the file."""
    for text in (*HOSTILE, *RESERVED):
        for name, (_, _, shape, *_) in FIELDS.items():
            for value in values(name, text) if name != "func" and shape.read else ():
                yield name, f"{ENTRY}  {name}: {dumped(value)}\n"
        for schema in SCHEMAS:
            yield "func", f"- func: {dumped(schema.replace('{}', text))}\n  dispatch:\n    CPU: k\n"


def dumped(value: object) -> str:
    return json.dumps(value, ensure_ascii=False).encode(errors="replace").decode()


def read(text: str) -> Program:
    source = Source("ops.yaml", text)
    functions, found = load_native_functions([source])
    return build_program(functions, CONFIG, diagnostics=found, sources=[source])


def is_named(program: Program) -> bool:
    """Whether the mark has been read as a name, which it then is in generated code, too."""
    return any(
        MARK in (f.namespace, *f.func.local_name.split("."), *[r.name for r in f.func.returns])
        or any(MARK in (a.name, a.default) for a in f.func.arguments)
        for f in program.functions
    )


@pytest.mark.slow(
    "twenty thousand files of YAML, and what all targets make of those that are valid"
)
def test_no_text_of_the_yaml_becomes_code() -> None:
    accepted, wrong = 0, []
    for field, text in entries():
        program = read(text)
        if program.has_errors:
            continue
        for target in TARGETS:
            generated = generate_all(program, targets=[target])
            accepted += bool(generated.files)
            try:
                for what in escaped(generated.files):
                    if field not in CODE and not is_named(program):
                        wrong.append(f"{text!r}: {what}")
            except (SyntaxError, AssertionError) as error:
                wrong.append(f"{text!r}: {target}: {error}")
    print(chr(10).join(w[:300] for w in wrong), len(wrong), accepted)
    assert wrong == []
    assert accepted > 1000
