"""The native_functions.yaml of a PyTorch release: installed, in a wheel or checkout, or by path."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from torchgen_lite.diagnostics import Diagnostic, Diagnostics, Source
from torchgen_lite.loader.entry.entry import NativeFunction
from torchgen_lite.loader.entry.native_entry import load_entry
from torchgen_lite.loader.entry.reader import EntryReader
from torchgen_lite.loader.sources import MAX_BYTES, decode_source, read_source, shown_path
from torchgen_lite.loader.torch.files import find_torch_files
from torchgen_lite.loader.versions import Version, parse_version
from torchgen_lite.loader.yaml.nodes import ListNode, read_yaml

INSTALLED = "torch"
"""The name of the installed PyTorch."""

_PACKAGED = "torchgen/packaged/ATen/native/native_functions.yaml"
# Its path in a folder of packages, and in a checkout of PyTorch.
_FORMULAS = "torchgen/packaged/autograd/derivatives.yaml"
_AUTOCAST = "torch/include/ATen/autocast_mode.h"
READ_FROM_WHEELS = (_PACKAGED, _FORMULAS, _AUTOCAST)
"""The files of a wheel that are read."""

_PLACES = (_PACKAGED, "aten/src/ATen/native/native_functions.yaml")
_VERSION = re.compile(r"(?:torch:)?(\d+(?:\.\d+)+)")
# What reading a damaged wheel raises, besides the errors of its compression.
_UNREADABLE = (KeyError, OSError, RuntimeError, ValueError)
# Where derivatives.yaml is, from the folder of the other file: among packages, in a checkout, beside it.
_FROM_THERE = ("../../autograd", "../../../../tools/autograd", ".")


class ReleaseSource(NamedTuple):
    """The file and its version, if known, and PyTorch's derivatives.yaml, if it is there; or why there is no file.
    `autocast` is the text of the header with the lists of autocast rules, if it comes from a wheel.
    """

    source: Source | None = None
    version: Version = ()
    diagnostics: Diagnostics = ()
    formulas: Source | None = None
    autocast: str = ""


def read_release(name: str, root: Path) -> ReleaseSource:
    """The file that `name` stands for.

    `name` is `torch`, `2.9` or `torch:2.9`, or the path of a wheel, a folder or the file itself.
    A version is looked for in the installed PyTorch, then among the wheels in the current folder
    and in `root`. Paths are relative to `root`.
    """
    wanted = _VERSION.fullmatch(name)
    if name != INSTALLED and wanted is None:
        path = root / name
        if path.suffix == ".whl":
            return _read_wheel(path)
        # Not `Path.is_file`, which raises for names that no disk takes.
        inside = next(filter(os.path.isfile, map(path.joinpath, _PLACES)), path)
        return _read_file(inside, root)
    version = parse_version(wanted[1]) if wanted else ()
    files, problems = find_torch_files()
    if files is not None and parse_version(files.version)[: len(version)] == version:
        native = files.native_functions
        return _read_file(native, native.parent, parse_version(files.version))
    if wanted is None:
        help_ = (
            "install PyTorch in this environment, or name a wheel or a path: `native`, `--native`"
        )
        return ReleaseSource(diagnostics=tuple(replace(d, help=help_) for d in problems))
    wheel = _find_wheel(wanted[1], (Path.cwd(), root))
    if wheel is not None:
        return _read_wheel(wheel)
    help_ = f"`pip download --no-deps torch=={wanted[1]}` downloads one, and `upgrade --fetch` what is read of it"
    return ReleaseSource(
        diagnostics=(
            Diagnostic(
                "TG011",
                f"PyTorch {wanted[1]} is not installed, and there is no wheel of it in this folder",
                help=help_,
            ),
        )
    )


def _read_file(native: Path, root: Path, version: Version = ()) -> ReleaseSource:
    """The file, and PyTorch's derivatives.yaml if it is where that file says."""
    source, problems = read_source(native, root)
    places = (native.parent / folder / "derivatives.yaml" for folder in _FROM_THERE)
    path = next((place.resolve() for place in places if os.path.isfile(place)), None)
    formulas = None if path is None else read_source(path, path.parent)[0]
    return ReleaseSource(source, version, problems, formulas)


def _find_wheel(version: str, folders: tuple[Path, ...]) -> Path | None:
    """The newest wheel of a version."""
    wheels = []
    for folder in folders:
        for wheel in folder.glob("torch-*.whl"):
            number = wheel.name.split("-")[1]
            if f"{number.partition('+')[0]}.".startswith(f"{version}."):
                wheels.append((parse_version(number), wheel))
    return max(wheels)[1] if wheels else None


def _read_wheel(path: Path) -> ReleaseSource:
    # Imported here: most runs read no wheel.
    import zipfile
    import zlib
    from lzma import LZMAError

    shown = f"{shown_path(path, Path.cwd())}/native_functions.yaml"
    try:
        if os.path.exists(path) and not os.path.isfile(path):
            raise OSError("not a regular file")
        with zipfile.ZipFile(path) as wheel, wheel.open(_PACKAGED) as stream:
            data = stream.read(MAX_BYTES + 1)
            there = [name for name in (_FORMULAS, _AUTOCAST) if name in wheel.namelist()]
            more = {name: wheel.open(name).read(MAX_BYTES + 1) for name in there}
    except (zipfile.BadZipFile, zlib.error, LZMAError, EOFError, *_UNREADABLE) as error:
        return ReleaseSource(
            diagnostics=(
                Diagnostic(
                    "TG006", f"cannot read `{shown}`: {str(error).strip(chr(39) + chr(34))}"
                ),
            )
        )
    if len(data) > MAX_BYTES:
        return ReleaseSource(
            diagnostics=(
                Diagnostic("TG110", f"`{shown}` has more than the {MAX_BYTES} bytes allowed"),
            )
        )
    formulas = more.get(_FORMULAS, b"")
    autocast = more.get(_AUTOCAST, b"")
    source, problems = decode_source(data, shown)
    version = parse_version(path.name.partition("-")[2])
    is_fit = 0 < len(formulas) <= MAX_BYTES
    of_file = decode_source(formulas, "derivatives.yaml")[0] if is_fit else None
    rules = autocast.decode(errors="replace")
    return ReleaseSource(source, version, problems, of_file, rules)


def load_related(source: Source, names: Collection[str]) -> Iterator[NativeFunction]:
    """The variants and overloads of `names` in PyTorch's file: `add_.Tensor` for `add.out`.

    Only these entries are read, and nothing is reported about them: mistakes there are PyTorch's.
    """
    roots = {_root(name) for name in names}
    node, _ = read_yaml(source)
    if not isinstance(node, ListNode):
        return
    for item in node.items:
        reader = EntryReader(source, [], node=item)
        if _root((reader.text("func") or "").partition("(")[0].strip()) in roots:
            function = load_entry(reader, item)
            if function is not None:
                yield function


def _root(name: str) -> str:
    """What the variants and overloads of an operator have in common."""
    base = name.partition(".")[0]
    return base if base.startswith("__") else base.rstrip("_")
