"""`schema_hashes.cmake`: a build that has no generator notices that a schema file is another than the code is from.

file(READ "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../../ops.yaml" text)
string(SHA256 found "${text}")
"""

from __future__ import annotations

import os
import re
from hashlib import sha256

from torchgen_lite.analysis.program import Program
from torchgen_lite.diagnostics import Source
from torchgen_lite.targets.cpp.layout import Layout
from torchgen_lite.targets.cpp.options import ModuleOptions
from torchgen_lite.targets.output import Files, OutputFile


def schema_hashes(program: Program, layout: Layout, options: ModuleOptions) -> Files:
    """The file, if it is asked for and every schema file has a place relative to it.

    Otherwise there is none: a build that includes it stops, where it would pass without a comparison.
    """
    output = program.config.output_dir
    paths = [output, *[source.path for source in program.sources]]
    if not options.schema_hashes or any(map(os.path.isabs, paths)):
        return
    folder = os.path.join(output, layout.root)
    hashes = {_place(source.path, folder): _hash(source) for source in program.sources}
    yield OutputFile(
        f"{layout.root}/schema_hashes.cmake", "cpp/schema_hashes.cmake.j2", {"files": hashes}
    )


def _place(path: str, folder: str) -> str:
    """A path as CMake reads it in quotes, where a quote, an escape and a variable have another meaning."""
    place = os.path.relpath(path, folder).replace(os.sep, "/")
    return re.sub(r'([\\"$])', r"\\\1", place)


def _hash(source: Source) -> str:
    """The SHA-256, whatever the ends of lines that Git checks files out with."""
    return sha256(source.text.replace("\r\n", "\n").encode()).hexdigest()
