"""`schema_hashes.cmake`: a build that has no generator notices that a schema file is another than the code is from.

file(READ "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../../ops.yaml" text)
string(SHA256 found "${text}")
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from hashlib import sha256

from torchgen_lite.analysis.program import Program
from torchgen_lite.targets.cpp.layout import Layout
from torchgen_lite.targets.cpp.options import ModuleOptions
from torchgen_lite.targets.output import OutputFile


def schema_hashes(program: Program, layout: Layout, options: ModuleOptions) -> Iterator[OutputFile]:
    """The file, if it is asked for. Schema files outside of the project are left out: they are not where a build is."""
    if not options.schema_hashes:
        return
    config = program.config
    folder = os.path.join(config.output_dir, layout.root)
    files = {}
    for source in program.sources:
        path = os.path.normpath(source.path)
        is_inside = not os.path.isabs(path) and not path.startswith(os.pardir)
        if is_inside and not os.path.isabs(config.output_dir):
            # Git may check files out with other ends of lines.
            text = source.text.replace("\r\n", "\n")
            place = os.path.relpath(path, folder).replace(os.sep, "/")
            # What CMake would take for the end of a text, an escape or a variable.
            place = re.sub(r'([\\"$])', r"\\\1", place)
            files[place] = sha256(text.encode()).hexdigest()
    yield OutputFile(
        f"{layout.root}/schema_hashes.cmake", "cpp/schema_hashes.cmake.j2", {"files": files}
    )
