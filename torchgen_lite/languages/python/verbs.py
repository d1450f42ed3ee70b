"""The verbs of Python that templates call: `{{ kernel.schema | py.forwarded | join(", ") }}`.

Note [Verbs]
A template calls the language on what a target has decided: a schema, an entry, an argument. So no
view carries the text that a verb returns, and who reads the template sees what is printed. Verbs are
pure functions of values that compare by value, because `generate --watch` renders a file again only
if its context differs. The languages have the same verbs under the same names, if they have them
(`parameters`, `forwarded`, `returns`, `identifier`, `quote`); the prefix is the language.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from torchgen_lite.languages.python import runtime
from torchgen_lite.languages.python.names import identifier
from torchgen_lite.languages.python.signature import returned
from torchgen_lite.languages.text import quote, tuple_display
from torchgen_lite.schema import FunctionSchema


def returns(schema: FunctionSchema) -> str:
    """The annotation of the results: `Tensor`, `tuple[Tensor, Tensor]`, `None`."""
    return str(returned(runtime.returns(schema.returns)))


VERBS: Mapping[str, Callable[..., object]] = {
    "py.forwarded": runtime.forwarded,
    "py.identifier": identifier,
    "py.parameters": runtime.parameters,
    "py.quote": quote,
    "py.returns": returns,
    "py.tuple": tuple_display,
}
