"""From an empty folder to a wheel of your own operators, by doing what the messages say, with our wheels alone."""

from __future__ import annotations

import json
from pathlib import Path

from tests.shipping.environment import Environment, build_wheel

ENTRY = """\

- func: tiny::add(Tensor self, Tensor other, *, flaot by=1.0) -> Tensor
  dispatch:
    CPU: add_cpu
    Meta: add_meta
"""
BODY = "    return Tensor([a + by * b for a, b in zip(self.data, other.data)])\n"
CALL = "import tiny, tiny._ops as o; T = tiny.Tensor; print(o.add(T([1.0]), T([2.0]), by=3.0).data)"
IN_PLACE = f"import sys; sys.path.insert(0, 'src'); {CALL}"


def test_the_first_five_minutes(distributions: dict[str, Path], tmp_path: Path) -> None:
    tool = Environment(tmp_path / "tool", distributions["torchgen_lite.runtime"], requirements=True)
    project = tmp_path / "project"
    project.mkdir()

    def run(*arguments: str) -> tuple[int, str]:
        done = tool.run("-m", "torchgen_lite", *arguments, cwd=project)
        return done.returncode, done.stdout + done.stderr

    assert tool.prints("import torchgen_lite as t; print(t.__file__)").startswith(str(tool.site))
    assert run("init", "--target", "python", "--layout", "src", "tiny")[0] == 0
    schema, kernels = project / "ops.yaml", project / "src" / "tiny" / "kernels.py"
    schema.write_text(schema.read_text() + ENTRY)

    # The message says what was meant, and where.
    code, reported = run("generate", "--output-format", "json")
    [mistake] = json.loads(reported)["diagnostics"]
    assert (code, mistake["help"]) == (1, "did you mean `float`?")
    schema.write_text(schema.read_text().replace("flaot", "float"))

    code, missing = run("generate")
    assert code == 1 and missing.count("error[TG302]") == 2
    assert "`torchgen-lite kernels --missing`" in missing
    assert run("kernels", "--missing") == (
        0,
        "2 functions added to src/tiny/kernels.py: add_cpu, add_meta\n",
    )
    assert run("generate")[0] == 0
    assert run("lint", "--deny-warnings")[0] == 0
    begun = tool.run("-c", IN_PLACE, cwd=project)
    assert begun.stderr.endswith("NotImplementedError: add_cpu\n")

    text = kernels.read_text()
    kernels.write_text(text.replace('    raise NotImplementedError("add_cpu")\n', BODY))
    called = tool.run("-c", IN_PLACE, cwd=project)
    assert (called.stdout, called.stderr) == ("[7.0]\n", "")

    # The package is not installed where it is checked, and the generator not where it is used.
    checked = tool.run("-m", "torchgen_lite", "check", str(project))
    assert checked.returncode == 0, checked.stderr
    installed = Environment(tmp_path / "installed", build_wheel(project, tmp_path))
    assert installed.prints(CALL) == "[7.0]\n"
