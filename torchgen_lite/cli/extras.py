"""What only some commands need, and how it gets beside an installation that lacks it."""

from __future__ import annotations

from pathlib import Path

from torchgen_lite.cli.session import Refused
from torchgen_lite.diagnostics import Diagnostic

TOOLS = "torchgen-lite-tools"


def lacks(message: str, wanted: str) -> Refused:
    """TG012: what is asked for needs an extra or another distribution; the help is the command that brings it."""
    return Refused(Diagnostic("TG012", message, help=install_command(wanted)))


def install_command(wanted: str) -> str:
    """How pip adds `torchgen-lite[EXTRA]` or TOOLS, whose folder is `tools`, to this installation: from the folder or the
    address that it came from (`direct_url.json`).
    """
    import json
    from importlib.metadata import PackageNotFoundError, distribution
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    try:
        record = json.loads(distribution("torchgen-lite").read_text("direct_url.json") or "{}")
    except PackageNotFoundError:
        # Run in a clone, which nobody installed.
        record = {"url": Path(__file__).parents[2].as_uri(), "dir_info": {"editable": True}}
    if wanted == TOOLS and "archive_info" in record:
        url = ""
    else:
        url = record.get("url", "")
    if "dir_info" in record:
        edited = "-e " if record["dir_info"].get("editable") else ""
        if wanted == TOOLS:
            within = "/tools"
        else:
            within = wanted.removeprefix("torchgen-lite")
        return f'pip install {edited}"{url2pathname(urlsplit(url).path)}{within}"'
    vcs = record.get("vcs_info", {})
    if vcs:
        url = f"{vcs['vcs']}+{url}@{vcs.get('requested_revision', vcs['commit_id'])}"
        url += "#subdirectory=tools" if wanted == TOOLS else ""
    if url:
        return f'pip install "{wanted} @ {url}"'
    return f'pip install "{wanted}"'
