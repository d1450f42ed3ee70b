"""Jinja2, kept on a short leash: strict about names, deaf to HTML, one template for one file.

Note [Templates]
Undefined names are errors (`StrictUndefined`), nothing is escaped (the output is code), block tags leave
no empty lines behind (`trim_blocks`, `lstrip_blocks`), and the final newline of a template is kept. The
user's template directories are looked at before the built-in ones, file by file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from jinja2 import ChoiceLoader, Environment, FileSystemLoader, StrictUndefined, TemplateError

from torchgen_lite.emit.header import render_header
from torchgen_lite.emit.templates import find_templates
from torchgen_lite.targets.output import OutputFile


class RenderError(Exception):
    """A template that cannot be rendered: `template`, `line` (0 if unknown) and a message."""

    def __init__(self, template: str, line: int, message: str) -> None:
        super().__init__(message)
        self.template = template
        self.line = line
        self.message = message


def build_environment(template_dirs: tuple[str, ...] = ()) -> Environment:
    """An environment over the user's directories and then ours.

    Ours do not change while a process runs, so they are compiled once; the user's may.
    """
    return _environment(template_dirs) if template_dirs else _built_in()


@cache
def _built_in() -> Environment:
    return _environment(())


def _environment(template_dirs: tuple[str, ...]) -> Environment:
    folders = [*template_dirs, str(find_templates())]
    return Environment(
        loader=ChoiceLoader([FileSystemLoader(folder) for folder in folders]),
        undefined=StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
    )


def render_file(environment: Environment, file: OutputFile, source: str) -> str:
    """Header and body of one file."""
    body = render_body(environment, file.template, file.context)
    return render_header(file.path, source) + squeeze(body, 1 if file.path.endswith(".pyi") else 2)


def squeeze(text: str, blank: int) -> str:
    """At most `blank` empty lines in a row, and none at the end: an empty loop may leave some behind.

    >>> squeeze("a\\n\\n\\n\\nb\\n\\n", 1)
    'a\\n\\nb\\n'
    """
    most = "\n" * (blank + 1)
    while most + "\n" in text:
        text = text.replace(most + "\n", most)
    return text.rstrip("\n") + "\n" if text.endswith("\n\n") else text


def render_body(environment: Environment, template: str, context: Mapping[str, object]) -> str:
    """One template, rendered; whatever goes wrong inside it is a `RenderError` that points into it."""
    try:
        return environment.get_template(template).render(context)
    except TemplateError as error:
        line = getattr(error, "lineno", None) or _line_in_template(error, template)
        raise RenderError(template, line, f"{type(error).__name__}: {error.message}") from error


def render_files(
    files: Sequence[OutputFile], source: str, template_dirs: tuple[str, ...]
) -> dict[str, str]:
    """`{path: text}` of every file, in the order of the paths given."""
    environment = build_environment(template_dirs)
    return {file.path: render_file(environment, file, source) for file in files}


def _line_in_template(error: BaseException, template: str) -> int:
    """The line of the innermost frame that runs the template; Jinja2 maps those to template lines."""
    line, trace = 0, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename.replace("\\", "/").endswith(template):
            line = trace.tb_lineno
        trace = trace.tb_next
    return line
