"""Which lines of a file are laid out."""

from __future__ import annotations

import pytest

from torchgen_lite.emit.layout import lay_out

LONG = "value = function(argument_of_the_call, another_argument_of_the_call, the_last_argument)"
LAID_OUT = """\
value = function(
    argument_of_the_call, another_argument_of_the_call, the_last_argument, and_one_more
)
"""
LONGER = LONG.replace("last_argument", "last_argument, and_one_more")


def test_a_statement_that_is_too_long() -> None:
    assert lay_out("a.py", f"{LONG}\n\n\n{LONGER}\n# end\n") == f"{LONG}\n\n\n{LAID_OUT}# end\n"


@pytest.mark.parametrize("name", ["a.txt", "a.cmake", "py.typed"])
def test_other_files_stay_as_they_are(name: str) -> None:
    assert lay_out(name, LONGER) == LONGER


@pytest.mark.parametrize(
    "text",
    [
        f"# {LONGER}\n",
        f"{LONGER}  # a comment behind it\n",
        f'def f():\n    """A docstring.\n\n    {LONGER}\n    """\n',
        f"text = '''\n{LONGER}\n'''\n",
        f"# fmt: off\n{LONGER}\n# fmt: on\n",
        f"first = \\\n    {LONGER}\n",
        f"{LONGER} + \\\n    1\n",
        f"x = (\n    first\n    + {LONGER.removeprefix('value = ')}\n)\n",
        f'"""{LONGER}"""\n',
        f'x = "{LONGER}"\n',
    ],
)
def test_what_stays_as_it_is(text: str) -> None:
    assert lay_out("a.py", text) == text


@pytest.mark.parametrize(
    "before",
    [
        "# fmt: off\nx  =  1\n# fmt: on\n",
        '"""One line."""\n',
        "'''Some\nlines.'''\n",
        'x = \'"""\'\n',
        '# """\n',
        "x = [\n    1,\n]\n",
        "# one, two,\n",
        "x = 1  # one, two,\n",
    ],
)
def test_what_stands_before_does_not_matter(before: str) -> None:
    assert lay_out("a.pyi", before + LONGER + "\n") == before + LAID_OUT


def test_commas_ask_for_one_item_a_line_where_not_all_fit_on_one() -> None:
    text = "x = (a,), b[c,], f((d, e,))\n"
    assert lay_out("a.py", text) == text
    name = "name_of_a_function" * 5
    assert lay_out("a.py", f"def {name}(self, *, a,): ...\n") == f"""\
def {name}(
    self,
    *,
    a,
): ...
"""


def test_items_of_a_table() -> None:
    call = LONG.removeprefix("value = ").replace("the_last", "the_very_last")
    inside = call.removeprefix("function(").removesuffix(")")
    text = f"table = f(\n    # first\n    *{call}[0],\n    key={call},\n    (a, b),\n)\n"
    assert lay_out("a.py", text) == f"""\
table = f(
    # first
    *function(
        {inside}
    )[0],
    key=function(
        {inside}
    ),
    (a, b),
)
"""
