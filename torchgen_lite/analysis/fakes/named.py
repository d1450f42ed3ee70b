"""Whether a Python function can be called with the arguments of an operator, from its signature alone."""

from __future__ import annotations

from torchgen_lite.loader.python_signature import PythonSignature
from torchgen_lite.schema import FunctionSchema


def disagreement(
    signature: PythonSignature,
    schema: FunctionSchema,
    *,
    first: tuple[str, ...] = (),
    leaves_out_defaults: bool = True,
) -> str | None:
    """What keeps a function from standing for an operator, or None.

    `first` are arguments that come before the operator's. PyTorch leaves out arguments that equal their
    default, so the function needs a default wherever the schema has one; `leaves_out_defaults` is False
    where every argument is passed.
    """
    positional = [*first, *(a.name for a in schema.arguments if not a.kwarg_only)]
    name = f"`{signature.name}`"
    taken = signature.positional
    if len(taken) < len(positional) and not signature.takes_more:
        extra = positional[len(taken)]
        noun = "argument" if len(taken) == 1 else "arguments"
        return f"{name} takes {len(taken)} positional {noun}, and `{extra}` is one more"
    if len(signature.required) > len(positional):
        # A keyword-only argument may be given to a parameter that is also positional.
        keywords = {a.name for a in schema.arguments if a.kwarg_only}
        more = [p for p in signature.required[len(positional) :] if p not in keywords]
        if more:
            return f"{name} needs `{more[0]}`, which the operator doesn't have"
    for argument in schema.arguments:
        if argument.kwarg_only:
            problem = _keyword(
                signature, argument.name, argument.default is not None, leaves_out_defaults
            )
            if problem:
                return f"{name} {problem}"
    names = {a.name for a in schema.arguments if a.kwarg_only}
    for keyword, has_default in signature.by_keyword:
        if keyword not in names and not has_default:
            return f"{name} needs `{keyword}`, which the operator doesn't have"
    if leaves_out_defaults:
        return _missing_default(signature, schema, len(first))
    return None


def _keyword(
    signature: PythonSignature, keyword: str, has_default: bool, leaves_out_defaults: bool
) -> str | None:
    own = dict(signature.by_keyword)
    nameable = signature.positional[signature.positional_only :]
    if keyword not in own and keyword not in nameable and not signature.takes_keywords:
        return f"does not take `{keyword}`, which is given by name"
    if leaves_out_defaults and has_default and keyword in own and not own[keyword]:
        return f"has no default for `{keyword}`, and the schema has one"
    return None


def _missing_default(signature: PythonSignature, schema: FunctionSchema, offset: int) -> str | None:
    required = len(signature.required)
    positional = [a for a in schema.arguments if not a.kwarg_only]
    for index, argument in enumerate(positional):
        # Only defaults at the end can be left out.
        rest = positional[index:]
        if index + offset < required and all(a.default is not None for a in rest):
            return (
                f"`{signature.name}` has no default for `{argument.name}`, and the schema has one"
            )
    return None
