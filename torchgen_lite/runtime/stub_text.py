"""The stubs of an operator `stub`, with holes: tests/unit/runtime/test_stub.py writes this file."""

STUB = """\
def stub({parameters}) -> Any:
    _kernel: Callable[..., Any]
{tuples}    try:
        _kernel = _memo_stub[_state()]{path}
    except (KeyError, AttributeError, TypeError):
        _kernel = _handle_stub.resolve({dispatching})
    return _kernel({passed})
"""

REDISPATCH_STUB = """\
def redispatch_stub(_keyset: DispatchKeySet, {parameters}) -> Any:
{tuples}    try:
        _kernel: Callable[..., Any] = _redispatch_memo_stub[_keyset]
    except KeyError:
        _kernel = _handle_stub.resolve_redispatch(_keyset)
    return _kernel({passed})
"""

TUPLE = """\
    if {test}:
        {name} = _handle_stub.as_tuple({position}, {name})
"""
