"""Writes `torchgen_lite/key_tables.h` from the key tables: `python -m tests.cpp_runtime.write_key_tables`.

The C++ runtime has its keys from `torchgen_lite/key_tables.py`, as the Python one does. The header is
checked in, because who uses it has no Python; a test renders it anew and compares.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from torchgen_lite.emit.header import MARKER
from torchgen_lite.key_tables import CURRENT, KeyTable, dispatch_keys, end_markers

HEADER = Path(__file__).parents[2] / "torchgen_lite/cpp/include/torchgen_lite/key_tables.h"

_HEAD = f"""\
// {MARKER}torchgen_lite/key_tables.py. Do not edit.
// Regenerate: python -m tests.cpp_runtime.write_key_tables
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace torchgen_lite {{
"""


def enumeration(name: str, base: str, members: Iterable[tuple[str, int | str]]) -> str:
    lines = "".join(f"  {member} = {value},\n" for member, value in members)
    return f"enum class {name} : {base} {{\n{lines}}};\n"


def array(comment: str, type_: str, name: str, items: Iterable[str]) -> str:
    rows = list(items)
    lines = "".join(f"    {row},\n" for row in rows)
    # Two pairs of braces: the array and what it holds.
    return f"// {comment}\ninline constexpr std::array<{type_}, {len(rows)}> {name} = {{{{\n{lines}}}}};\n"


def table_of_numbers(comment: str, type_: str, name: str, items: Iterable[str]) -> str:
    """An array that clang-format would set in columns."""
    text = array(comment, type_, name, items)
    return f"// clang-format off\n{text}// clang-format on\n"


def offsets_and_masks(table: KeyTable) -> list[tuple[int, int]]:
    """For each functionality its first slot, and the backend bits that choose among its slots."""
    blocks = dict(table.per_backend)
    rows, slot = [], 0
    for functionality in table.functionalities:
        count = len(table.backends) if functionality in blocks else 1
        rows.append((slot, (1 << count) - 1 if count > 1 else 0))
        slot += count
    return rows


def render(table: KeyTable = CURRENT) -> str:
    values = dispatch_keys(table)
    first_block = len(table.functionalities) + 1
    backends = [("InvalidBit", 0), *((f"{name}Bit", i) for i, name in enumerate(table.backends, 1))]
    keys = "DispatchKey::{}".format
    slots = sum(max(mask.bit_length(), 1) for _, mask in offsets_and_masks(table))
    parts = [
        _HEAD,
        f"// Dispatch keys of PyTorch {table.release}; the numbers move between releases.\n"
        + enumeration("BackendComponent", "std::uint8_t", backends),
        "// Functionalities, then a block of runtime keys for each per-backend one, then\n"
        "// alias keys. The end markers and the former names come last.\n"
        + enumeration(
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
        array("By value.", "std::string_view", "names", (f'"{name}"' for name in values)),
        array(
            "By value.",
            "std::string_view",
            "backend_names",
            (f'"{name}"' for name, _ in backends),
        ),
        array(
            "Functionalities with an instance for each backend, in the order of blocks.",
            "DispatchKey",
            "per_backend",
            (keys(name) for name, _ in table.per_backend),
        ),
        table_of_numbers(
            "For each functionality its first slot, and the backend bits that choose.",
            "OffsetAndMask",
            "offsets_and_masks",
            (f"{{{offset}, {mask}}}" for offset, mask in offsets_and_masks(table)),
        ),
        array(
            "Autograd keys that do not lead back to their backend (c10's switch).",
            "DispatchKey",
            "autograd_without_backend",
            (keys(f"Autograd{name}") for name in table.autograd_without_backend),
        ),
        array(
            "Names of earlier releases.",
            "FormerName",
            "former_names",
            (f'FormerName{{"{former}", {keys(now)}}}' for former, now in table.former_names),
        ),
        "} // namespace key_tables\n",
        "} // namespace torchgen_lite\n",
    ]
    return "\n".join(parts)


if __name__ == "__main__":
    HEADER.write_text(render())
