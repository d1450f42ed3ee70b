"""Codes 50x and 51x: templates, and what all targets share."""

from __future__ import annotations

from .code import Code

TARGET_CODES = (
    Code(
        "TG500",
        "a template failed",
        "error",
        "A template could not be found, parsed or rendered. With the built-in templates this is a "
        "bug of torchgen-lite; with `template-dirs`, look at the line shown.",
        """\
-- torchgen_lite.toml --
output-dir = "out"
template-dirs = ["templates"]
[target.python]
package = "ops"
-- native_functions.yaml --
- func: relu(Tensor self) -> Tensor
-- templates/python/libraries.py.j2 --
{#- template-api: 1 -#}
{% for name in %}
$ torchgen-lite generate""",
        """\
-- torchgen_lite.toml --
output-dir = "out"
template-dirs = ["templates"]
[target.python]
package = "ops"
-- native_functions.yaml --
- func: relu(Tensor self) -> Tensor
-- templates/python/libraries.py.j2 --
{#- template-api: 1 -#}
NAMES = ()
$ torchgen-lite generate""",
    ),
    Code(
        "TG501",
        "template for another version",
        "error",
        "Each template declares the `template-api` it was written for. Export the built-in template "
        "again and carry your changes over.",
        """\
-- torchgen_lite.toml --
output-dir = "out"
template-dirs = ["templates"]
[target.python]
package = "ops"
-- native_functions.yaml --
- func: relu(Tensor self) -> Tensor
-- templates/python/libraries.py.j2 --
NAMES = ()
$ torchgen-lite generate""",
        """\
-- torchgen_lite.toml --
output-dir = "out"
template-dirs = ["templates"]
[target.python]
package = "ops"
-- native_functions.yaml --
- func: relu(Tensor self) -> Tensor
-- templates/python/libraries.py.j2 --
{#- template-api: 1 -#}
NAMES = ()
$ torchgen-lite generate""",
    ),
    Code(
        "TG502",
        "unknown template",
        "warning",
        "A file in `template-dirs` does not have the name of a built-in template, so it is not used unless another "
        "template includes it.",
        """\
-- torchgen_lite.toml --
output-dir = "out"
template-dirs = ["templates"]
[target.python]
package = "ops"
-- native_functions.yaml --
- func: relu(Tensor self) -> Tensor
-- templates/python/library.py.j2 --
{#- template-api: 1 -#}
NAMES = ()
$ torchgen-lite templates check""",
        """\
-- torchgen_lite.toml --
output-dir = "out"
template-dirs = ["templates"]
[target.python]
package = "ops"
-- native_functions.yaml --
- func: relu(Tensor self) -> Tensor
-- templates/python/libraries.py.j2 --
{#- template-api: 1 -#}
NAMES = ()
$ torchgen-lite templates check""",
    ),
    Code(
        "TG510",
        "invalid target option",
        "error",
        "An option under `[tool.torchgen_lite.target.NAME]` is unknown or has a value that the "
        "target cannot take.",
        """\
-- torchgen_lite.toml --
[target.python]
packages = "ops"
-- native_functions.yaml --
- func: relu(Tensor self) -> Tensor
$ torchgen-lite generate""",
        """\
-- torchgen_lite.toml --
[target.python]
package = "ops"
-- native_functions.yaml --
- func: relu(Tensor self) -> Tensor
$ torchgen-lite generate""",
    ),
    Code(
        "TG511",
        "the target cannot express this operator",
        "warning",
        "The language of the target cannot express a type or default of this operator, or its name is reserved "
        "in the generated code. The operator is left out of the output.",
        """\
-- torchgen_lite.toml --
[target.python]
package = "ops"
-- native_functions.yaml --
- func: f(Tensor self, ...) -> Tensor
$ torchgen-lite generate""",
        """\
-- torchgen_lite.toml --
[target.python]
package = "ops"
-- native_functions.yaml --
- func: f(Tensor self, Tensor[] others) -> Tensor
$ torchgen-lite generate""",
    ),
    Code(
        "TG512",
        "schema that PyTorch's dispatcher refuses",
        "error",
        "Custom operators are parsed by the dispatcher, which accepts less than torchgen does: no "
        "infinite numbers, no lists of lists or of strings, no default but `None` for an optional list or "
        "device, and of layouts and memory formats only `strided` and `contiguous_format`. The library would "
        "abort when it is loaded.",
        """\
-- torchgen_lite.toml --
targets = ["cpp-torch"]
[target.cpp-torch]
namespace = "mylib"
-- native_functions.yaml --
- func: mylib::clip(Tensor x, float limit=inf) -> Tensor
$ torchgen-lite generate""",
        """\
-- torchgen_lite.toml --
targets = ["cpp-torch"]
[target.cpp-torch]
namespace = "mylib"
-- native_functions.yaml --
- func: mylib::clip(Tensor x, float? limit=None) -> Tensor
$ torchgen-lite generate""",
    ),
    Code(
        "TG513",
        "name conflict in generated C++",
        "error",
        "A reserved word of C++ gets an underscore, which can make it equal to the name of another argument. A kernel "
        "without a namespace is in that of the library, which also has generated namespaces such as `ops` and "
        "`functions`.",
        """\
-- torchgen_lite.toml --
targets = ["cpp-torch"]
[target.cpp-torch]
namespace = "mylib"
-- native_functions.yaml --
- func: mylib::ops(Tensor x) -> Tensor
$ torchgen-lite generate""",
        """\
-- torchgen_lite.toml --
targets = ["cpp-torch"]
[target.cpp-torch]
namespace = "mylib"
-- native_functions.yaml --
- func: mylib::ops(Tensor x) -> Tensor
  dispatch:
    CompositeImplicitAutograd: ops_kernel
$ torchgen-lite generate""",
    ),
    Code(
        "TG514",
        "a target that cannot be loaded",
        "error",
        "An installed package registers a target in the group `torchgen_lite.targets` of its entry "
        "points, and importing it fails, or does not yield a `Target` of that name.",
        """\
-- torchgen_lite.toml --
targets = ["reference"]
-- native_functions.yaml --
- func: relu(Tensor self) -> Tensor
$ torchgen-lite generate""",
        """\
-- torchgen_lite.toml --
[target.python]
package = "ops"
-- native_functions.yaml --
- func: relu(Tensor self) -> Tensor
$ torchgen-lite generate""",
        where="with a package that registers a target `reference` but does not have it",
    ),
)
