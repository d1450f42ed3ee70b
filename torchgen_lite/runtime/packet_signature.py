"""What `inspect.signature` and `help` show for a function with overloads.

    add(self: 'Tensor', other: 'Tensor | Number', *arguments, alpha: 'Number' = 1, out=None) -> 'Tensor'

Parameters are shown as long as every overload has them at the same position. They are followed by `*arguments`, for
further positional parameters of some overloads, and by keyword-only parameters. A parameter that some overload does
not require is optional: its default is `...` if the overloads differ. Separate integers in place of a list are not
shown.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from inspect import Parameter, Signature, formatannotation, signature
from itertools import takewhile
from typing import Any

from .candidate import Candidate


def packet_signature(candidates: Sequence[Candidate], first: tuple[str, ...] = ()) -> Signature:
    """The signature that takes every call which one of `candidates` takes; `first` are put before it."""
    stubs = [signature(candidate.stub) for candidate in candidates]
    places = zip(*(candidate.names[: candidate.positional] for candidate in candidates))
    shared = [names[0] for names in takewhile(lambda names: len(set(names)) == 1, places)]
    keywords = dict.fromkeys(
        name for candidate in candidates for name in candidate.names[candidate.positional :]
    )
    rest = {
        name
        for candidate in candidates
        for name in candidate.names[len(shared) : candidate.positional]
    }
    taken = {name for candidate in candidates for name in candidate.names}
    parameters = [Parameter(_free(name, taken), Parameter.POSITIONAL_ONLY) for name in first]
    for index, name in enumerate(shared):
        required = all(index < candidate.required for candidate in candidates)
        parameters.append(_parameter(name, Parameter.POSITIONAL_OR_KEYWORD, stubs, required))
    if rest:
        parameters.append(Parameter(_free("arguments", taken), Parameter.VAR_POSITIONAL))
    for name in keywords:
        if name not in shared:
            required = all(name in candidate.required_keywords for candidate in candidates)
            parameters.append(_parameter(name, Parameter.KEYWORD_ONLY, stubs, required))
    if any(candidate.out is not None for candidate in candidates):
        parameters.append(Parameter("out", Parameter.KEYWORD_ONLY, default=None))
    if not rest <= {*keywords}:
        parameters.append(Parameter(_free("keywords", taken), Parameter.VAR_KEYWORD))
    returns = _joined(stub.return_annotation for stub in stubs)
    return Signature(parameters, return_annotation=returns)


def _free(name: str, taken: Collection[str]) -> str:
    """The name, with an underscore if it is that of an argument."""
    return f"_{name}" if name in taken else name


def _parameter(name: str, kind: Any, stubs: Iterable[Signature], required: bool) -> Parameter:
    mine = [stub.parameters[name] for stub in stubs if name in stub.parameters]
    default: Any = Parameter.empty
    if not required:
        default = mine[0].default if len({repr(one.default) for one in mine}) == 1 else ...
        default = ... if default is Parameter.empty else default
    annotation = _joined(one.annotation for one in mine)
    return Parameter(name, kind, default=default, annotation=annotation)


def _joined(annotations: Iterable[Any]) -> Any:
    """The union of the annotations of overloads, as text; none if one of them has none."""
    texts: dict[str, None] = {}
    for annotation in annotations:
        if annotation is Parameter.empty:
            return Parameter.empty
        text = annotation if isinstance(annotation, str) else formatannotation(annotation)
        texts[text] = None
    return " | ".join(texts) or Parameter.empty
