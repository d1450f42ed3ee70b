"""Writes the files derived from `key_tables.py`: `python runtime/write_key_tables.py`.

`cpp/include/torchgen_lite/key_tables.h` gives the C++ runtime its keys; it is checked in because
users of the runtime need no Python. `runtime/_key_names.pyi` tells type checkers the members of the
Python enumerations.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from torchgen_lite.emit.header import MARKER
from torchgen_lite.key_tables import CURRENT, KeyTable, dispatch_keys
from torchgen_lite.runtime.keys import BackendComponent, DispatchKey, end_markers
from torchgen_lite.runtime.keyset import slot_offsets

_COMMAND = "python runtime/write_key_tables.py"
_HEAD = f"""\
// {MARKER}torchgen_lite/key_tables.py. Do not edit.
// Regenerate: {_COMMAND}
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace torchgen_lite {{
"""


def render_files() -> dict[Path, str]:
    """The text of each file."""
    package = Path(__file__).parents[1] / "torchgen_lite"
    return {
        package / "cpp" / "include" / "torchgen_lite" / "key_tables.h": render_header(CURRENT),
        package / "runtime" / "_key_names.pyi": render_names(),
    }


def render_names() -> str:
    """`_key_names.pyi`: the members that `runtime/keys.py` makes."""
    lines = [
        '"""The members of the key enumerations, for type checkers.',
        "",
        f"Regenerate: {_COMMAND}",
        '"""',
        "",
        "from enum import IntEnum",
    ]
    for enumeration in (BackendComponent, DispatchKey):
        lines += ["", f"class {enumeration.__name__}(IntEnum):"]
        lines += [f"    {name} = {int(key)}" for name, key in enumeration.__members__.items()]
    return "\n".join([*lines, ""])


def render_header(table: KeyTable) -> str:
    """`key_tables.h`."""
    values = dispatch_keys(table)
    first_block = len(table.functionalities) + 1
    backends = [("InvalidBit", 0), *((f"{name}Bit", i) for i, name in enumerate(table.backends, 1))]
    keys = "DispatchKey::{}".format
    slots = sum(max(mask.bit_length(), 1) for _, mask in slot_offsets(table))
    parts = [
        _HEAD,
        f"// Dispatch keys of PyTorch {table.release}; the numbers move between releases.\n"
        + _enumeration("BackendComponent", "std::uint8_t", backends),
        "// Functionalities, then a block of runtime keys for each per-backend one, then\n"
        "// alias keys. The end markers and the former names come last.\n"
        + _enumeration(
            "DispatchKey",
            "std::uint16_t",
            [*values.items(), *end_markers(table).items(), *table.former_names],
        ),
        f"inline constexpr int num_backends = {len(table.backends)};\n"
        "// Undefined included.\n"
        f"inline constexpr int num_functionality_keys = {len(table.functionalities)};\n"
        f"inline constexpr int num_runtime_entries = {slots};\n",
        "namespace key_tables {\n",
        "struct OffsetAndMask {\n  std::uint32_t offset;\n  std::uint32_t mask;\n};\n",
        "struct FormerName {\n  std::string_view name;\n  DispatchKey key;\n};\n",
        "// The marker before the first block of runtime keys.\n"
        f"inline constexpr int first_block = {first_block};\n"
        f"inline constexpr DispatchKey first_alias = {keys(table.aliases[0])};\n",
        _array("By value.", "std::string_view", "names", (f'"{name}"' for name in values)),
        _array(
            "By value.",
            "std::string_view",
            "backend_names",
            (f'"{name}"' for name, _ in backends),
        ),
        _array(
            "Functionalities with an instance for each backend, in the order of blocks.",
            "DispatchKey",
            "per_backend",
            (keys(name) for name, _ in table.per_backend),
        ),
        _table_of_numbers(
            "For each functionality its first slot, and the backend bits that choose.",
            "OffsetAndMask",
            "offsets_and_masks",
            (f"{{{offset}, {mask}}}" for offset, mask in slot_offsets(table)),
        ),
        _array(
            "Autograd keys that do not lead back to their backend (c10's switch).",
            "DispatchKey",
            "autograd_without_backend",
            (keys(f"Autograd{name}") for name in table.autograd_without_backend),
        ),
        _array(
            "Names of earlier releases.",
            "FormerName",
            "former_names",
            (f'FormerName{{"{former}", {keys(now)}}}' for former, now in table.former_names),
        ),
        "} // namespace key_tables\n",
        "} // namespace torchgen_lite\n",
    ]
    return "\n".join(parts)


def _enumeration(name: str, base: str, members: Iterable[tuple[str, int | str]]) -> str:
    lines = "".join(f"  {member} = {value},\n" for member, value in members)
    return f"enum class {name} : {base} {{\n{lines}}};\n"


def _array(comment: str, type_: str, name: str, items: Iterable[str]) -> str:
    rows = list(items)
    lines = "".join(f"    {row},\n" for row in rows)
    # Two pairs of braces: the array and what it holds.
    return f"// {comment}\ninline constexpr std::array<{type_}, {len(rows)}> {name} = {{{{\n{lines}}}}};\n"


def _table_of_numbers(comment: str, type_: str, name: str, items: Iterable[str]) -> str:
    """An array that clang-format would set in columns."""
    text = _array(comment, type_, name, items)
    return f"// clang-format off\n{text}// clang-format on\n"


if __name__ == "__main__":
    for path, text in render_files().items():
        path.write_text(text)
