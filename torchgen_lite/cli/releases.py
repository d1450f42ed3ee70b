"""`check --for-torch 2.9,2.13`: what a project has for each of several releases of PyTorch."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from torchgen_lite.cli.pages import Section, section_text
from torchgen_lite.cli.session import Session
from torchgen_lite.diagnostics import Diagnostic, errors_among, render_concise, sort_diagnostics
from torchgen_lite.diagnostics.text import counted
from torchgen_lite.loader.torch.releases import INSTALLED
from torchgen_lite.pipeline import generate_all
from torchgen_lite.schema.grouped import names_of


def check_releases(session: Session, schema: Sequence[str], targets: Sequence[str]) -> int:
    """Show the entries that each release has, of those that not every release has, and report mistakes. A mistake in
    some releases alone says which; files on the disk are not compared."""
    releases = session.releases
    program = session.load(schema)
    native = program.config.native
    given = []
    # The operators of PyTorch are those of each release, unless `native` is a file.
    is_theirs = native or any(entry.namespace == "aten" for entry in program.entries)
    if is_theirs and (native in ("", INSTALLED) or native.removeprefix("torch:")[:1].isdigit()):
        given = ["native"]
    mistakes: dict[str, tuple[Diagnostic, list[str]]] = {}
    sections = []
    data = {}
    for release in releases:
        texts = [f"{key} = {json.dumps(release)}" for key in ("for-torch", *given)]
        program = replace(session, config=(*session.config, *texts)).load(schema)
        wrong = generate_all(program, targets=targets).diagnostics
        for diagnostic in wrong:
            mistakes.setdefault(render_concise([diagnostic]), (diagnostic, []))[1].append(release)
        rows = [(f.name, f.torch, "") for f in program.functions if f.torch]
        rows += [(f.name, f.torch or "", "not there") for f in program.elsewhere]
        errors = len(errors_among(wrong))
        count = counted(len(program.functions), "operator")
        count += f", {counted(errors, 'error')}" if errors else ""
        heads = ("operator", "releases", "status")
        sections.append(Section(f"PyTorch {release}: {count}", sorted(rows), heads))
        data[release] = names_of(program.functions)
    shown = []
    for diagnostic, among in mistakes.values():
        if len(among) < len(releases):
            diagnostic = replace(
                diagnostic, message=f"with PyTorch {', '.join(among)}: {diagnostic.message}"
            )
        shown.append(diagnostic)
    diagnostics = sort_diagnostics(shown)
    session.report(diagnostics, kind="check")
    session.talk("The files of the outputs were not compared; `check` for one release does that.")
    text = "\n".join(section_text(section, session.width) for section in sections)
    session.answer("check", text, releases=data)
    return session.exit_code(diagnostics)
