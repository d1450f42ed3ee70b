"""Errors of templates: what one did wrong, and the place in it that says so."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from jinja2 import Environment, Template, TemplateError, TemplateSyntaxError

from torchgen_lite.diagnostics import Diagnostic, Help, Label, Source, Span, did_you_mean
from torchgen_lite.emit.recorder import NotImported
from torchgen_lite.emit.templates import TEMPLATE_API, declared_api
from torchgen_lite.loader.python.kernel_modules import line_span as source_line
from torchgen_lite.loader.sources import read_source


class RenderError(Exception):
    """A template that cannot be rendered, into which a diagnostic points; or what an option of a target names does not
    work, and then `option` is its name and its value."""

    def __init__(self, *diagnostics: Diagnostic, option: tuple[str, str] = ("", "")) -> None:
        super().__init__(diagnostics[0].message)
        self.diagnostics = diagnostics
        self.option = option


def is_override(template: Template) -> bool:
    """Whether a template is the user's rather than ours or an installed target's."""
    return not _is_trusted(template.filename or "", template.environment.trusted)  # type: ignore[attr-defined]


@cache
def _is_trusted(filename: str, folders: tuple[Path, ...]) -> bool:
    return any(map(Path(filename).is_relative_to, folders))


def check_api(
    name: str,
    template: Template,
    root: Path,
) -> None:
    """Raise RenderError for an override that is not made for our `template-api`."""
    source = _read(template.filename, root)
    if source is None:
        return
    declared, start, end = declared_api(source.text)
    if declared == TEMPLATE_API:
        return
    if declared is None:
        message = f"template `{name}` does not declare its `template-api`"
        label = Label(Span(source, 0, len(source.line_text(1))), "expected in the comment here")
    else:
        message = f"template `{name}` is made for template-api {declared}, but this version has {TEMPLATE_API}"
        label = Label(Span(source, start, end), f"{TEMPLATE_API} is needed")
    hint = f"`torchgen-lite templates export {name} --output-dir DIR` writes the current one"
    raise RenderError(Diagnostic("TG501", message, label, help=hint))


def rendering_failed(
    error: Exception,
    name: str,
    template: Template,
    root: Path,
) -> Diagnostic:
    """TG500 at the innermost line of a template that ran when the error was raised."""
    filename = template.filename
    line = 0
    if isinstance(error, TemplateSyntaxError):
        filename = error.filename
        line = error.lineno
    else:
        trace = error.__traceback__
        while trace is not None:
            # Frames of Jinja2 templates have the file and line of the template.
            if trace.tb_frame.f_code.co_filename.endswith(".j2"):
                filename = trace.tb_frame.f_code.co_filename
                line = trace.tb_lineno
            trace = trace.tb_next
    problem = (error.message if isinstance(error, TemplateError) else str(error)) or "no message"
    if isinstance(error, NotImported):
        place = line_span(filename, line, root, error.name)
        return pointing(problem, place, "called here", error.help)
    unknown = unknown_verb(problem, (filename, line), template.environment, root)
    if unknown is not None:
        return unknown
    message = f"template `{name}` failed: {type(error).__name__}: {problem}"
    missing = re.search(r"'(\w+)' is undefined|has no attribute '(\w+)'", problem)
    word = (missing[1] or missing[2]) if missing else ""
    # An override that uses its own name finds itself.
    extends = f"an override extends the built-in template as `built-in/{name}`"
    hint = extends if isinstance(error, RecursionError) else None
    return pointing(message, line_span(filename, line, root, word), "here", hint)


def unknown_verb(
    problem: str,
    place: tuple[str | None, int],
    environment: Environment,
    root: Path,
) -> Diagnostic | None:
    """TG500 at a verb that no language has, which Jinja finds when it compiles a template or, in a
    branch, when it comes to the call."""
    missing = re.search(r"No filter named '(.+)'", problem)
    if missing is None:
        return None
    verb = missing[1]
    span = line_span(*place, root, verb)
    near = did_you_mean(verb, environment.filters)
    return pointing(f"there is no verb `{verb}`", span, "called here", near)


def pointing(
    message: str,
    span: Span | None,
    text: str,
    help: Help | None = None,
) -> Diagnostic:
    """TG500 with its one label, if there is a place for it."""
    return Diagnostic("TG500", message, None if span is None else Label(span, text), help=help)


def _read(filename: str | None, root: Path) -> Source | None:
    return None if filename is None else read_source(Path(filename), root)[0]


def line_span(
    filename: str | None,
    line: int,
    root: Path,
    word: str = "",
) -> Span | None:
    """A line of a template, or a word in it."""
    source = _read(filename, root)
    if source is None or line < 1:
        return None
    whole = source_line(source, line)
    match = re.search(rf"\b{re.escape(word)}\b", whole.text) if word else None
    if match is None:
        return whole
    return Span(source, whole.start + match.start(), whole.start + match.end())


def span_that_prints(
    filename: str | None,
    printed: str,
    root: Path,
) -> Span | None:
    """The line of a template whose own text is nearest to a printed line; the first if none is near."""
    from difflib import get_close_matches  # Most runs find nothing wrong.

    source = _read(filename, root)
    lines = source.text.split("\n") if source is not None else []
    texts = [re.sub(r"\{[{%#].*?[}%#]\}", "", line).strip() for line in lines]
    near = get_close_matches(printed.strip(), texts, n=1, cutoff=0.4)
    return line_span(filename, texts.index(near[0]) + 1 if near else 1, root)
