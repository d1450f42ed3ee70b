"""What only some commands need, and how it gets beside an installation that lacks it."""

from __future__ import annotations

from pathlib import Path

from torchgen_lite.cli.session import Refused
from torchgen_lite.diagnostics import Diagnostic


def lacks(message: str, extra: str) -> Refused:
    """TG012: what is asked for needs an extra; the help is the command that brings it."""
    return Refused(Diagnostic("TG012", message, help=install_command(extra)))


def install_command(extra: str) -> str:
    """How pip adds an extra to this installation: from the folder or the address that it came from (`direct_url.json`)."""
    import json
    from importlib.metadata import PackageNotFoundError, distribution
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    try:
        record = json.loads(distribution("torchgen-lite").read_text("direct_url.json") or "{}")
    except PackageNotFoundError:
        # Run in a clone, which nobody installed.
        record = {"url": Path(__file__).parents[2].as_uri(), "dir_info": {"editable": True}}
    name, url = f"torchgen-lite[{extra}]", record.get("url", "")
    if "dir_info" in record:
        edited = "-e " if record["dir_info"].get("editable") else ""
        return f'pip install {edited}"{url2pathname(urlsplit(url).path)}[{extra}]"'
    vcs = record.get("vcs_info", {})
    if vcs:
        url = f"{vcs['vcs']}+{url}@{vcs.get('requested_revision', vcs['commit_id'])}"
    return f'pip install "{name} @ {url}"' if url else f'pip install "{name}"'
