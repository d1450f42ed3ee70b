# ruff: noqa: F403
"""The runtime of generated code without the generator; docs/runtime.md describes what is in it.

Note [One dispatcher]
Where torchgen_lite is installed beside it, this is its runtime under another name, so that all operators of a
process are in one dispatcher. If the two don't fit, the import fails and says so: operators of one would be
unknown to the other.
"""

from importlib.util import find_spec

if find_spec("torchgen_lite") is not None:
    from torchgen_lite.runtime import *
    from torchgen_lite.runtime import __all__ as __all__
    from torchgen_lite.runtime import check_interface

    check_interface(3, __name__, "install both from the same version of torchgen-lite")
else:
    from ._own.runtime import *
    from ._own.runtime import __all__ as __all__
