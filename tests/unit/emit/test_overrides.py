"""Overridden templates: which are used, what they may contain, and how their mistakes are shown."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from jinja2.exceptions import SecurityError

from tests.conftest import ROOT, Result
from torchgen_lite.cli.listing import template_files
from torchgen_lite.emit.render import build_environment
from torchgen_lite.emit.templates import TEMPLATE_API, declared_api, with_api

Run = Callable[..., Result]
API = "{# template-api: 1 #}\n"
NAME = "python/registration.py.j2"


@pytest.fixture
def override(project: Path) -> Callable[[str], None]:
    """Writes an override of the package's `__init__.py`."""
    config = project / "torchgen_lite.toml"
    config.write_text(
        'template-dirs = ["mine"]\n[template-vars]\nowner = "us"\n' + config.read_text()
    )
    path = project / "mine" / "python" / "package.py.j2"
    path.parent.mkdir(parents=True)

    def write(text: str) -> None:
        path.write_text(text)

    return write


def generated(project: Path) -> str:
    return (project / "generated/python/ops/__init__.py").read_text()


@pytest.mark.parametrize("name", template_files())
def test_every_exported_template_declares_its_api(name: str) -> None:
    built_in = template_files()[name].read_text()
    exported = with_api(built_in)
    assert declared_api(exported)[0] == TEMPLATE_API
    added = "" if exported == built_in else f"template-api: {TEMPLATE_API}\n"
    assert exported.replace(added, "", 1) == built_in


def test_variables_reach_templates(
    run: Run, project: Path, override: Callable[[str], None]
) -> None:
    override(API + "# Owned by {{ vars.owner }}; kernels: {{ has_kernels }}\n")
    assert run("generate").code == 0
    assert generated(project).endswith("\n# Owned by us; kernels: False\n")


def test_black_formats_what_an_override_gives(
    run: Run, project: Path, override: Callable[[str], None]
) -> None:
    override(API + "x = [1,2 ,3]\n\ndef f( a ): return a\n")
    assert run("generate").code == 0
    assert generated(project).endswith("\nx = [1, 2, 3]\n\n\ndef f(a):\n    return a\n")
    assert run("check").code == 0


def test_black_is_imported_for_overrides_alone(
    project: Path, override: Callable[[str], None]
) -> None:
    def imported() -> str:
        program = (
            "import sys\nfrom torchgen_lite.cli import main\n"
            "main(['generate'], sys.stdout, sys.stderr)\nprint('black' in sys.modules)"
        )
        return subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout

    assert imported() == "False\n"
    override(API + "x = 1\n")
    assert imported() == "True\n"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (
            API + "a = 1\nb = {{ nonsense }}\n",
            """\
error[TG500]: template `python/package.py.j2` failed: UndefinedError: 'nonsense' is undefined
 --> mine/python/package.py.j2:3:8
  |
3 | b = {{ nonsense }}
  |        ^^^^^^^^ here
""",
        ),
        (
            API + "a = {{ vars.ownr }}\n",
            """\
error[TG500]: template `python/package.py.j2` failed: UndefinedError: 'dict object' has no attribute 'ownr'
 --> mine/python/package.py.j2:2:13
  |
2 | a = {{ vars.ownr }}
  |             ^^^^ here
""",
        ),
        (
            API + "{% for x in y %}\n{{ x }}\n",
            """\
error[TG500]: template `python/package.py.j2` cannot be parsed: Unexpected end of template. Jinja was \
looking for the following tags: 'endfor' or 'else'. The innermost block that needs to be closed is 'for'.
 --> mine/python/package.py.j2:3:1
  |
3 | {{ x }}
  | ^^^^^^^ here
""",
        ),
        (
            API + "\n  {{ 1 + '' }}\n",
            """\
error[TG500]: template `python/package.py.j2` failed: TypeError: unsupported operand type(s) for +: 'int' and 'str'
 --> mine/python/package.py.j2:3:3
  |
3 |   {{ 1 + '' }}
  |   ^^^^^^^^^^^^ here
""",
        ),
        (
            API + "def f(:\n",
            """\
error[TG500]: template `python/package.py.j2` does not give valid Python
 --> mine/python/package.py.j2:2:1
  |
2 | def f(:
  | ^^^^^^^ in this template
  |
  = help: correct the template at the place shown; if it is not yours, please report this
  = note: black: cannot parse: 1:6 def f(:
""",
        ),
        (
            API
            + "def f():\n    pass\n\n{% for x in [1] %}\ndef {{ 'g' }}{{ x }}(:\n{% endfor %}\n",
            """\
error[TG500]: template `python/package.py.j2` does not give valid Python
 --> mine/python/package.py.j2:6:1
  |
6 | def {{ 'g' }}{{ x }}(:
  | ^^^^^^^^^^^^^^^^^^^^^^ in this template
  |
  = help: correct the template at the place shown; if it is not yours, please report this
  = note: black: cannot parse: 4:7 def g1(:
""",
        ),
        (
            API + "x = 1\n{{ 'y y' }}\n",
            """\
error[TG500]: template `python/package.py.j2` does not give valid Python
 --> mine/python/package.py.j2:1:1
  |
1 | {# template-api: 1 #}
  | ^^^^^^^^^^^^^^^^^^^^^ in this template
  |
  = help: correct the template at the place shown; if it is not yours, please report this
  = note: black: cannot parse: 2:2 y y
""",
        ),
        (
            "{# template-api: 7 #}\nx = 1\n",
            """\
error[TG501]: template `python/package.py.j2` is made for template-api 7, but this version has 1
 --> mine/python/package.py.j2:1:18
  |
1 | {# template-api: 7 #}
  |                  ^ 1 is needed
  |
  = help: `torchgen-lite templates export python/package.py.j2 --output-dir DIR` writes the current one
""",
        ),
        (
            "x = 1\n",
            """\
error[TG501]: template `python/package.py.j2` does not declare its `template-api`
 --> mine/python/package.py.j2:1:1
  |
1 | x = 1
  | ^^^^^ expected in the comment here
  |
  = help: `torchgen-lite templates export python/package.py.j2 --output-dir DIR` writes the current one
""",
        ),
    ],
    ids=["undefined", "variable", "syntax", "python", "no Python", "loop", "hole", "api", "no api"],
)
def test_mistakes(
    run: Run, project: Path, override: Callable[[str], None], text: str, shown: str
) -> None:
    override(text)
    result = run("check")
    assert result.code == 1
    assert result.stderr.startswith(shown)
    assert not (project / "generated").exists()


def test_an_override_that_extends_itself(
    run: Run, project: Path, override: Callable[[str], None]
) -> None:
    override(API + '{% extends "python/package.py.j2" %}\n')
    found = json.loads(run("check", "--output-format", "json").stdout)["diagnostics"]
    hint = "an override extends the built-in template as `built-in/python/package.py.j2`"
    assert [(one["code"], one["help"]) for one in found] == [("TG500", hint)]


@pytest.mark.parametrize(
    "expression",
    [
        "cycler.__init__.__globals__.os.system('touch ran')",
        "self.__init__.__globals__",
        "''.__class__.__mro__[1].__subclasses__()",
        "'{0.__class__}'.format(vars)",
        "vars | attr('__class__')",
        "[vars] | map(attribute='__class__') | first",
        "vars.update(owner='them')",
        "namespace.__init__",
        "cycler.mro()",
        "vars.clear()",
        "range(10 ** 9)",
    ],
)
def test_templates_are_kept_from_python(
    run: Run, project: Path, override: Callable[[str], None], expression: str
) -> None:
    override(API + f'x = """{{{{ {expression} }}}}"""\n')
    for command in ("check", "generate", "diff"):
        result = run(command)
        assert result.code == 1
        assert result.stderr.startswith("error[TG500]: template `python/package.py.j2` failed: ")
        assert result.stderr.count("-->") == 1
    assert not (project / "ran").exists()


def test_templates_read_what_they_are_given(
    run: Run, project: Path, override: Callable[[str], None]
) -> None:
    override(API + """{% macro twice(x) %}{{ x }}{{ x }}{% endmacro %}
{% set seen = namespace(last="") %}
{% for key, value in vars.items() %}
{% set seen.last = "{0}={1!r}".format(key, value.upper()) %}
{{ seen.last }}, {{ loop.index0 }} = {{ twice(loop.length) }}, {{ range(3) | sum }}
{% endfor %}
""")
    assert run("generate").code == 0
    assert generated(project).endswith('\nowner = "US", 0 = 11, 3\n')


def test_views_hold_nothing_that_leads_out() -> None:
    sandbox = build_environment(("mine",))
    function, path = sandbox.from_string("{{ x() }}"), sandbox.from_string("{{ x.name }}")
    for template, value in ((function, os.getcwd), (path, ROOT), (path, os), (path, Path)):
        with pytest.raises(SecurityError):
            template.render(x=value)


@pytest.mark.parametrize("name", ["mine", "x" * 300])
def test_a_folder_that_does_not_exist(run: Run, project: Path, name: str) -> None:
    (project / "torchgen_lite.toml").write_text(f"template-dirs = [{json.dumps(name)}]\n")
    for command in (["generate"], ["templates", "check"]):
        result = run(*command)
        assert result.code == 1
        assert result.stderr.startswith(f"error[TG500]: template folder `{name}` does not exist\n")


def test_templates_check_reads_overrides_that_no_target_uses(
    run: Run, project: Path, override: Callable[[str], None]
) -> None:
    override(API + "x = 1\n")
    assert run("templates", "check").code == 0
    (project / "mine" / NAME).write_text("{# template-api: 2 #}\n")
    result = run("templates", "check")
    assert result.code == 1
    assert f"error[TG501]: template `{NAME}` is made for template-api 2" in result.stderr
