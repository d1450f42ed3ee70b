"""What generated text registers, read from the text: the oracle for `registrations()`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

_BLOCK = re.compile(r"LIBRARY_IMPL\((\w+), (\w+), m\) \{\n(.*?)^\}", re.DOTALL | re.MULTILINE)
_IMPL = re.compile(r'\bm\.impl\(\s*"([^"]+)"')
_LIBRARY = re.compile(r'^(\w+) = Library\(\s*"([^"]+)",\s*"IMPL",\s*"(\w+)"', re.MULTILINE)
_OPERATOR = re.compile(
    r'_library\.Operator\(\s*_places\.\w+,\s*"([^"]+)",(.*?)^    \),$', re.DOTALL | re.MULTILINE
)
# A rule has a line of its own; a default in a lambda may look like one.
_RULE = re.compile(r'^ {12}"(\w+)": ', re.MULTILINE)
_ARGUMENTS = re.compile(r'"[\w.]+\((.*)\) -> ')
# A tensor argument, and what follows the type of its items: `?`, `[]`, `[]?`.
_TENSOR = re.compile(r"\bTensor(?:\([^()]*\))?!?([?\[\]\d]*)")
# What the modules of `copied/torch_python` do with the rules that are not called after a dispatch key.
_RULES = {
    "fake": ["Meta"],
    "view": ["Functionalize", "Autograd", "FuncTorchBatched"],
    "functionalize": ["Functionalize"],
    "setup_context": [],
    "refuse": [],
    "original": [],
    "undefined": [],
    "forward": [],
    "no_forward": [],
    "underived": [],
    "given": [],
    "keep_results": [],
    "fill": [],
    "special": [],
    "transposed": [],
    "tried": [],
    "backward": ["Autograd"],
    "vmap": ["FuncTorchBatched"],
    "loop": ["FuncTorchBatched"],
    "autocast": [f"Autocast{device}" for device in ("CPU", "CUDA", "XPU", "MPS", "PrivateUse1")],
}


def registered(target: str, files: Mapping[str, str]) -> set[tuple[str, str]]:
    """The operators, `mylib::add.out`, and keys."""
    return set(found_in(target, files))


def found_in(target: str, files: Mapping[str, str]) -> list[tuple[str, str]]:
    """The same, with repeated items."""
    read = {"python": _python, "torch-python": _torch_python}.get(target, _cpp)
    # Headers show examples in comments.
    texts = [text for path, text in files.items() if path.endswith((".py", ".cpp"))]
    return [found for text in texts for found in read(text)]


def _cpp(text: str) -> Iterator[tuple[str, str]]:
    for namespace, key, body in _BLOCK.findall(text):
        for name in _IMPL.findall(body):
            yield f"{namespace}::{name}", key


def _python(text: str) -> Iterator[tuple[str, str]]:
    for variable, namespace, key in _LIBRARY.findall(text):
        for name in re.findall(
            rf'^{variable}\.(?:impl|impl_from)\(\s*(?:\w+,\s*)?"([^"]+)"', text, re.MULTILINE
        ):
            yield f"{namespace}::{name}", key
        table = rf"^{variable}\.impl_deferred\(\n    \w+,\n    {{\n(.*?)^    }},$"
        for names in re.findall(table, text, re.DOTALL | re.MULTILINE):
            for name in re.findall(r'^        "([^"]+)":', names, re.MULTILINE):
                yield f"{namespace}::{name}", key


def _torch_python(text: str) -> Iterator[tuple[str, str]]:
    for name, rest in _OPERATOR.findall(text):
        rules = _RULE.findall(rest)
        for rule in rules:
            for key in _RULES.get(rule, [rule]):
                # What builds on kernels leaves those alone that are there.
                if key == rule or key not in rules:
                    yield name, key
        if "is_torchs=True" not in rest:
            yield from ((name, key) for key in _tracking(rest, rules) if key not in rules)


def _tracking(rest: str, rules: Sequence[str]) -> Iterator[str]:
    """The keys of what refuses derivatives, and of what raises the versions of written tensors."""
    found = _ARGUMENTS.search(rest)
    arguments = found[1] if found is not None else ""
    # A list of tensors that may be left out gives calls no key.
    carries_keys = any(not suffix.endswith("]?") for suffix in _TENSOR.findall(arguments))
    if "underived" in rules:
        yield "Autograd" if carries_keys else "ADInplaceOrView"
    kernels = {rule for rule in rules if rule not in _RULES}
    is_tracked = "!" in arguments and kernels != {"CompositeImplicitAutograd"}
    if is_tracked and (carries_keys or "underived" not in rules):
        yield "ADInplaceOrView"
