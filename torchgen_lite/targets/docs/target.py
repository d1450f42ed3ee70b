"""A page for each operator, and an index of them: Markdown, HTML with a stylesheet and a script, or both.

    docs/index.md   docs/mylib/add.Tensor.md
    docs/index.html docs/mylib/add.Tensor.html docs/look.css docs/style.css docs/search.js

Note [Pages change alone]
Nothing on a page depends on other operators: no operator count, no line number. It links to
overloads and variants, and these links change only with them. The index lists all pages.
"""

from __future__ import annotations

from posixpath import join, normpath

from torchgen_lite.analysis.program import Program
from torchgen_lite.languages.markup import HTML, MARKDOWN, Markup
from torchgen_lite.schema.grouped import names_of
from torchgen_lite.targets.docs.facts import Reference, reference
from torchgen_lite.targets.docs.options import DocsOptions
from torchgen_lite.targets.docs.pages import PageView, index_view, link, page_paths
from torchgen_lite.targets.generation import generation_of
from torchgen_lite.targets.output import Context, Files, OutputFile, Selection, TargetResult

_MARKUP = {"markdown": MARKDOWN, "html": HTML}


def build_docs(program: Program, options: DocsOptions) -> TargetResult:
    """Every page, with the tables of the package that is configured."""
    generation = generation_of(program)
    selection = generation.package_of(options.tables) if options.tables else generation.shown
    return TargetResult(_files(program, options, selection), selection.diagnostics)


def _files(program: Program, options: DocsOptions, selection: Selection) -> Files:
    formats = dict.fromkeys(options.format)
    known = reference(program, selection)
    for name in formats:
        folder = join(options.folder, name) if len(formats) > 1 else options.folder
        for file in _pages(known, _MARKUP[name], options):
            yield OutputFile(normpath(join(folder, file.path)), file.template, file.context)


def _pages(reference: Reference, markup: Markup, options: DocsOptions) -> Files:
    """The files of one format, below its folder."""
    paths = page_paths(names_of(reference.operators), markup.ending)
    title = markup.text(options.title)
    index = f"index{markup.ending}"
    context: Context = {
        "title": title,
        "namespaces": index_view(reference.operators, markup, paths),
    }
    yield OutputFile(index, f"docs/{index}.j2", context)
    for operator in reference.operators:
        path = paths[operator.name]
        page = PageView(operator, reference, markup, paths, options.sources)
        root = link(index, path).removesuffix(index)
        context = {"title": title, "page": page, "root": root}
        yield OutputFile(path, f"docs/operator{markup.ending}.j2", context)
    if markup is HTML:
        yield OutputFile("look.css", "copied/docs/look.css")
        yield OutputFile("style.css", "copied/docs/style.css")
        # It filters the index, where Enter opens the best match; elsewhere the form leads there, with or without it.
        yield OutputFile("search.js", "copied/docs/search.js")
