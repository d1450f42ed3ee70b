"""Jinja2 under strict rules: undefined names are errors, nothing is escaped, one template per file.

Note [Templates]
Undefined names are errors (`StrictUndefined`), nothing is escaped (the output is code), block tags leave
no empty lines behind (`trim_blocks`, `lstrip_blocks`), and the final newline of a template is kept.
The user's template directories are searched before the built-in ones, file by file; an override
refers to the template that it overrides as `built-in/python/ops.py.j2`, to extend it and replace a
block. `vars` comes from `template-vars` in the configuration. If the user has templates, all run in
a sandbox (Note [Sandbox]). Lines that are too long are split afterwards (Note [Layout]). The
Python output of an override may have any form, so black formats it; what else is formatted, the
project says (Note [Formatters]).
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from jinja2 import (
    ChoiceLoader,
    Environment,
    FileSystemLoader,
    PrefixLoader,
    StrictUndefined,
    Template,
    TemplateNotFound,
    TemplateSyntaxError,
)
from jinja2.meta import find_referenced_templates
from jinja2.runtime import Context

from torchgen_lite.diagnostics import Diagnostic
from torchgen_lite.emit.header import marked_sources, render_header
from torchgen_lite.emit.printer import lay_out
from torchgen_lite.emit.recorder import Lacking, recording
from torchgen_lite.emit.template_errors import (
    RenderError,
    check_api,
    is_override,
    line_span,
    pointing,
    rendering_failed,
    span_that_prints,
    unknown_verb,
)
from torchgen_lite.emit.templates import byte_code, find_templates, read_copied
from torchgen_lite.languages.verbs import VERBS
from torchgen_lite.loader.sources import shown_path
from torchgen_lite.schema.grouped import grouped, names_of
from torchgen_lite.targets.output import OutputFile, TemplatePackage

Rendered = dict[Path, dict[str, tuple[object, str]]]
"""What each project rendered last, by path: everything that the text depends on, and the text."""


def build_environment(
    template_dirs: tuple[str, ...] = (), packages: tuple[TemplatePackage, ...] = ()
) -> Environment:
    """An environment that searches the user's directories, then ours, then those of other packages.

    Our templates do not change while a process runs, so they are compiled once; the user's may
    change.
    """
    if not template_dirs:
        return _built_in(packages)
    from torchgen_lite.emit.sandbox import Sandbox

    return _configured(Sandbox, template_dirs, packages)


class _Context(Context):
    """The context of our own templates: nothing that they call takes it as an argument, which Jinja looks for in each
    call."""

    def call(self, called: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """What a call in a template gives. Jinja adds the variables of loops and blocks for those that take a context."""
        kwargs.pop("_block_vars", None)
        kwargs.pop("_loop_vars", None)
        return called(*args, **kwargs)


@cache
def _built_in(packages: tuple[TemplatePackage, ...]) -> Environment:
    environment = _configured(Environment, (), packages)
    if not packages:
        environment.bytecode_cache = byte_code()
        # Our own templates read attributes that there are, a hundred thousand of them.
        environment.getattr = getattr  # type: ignore[assignment, method-assign]
        environment.context_class = _Context
    return environment


def _configured(
    kind: type[Environment],
    template_dirs: tuple[str, ...],
    packages: tuple[TemplatePackage, ...],
) -> Environment:
    trusted = (find_templates(), *[package.folder for package in packages])
    built_in = FileSystemLoader(trusted)
    users = [FileSystemLoader(folder) for folder in template_dirs]
    environment = kind(
        loader=ChoiceLoader([*users, built_in, PrefixLoader({"built-in": built_in})]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
        optimized=False,
    )
    environment.filters |= VERBS
    environment.extend(trusted=trusted, homes=tuple(names_of(packages)))
    return environment


def render_files(
    files: Iterable[OutputFile],
    source: str,
    template_dirs: tuple[str, ...] = (),
    *,
    variables: Mapping[str, object] | None = None,
    root: Path | None = None,
    packages: tuple[TemplatePackage, ...] = (),
    rendered: Rendered | None = None,
    formatters: Mapping[str, str] = MappingProxyType({}),
    output_dir: str = "",
) -> dict[str, str]:
    """`{path: text}` for every file, in the order given.

    `source` is named in the header, `variables` are the `vars` of templates, and errors show paths
    relative to `root`. `packages` are those of other packages' targets. A file of `rendered` is not
    rendered again while its inputs stay the same; with templates of the user, which may change,
    every file is. `formatters` are the formatters of files by path, and `output_dir` is where they
    will be. Raises RenderError.
    """
    root = root or Path.cwd()
    for folder in template_dirs:
        if not os.path.isdir(folder):  # A path raises if the name is too long.
            message = f"template folder `{shown_path(Path(folder), root)}` does not exist"
            raise RenderError(Diagnostic("TG500", message))
    environment = build_environment(template_dirs, packages)
    extra = {"vars": dict(variables or {})}
    before = rendered.get(root, {}) if rendered is not None and not template_dirs else {}
    texts: dict[str, str] = {}
    inputs: dict[str, object] = {}
    fresh: dict[str, str] = {}
    lacking: Lacking = {}
    for file in files:
        inputs[file.path] = (file, source, extra, packages, formatters.get(file.path))
        last, text = before.get(file.path, (None, ""))
        if last != inputs[file.path]:
            text = render_file(environment, file, source, extra=extra, root=root, lacking=lacking)
            if formatters.get(file.path):
                fresh[file.path] = text
        texts[file.path] = text
    if lacking:
        raise RenderError(*lacking.values(), option=next(iter(lacking))[:2])
    if fresh:
        texts |= _formatted(fresh, source, formatters, root, output_dir)
    if rendered is not None:
        rendered[root] = {path: (inputs[path], text) for path, text in texts.items()}
    return texts


def _formatted(
    texts: Mapping[str, str],
    source: str,
    formatters: Mapping[str, str],
    root: Path,
    output_dir: str,
) -> dict[str, str]:
    """The texts as their formatters leave them, with the same headers."""
    from torchgen_lite.emit.format import format_texts

    bodies = {path: text.removeprefix(render_header(path, source)) for path, text in texts.items()}
    formatted: dict[str, str] = {}
    for formatter, paths in grouped(texts, lambda path: formatters[path]).items():
        of_formatter = {path: bodies[path] for path in paths}
        done = format_texts(formatter, of_formatter, root, root / output_dir)
        if isinstance(done, Diagnostic):
            raise RenderError(done, option=("format", formatter))
        formatted.update(done)
    return {p: texts[p].removesuffix(bodies[p]) + body for p, body in formatted.items()}


def render_file(
    environment: Environment,
    file: OutputFile,
    source: str,
    *,
    extra: Mapping[str, object],
    root: Path,
    lacking: Lacking,
) -> str:
    """Header and body of one file; what our template calls and a module lacks is added to `lacking`."""
    if file.text is not None:
        header = "" if marked_sources(file.text) else render_header(file.path, source, file.text)
        return header + file.text
    if not file.template.endswith(".j2"):
        return render_header(file.path, source) + read_copied(file.template, file.context)
    template = load_template(environment, file.template, root)
    override = _override(environment, template, root)
    names = recording(file.context, None if override else lacking)
    try:
        body = template.render({**names, **extra})
    except Exception as error:
        # An override may raise anything: `{{ 1 // 0 }}` is the user's mistake, not ours.
        raise RenderError(rendering_failed(error, file.template, template, root)) from error
    text = squeeze(body, 1 if file.path.endswith(".pyi") else 2)
    if override and file.path.endswith((".py", ".pyi")):
        text = _format_python(text, file, override, root)
    elif not file.is_copied:
        text = lay_out(file.path, text)
    return render_header(file.path, source, text) + text if file.is_marked else text


def _override(
    environment: Environment,
    template: Template,
    root: Path,
) -> Template | None:
    """The first that is the user's, of a template and those that it imports, includes or extends, if any is."""
    if is_override(template):
        return template
    if not environment.sandboxed:
        return None  # There are no templates but ours.
    source = Path(template.filename or "").read_text("utf-8")
    named = filter(None, find_referenced_templates(environment.parse(source)))
    return next(filter(is_override, [load_template(environment, n, root) for n in named]), None)


def squeeze(text: str, blank: int) -> str:
    """At most `blank` empty lines in a row, and none at the end: an empty loop may leave some behind.

    >>> squeeze("a\\n\\n\\n\\nb\\n\\n", 1)
    'a\\n\\nb\\n'
    """
    most = "\n" * (blank + 1)
    while most + "\n" in text:
        text = text.replace(most + "\n", most)
    return text.rstrip("\n") + "\n" if text.endswith("\n\n") else text


def load_template(
    environment: Environment,
    name: str,
    root: Path,
) -> Template:
    """The compiled template of that name; an override has to be written for our `template-api`."""
    try:
        template = environment.get_template(name)
    except TemplateNotFound as error:
        raise RenderError(Diagnostic("TG500", f"there is no template `{error.name}`")) from error
    except TemplateSyntaxError as error:
        line = error.filename, error.lineno
        diagnostic = unknown_verb(error.message or "", line, environment, root)
        message = f"template `{name}` cannot be parsed: {error.message}"
        diagnostic = diagnostic or pointing(message, line_span(*line, root), "here")
        raise RenderError(diagnostic) from error
    except (OSError, UnicodeDecodeError) as error:
        message = f"template `{name}` cannot be read: {error}"
        raise RenderError(Diagnostic("TG500", message)) from error
    if is_override(template):
        check_api(name, template, root)
    return template


def _format_python(
    text: str,
    file: OutputFile,
    template: Template,
    root: Path,
) -> str:
    # Imported here: black takes longer than a whole run, and our own templates never need it.
    import black
    from black.parsing import InvalidInput

    mode = black.Mode(is_pyi=file.path.endswith(".pyi"))
    try:
        return black.format_str(text, mode=mode)
    except InvalidInput as error:
        message = f"template `{template.name}` does not give valid Python"
        # The place is one in the text, which nobody sees.
        by_black = " ".join(line.strip() for line in str(error).split("\n")[:2])
        printed = re.sub(r".*?\d+:\d+:? ", "", by_black)
        place = span_that_prints(template.filename, printed, root)
        diagnostic = pointing(message, place, "in this template")
        raise RenderError(replace(diagnostic, notes=(f"black: {by_black}",))) from error
