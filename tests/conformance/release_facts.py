"""What torchgen says about a release: run by itself, with the torchgen of that release on the path.

    python release_facts.py FOLDER NATIVE_FUNCTIONS TAGS

FOLDER holds `torchgen`. Prints JSON: by the name of each function, derived ones included, what
`tests/conformance/test_upgrades.py` compares.
"""

from __future__ import annotations

import json
import re
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

PACKAGED = Path("torchgen/packaged/ATen/native")


def main(folder: str, native_functions: str, tags: str) -> None:
    sys.path.insert(0, folder)
    import torchgen.gen as gen

    parsed = gen.parse_native_yaml(native_functions, tags)
    keys, follows = registered_keys(gen, parsed), followed(gen, parsed)
    views = copied_views(parsed)
    facts = {}
    for function in parsed.native_functions:
        name = str(function.func.name)
        known = facts_of(function, sorted(keys[name]), follows.get(name))
        facts[name] = {**known, "view": views.get(name)}
    json.dump({"torchgen": gen.__file__, "functions": facts}, sys.stdout)


def registered_keys(gen: Any, parsed: Any) -> dict[str, set[str]]:
    """The keys that torchgen registers a kernel for, by function; kernels that follow from others included."""
    from torchgen.dest import RegisterDispatchKey
    from torchgen.model import BackendIndex, dispatch_keys
    from torchgen.selective_build.selector import SelectiveBuilder

    found: dict[str, set[str]] = defaultdict(set)
    grouped = gen.get_grouped_native_functions(parsed.native_functions)
    for key in dispatch_keys:
        index = parsed.backend_indices.get(key) or BackendIndex(key, True, False, False, {})
        register = RegisterDispatchKey(
            index,
            gen.Target.REGISTRATION,
            SelectiveBuilder.get_nop_selector(),
            rocm=False,
            symint=True,
            class_method_name=None,
            skip_dispatcher_op_registration=False,
        )
        for group in grouped:
            for name in re.findall(r'm\.impl\("([^"]+)"', "".join(register(group))):
                found[name].add(str(key))
    return found


def followed(gen: Any, parsed: Any) -> dict[str, str]:
    """For what torchgen derives, the variant that its kernel calls."""
    from torchgen.model import NativeFunctionsGroup

    found = {}
    for group in gen.get_grouped_native_functions(parsed.native_functions):
        if isinstance(group, NativeFunctionsGroup):
            written = [f for f in (group.functional, group.inplace, group.mutable, group.out) if f]
            written = [f for f in written if "generated" not in f.tags]
            for function in group.functions():
                if "generated" in function.tags:
                    found[str(function.func.name)] = str(written[0].func.name)
    return found


def copied_views(parsed: Any) -> dict[str, str]:
    """For each copy of a view, the operator that makes the view, which its kernel calls."""
    names = {str(function.func.name) for function in parsed.native_functions}
    found = {}
    for function in parsed.native_functions:
        name = str(function.func.name)
        view = name.replace("_copy", "", 1)
        if "view_copy" in function.tags and view != name and view in names:
            found[name] = view
    return found


def facts_of(function: Any, keys: list[str], follows: str | None) -> dict[str, Any]:
    from torchgen import local
    from torchgen.api.types import DispatcherSignature

    signatures = [DispatcherSignature.from_schema(function.func, symint=s) for s in (False, True)]
    with local.parametrize(
        use_const_ref_for_mutable_tensors=function.use_const_ref_for_mutable_tensors,
        use_ilistref_for_tensor_lists=function.part_of_structured_group,
    ):
        types = [in_cpp(signature.type()) for signature in signatures]
        kernel = signatures[0].decl()
    delegate = function.structured_delegate
    return {
        "schema": str(function.func),
        "variants": sorted(str(variant.name) for variant in function.variants),
        "follows": follows,
        "generated": "generated" in function.tags,
        "structured": function.structured,
        "delegate": None if delegate is None else str(delegate),
        "by_hand": function.manual_kernel_registration,
        "keys": keys,
        "types": types,
        "kernel": kernel,
    }


def in_cpp(text: str) -> str:
    """A type as c10 compares it: without references and `const`, however a release spells the rest."""
    return re.sub(r"\bconst\b|&(?![^(]*$)|\s|(?:\b|::)(?:at|c10|std)::", "", text)


if __name__ == "__main__":
    main(*sys.argv[1:])
