"""What a user may set in `[tool.torchgen_lite.target.docs]`."""

from __future__ import annotations

from dataclasses import dataclass

from torchgen_lite.loader.config.options import TEXT, choice, matching, one_or_more, option
from torchgen_lite.targets.options import folder_option

TARGET = "docs"


@dataclass(frozen=True, slots=True, kw_only=True)
class DocsOptions:
    """Options of the target."""

    format: tuple[str, ...] = option(
        "`markdown` for MkDocs or Sphinx, `html` for a standalone site; with both, each is in a "
        "folder of its name.",
        one_or_more(choice("markdown", "html")),
        ("markdown",),
    )
    folder: str = folder_option(TARGET, others=(".",))
    title: str = option("The title of the index.", TEXT, "Operators")
    tables: str = option(
        "The target whose dispatch tables are shown, with what is loaded with it.",
        TEXT,
        "",
        shown="the package of the targets that register kernels, else what PyTorch registers",
    )
    sources: str = option(
        "The address where files of the project can be read; paths are appended: "
        "`https://github.com/me/lib/blob/main/`.",
        matching(r"https?://[\w.:@-]+/(?:[\w.~%/-]*/)?", "is not the address of a folder"),
        "",
        shown="file names are not links",
    )
