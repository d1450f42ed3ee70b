"""What a user may set in `[tool.torchgen_lite.target.docs]`."""

from __future__ import annotations

from dataclasses import dataclass

from torchgen_lite.loader.config.options import TEXT, choice, described, matching, one_or_more
from torchgen_lite.targets.options import folder_option

TARGET = "docs"


@dataclass(frozen=True, slots=True, kw_only=True)
class DocsOptions:
    """Options of the target."""

    format: tuple[str, ...] = described(one_or_more(choice("markdown", "html")), ("markdown",))
    folder: str = folder_option(TARGET, others=(".",))
    title: str = described(TEXT, "Operators")
    tables: str = described(
        TEXT,
        "",
        shown="the package of the targets that register kernels, else what PyTorch registers",
    )
    sources: str = described(
        matching(r"https?://[\w.:@-]+/(?:[\w.~%/-]*/)?", "is not the address of a folder"),
        "",
        shown="file names are not links",
    )
