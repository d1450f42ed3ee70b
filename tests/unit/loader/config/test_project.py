"""The configuration: its place, its values, its mistakes."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchgen_lite.diagnostics import render_concise
from torchgen_lite.loader.config.project import Config, check_required_version, load_config
from torchgen_lite.loader.versions import contains, meet, parse_range, parse_version


def read(folder: Path, text: str, name: str = "pyproject.toml") -> tuple[Config, str]:
    (folder / name).write_text(text)
    config, found = load_config(folder)
    return config, render_concise(found)


def test_everything_that_can_be_said(tmp_path: Path) -> None:
    config, said = read(
        tmp_path,
        """
[project]
name = "x"

[tool.torchgen_lite]
required-version = ">=0.1"
schema = ["a.yaml", "b.yaml"]
output-dir = "out"
targets = ["python"]
template-dirs = "templates"
check-message = "see docs"
extra-fields = ["vendor"]

[tool.torchgen_lite.lint]
select = ["TG4"]
ignore = ["TG409"]

[tool.torchgen_lite.target.python]
package = "mine"

[tool.torchgen_lite.template-vars]
copyright = "us"
""",
    )
    assert said == ""
    assert config.root == tmp_path
    assert config.schema == ("a.yaml", "b.yaml")
    assert (config.output_dir, config.targets) == ("out", ("python",))
    assert config.template_dirs == ("templates",)
    assert (config.lint_select, config.lint_ignore) == (("TG4",), ("TG409",))
    assert config.target_options == {"python": {"package": "mine"}}
    assert config.template_vars == {"copyright": "us"}
    assert config.extra_fields == ("vendor",)


def test_found_upwards_but_not_above_the_repository(tmp_path: Path) -> None:
    read(tmp_path, '[tool.torchgen_lite]\noutput-dir = "o"\n')
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    assert load_config(inner)[0].output_dir == "o"
    (tmp_path / "a" / ".git").mkdir()
    assert load_config(inner)[0].path is None


def test_a_file_of_its_own_has_bare_keys(tmp_path: Path) -> None:
    assert read(tmp_path, 'schema = "x.yaml"\n', "torchgen_lite.toml")[0].schema == ("x.yaml",)


def test_tables_of_others_configure_nothing(tmp_path: Path) -> None:
    text = '[tool.torchgen-lite-tools]\nx = 1\n[tool.hatch.build.hooks.torchgen-lite]\nmode = "check"\n'
    config, said = read(tmp_path, text)
    assert (config.path, said) == (None, "")


def test_a_header_in_a_string_is_no_table(tmp_path: Path) -> None:
    text = "[tool.torchgen_lite]\n[tool.x]\ny = '''\n[tool.torchgen-lite]\n'''\n"
    assert read(tmp_path, text)[1] == ""


def test_two_configurations_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "torchgen_lite.toml").write_text("")
    _, said = read(tmp_path, "[tool.torchgen_lite]\n")
    assert said.startswith("error[TG004]")


CROWDED = "error[TG001] a key has more than 100 parts"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            '[tool.torchgen_lite]\noutput-dri = "x"\n',
            "pyproject.toml:2:1: error[TG002] unknown configuration key 'output-dri'"
            " (did you mean 'output-dir'?)",
        ),
        (
            "[tool.torchgen_lite]\nschema = 3\n",
            "pyproject.toml:2:1: error[TG003] 'schema' takes a list of strings",
        ),
        (
            "[tool.torchgen_lite.lint]\nselct = []\n",
            "pyproject.toml:2:1: error[TG002] unknown configuration key 'selct'"
            " (did you mean 'select'?)",
        ),
        (
            '[tool.torchgen_lite.lint]\nignore = ["TG409", "TGG402"]\n',
            "pyproject.toml:2:1: error[TG003] 'ignore': 'TGG402' begins no diagnostic code"
            " (did you mean 'TG402'?)",
        ),
        (
            '[tool.torchgen_lite]\ntarget = "x"\n',
            "pyproject.toml:2:1: error[TG003] 'target' takes a table ('targets' lists the names of targets)",
        ),
        (
            "[tool.torchgen_lite]\n\n[tool.torchgen_lite.unknown]\n",
            "pyproject.toml:3:21: error[TG002] unknown configuration key 'unknown'",
        ),
        (
            '[tool.torchgen-lite]\nschema = ["ops.yaml"]\n',
            "pyproject.toml:1:7: error[TG002] 'tool.torchgen-lite' is not the table of torchgen-lite"
            " (did you mean 'torchgen_lite'?)",
        ),
        (
            "[tool.torchgen-lite]\n[tool.torchgen-lite.lint]\n[tool.torchgen-lite.target.python]\n",
            "pyproject.toml:1:7: error[TG002] 'tool.torchgen-lite' is not the table of torchgen-lite"
            " (did you mean 'torchgen_lite'?)",
        ),
        (
            "[project]\n[ tool . torchgen-lite.target.python ]\n",
            "pyproject.toml:2:10: error[TG002] 'tool.torchgen-lite' is not the table of torchgen-lite"
            " (did you mean 'torchgen_lite'?)",
        ),
        (
            '[tool.torchgen_lite]\nrequired-version = "new"\n',
            "pyproject.toml:2:1: error[TG003] 'required-version': 'new' is not a version range"
            ' (write comparisons joined by commas, such as ">=0.4,<0.5")',
        ),
        (
            "[tool.torchgen_lite]\nx = = 1\n",
            "pyproject.toml:2:5: error[TG001] invalid TOML: invalid value",
        ),
        *(
            (
                f"[tool.torchgen_lite]\n{before}{50_000 * 'a.'}b = 1{after}\n",
                f"pyproject.toml:2:{column}: {CROWDED}",
            )
            for before, after, column in (("", "", 1), ("x = {", "}", 5))
        ),
        (f"[tool.torchgen_lite.{50_000 * 'a . '}b]\n", f"pyproject.toml:1:1: {CROWDED}"),
    ],
)
def test_mistakes_have_a_place(tmp_path: Path, text: str, said: str) -> None:
    assert read(tmp_path, text)[1] == said + "\n"


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    config, found = load_config(tmp_path, tmp_path / "no.toml")
    assert config.root == tmp_path
    assert [d.code for d in found] == ["TG001"]


def test_required_version() -> None:
    config = Config(Path("."), required_version=">=0.4,<0.5")
    assert check_required_version(config, "0.4.2") == ()
    assert [d.code for d in check_required_version(config, "0.5")] == ["TG005"]


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        (">=2.6,<2.9", "2.6.1", "2.9.0"),
        ("==2.6.*", "2.6.3+cpu", "2.7"),
        ("~=2.6", "2.9", "3.0"),
        ("!=2.6", "2.6.1", "2.6.0"),
        (">2.6", "2.6.1", "2.6"),
        (">=2.8,<3,!=2.8.*", "2.9", "2.8.1"),
        ("~=2.8,!=2.8.*", "2.10.1", "3"),
    ],
)
def test_version_ranges(text: str, inside: str, outside: str) -> None:
    clauses = parse_range(text)
    assert clauses is not None and meet(text)
    assert contains(clauses, parse_version(inside))
    assert not contains(clauses, parse_version(outside))


@pytest.mark.parametrize(
    "text", [">=2.9,<2.6", ">2,<2", "==2.1,==2.2", "!=2,==2", "!=2.8.*,==2.8.*", "~=2.8.1,>=2.9"]
)
def test_empty_ranges(text: str) -> None:
    assert parse_range(text) is not None and not meet(text)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("<2.13", ">=2.13", False),
        ("<2.13", ">=2.12", True),
        ("<=2.9", ">2.9", False),
        ("==2.9.*", ">=2.9.5", True),
        ("==2.9.*", ">=2.10", False),
        ("!=2.9.*", "==2.9.*", False),
        ("!=2.9.*", ">=2.9,<2.11", True),
        ("<2.13", None, True),
        (None, None, True),
        (">=2.9,<2.6", None, False),
    ],
)
def test_ranges_that_meet(one: str | None, other: str | None, expected: bool) -> None:
    assert meet(one, other) is expected and meet(other, one) is expected


@pytest.mark.parametrize("text", ["", "2.6", ">=", ">=2.6 <3", ">=2.*", ">=a"])
def test_no_ranges(text: str) -> None:
    assert parse_range(text) is None


@pytest.mark.parametrize("name", ["torchgen_lite.toml", "pyproject.toml"])
def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path, name: str) -> None:
    table = "[tool.torchgen_lite]\n" if name == "pyproject.toml" else ""
    (tmp_path / name).write_text(f'{table}output-dir = "out"\n', "utf-8-sig")
    config, found = load_config(tmp_path)
    assert (config.output_dir, found) == ("out", ())


@pytest.mark.parametrize("key", ["schema", "output-dir", "template-dirs"])
def test_a_path_has_no_control_characters(tmp_path: Path, key: str) -> None:
    (tmp_path / "torchgen_lite.toml").write_text(f'{key} = "a\\u0000b"\n')
    _, found = load_config(tmp_path)
    assert [d.code for d in found] == ["TG003"]
    assert "is not a path: it has control characters" in found[0].message


@pytest.mark.parametrize(
    "name",
    [
        "CUDA",
        "cuda",
        "Cpu",
        "meta",
        "PrivateUse1",
        "PrivateUseOne",
        "opengl",
        "Sparse",
        "Other",
        "Math",
    ],
)
def test_a_device_is_not_called_as_a_key(tmp_path: Path, name: str) -> None:
    """`cuda: my_kernel` was registered for the device of one's own; PyTorch refuses to call it so.

    The autograd key of `Other` would be `AutogradOther`, which is one; `Math` is a former name.
    """
    _, said = read(tmp_path, f'privateuse1 = "{name}"\n', "torchgen_lite.toml")
    assert f"'{name}' is the name of a device or a dispatch key already" in said


@pytest.mark.parametrize("name", ["SIM", "sim", "dense", "alias", "autogradcpu"])
def test_a_device_is_called_as_pytorch_lets_it(tmp_path: Path, name: str) -> None:
    """`Dense` is a key, and no device."""
    config, said = read(tmp_path, f'privateuse1 = "{name}"\n', "torchgen_lite.toml")
    assert (config.privateuse1, said) == (name, "")
