"""Where kernels are imported from."""

from __future__ import annotations

import doctest

from torchgen_lite.targets.python import key_file


def test_examples_in_docstrings() -> None:
    assert doctest.testmod(key_file).failed == 0


def test_modules_of_the_same_name_are_told_apart() -> None:
    places = {"f": "a.ops", "g": "b.ops", "h": "c.unary"}
    find = key_file.kernel_finder(["a.ops", "b.ops", "c.unary"], places.get)
    found = [find(name) for name in ("f", "g", "h", "pkg.mod.k", "at::native::f", "absent")]
    assert [str(r) if r else None for r in found] == [
        "_a_ops.f",
        "_b_ops.g",
        "_unary.h",
        "_pkg_mod.k",
        None,
        None,
    ]
    modules = key_file.imported_modules([r for r in found if r])
    assert list(modules.items()) == [
        ("a.ops", "_a_ops"),
        ("b.ops", "_b_ops"),
        ("c.unary", "_unary"),
        ("pkg.mod", "_pkg_mod"),
    ]
