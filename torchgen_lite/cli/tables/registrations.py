"""The registrations of an installed torch by name, for `table` and `why`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib import import_module

from torchgen_lite.analysis.computed_table import Registrations
from torchgen_lite.cli.session import Refused
from torchgen_lite.diagnostics import Diagnostic


def registrations_of_torch(modules: Iterable[str] = ()) -> list[Registrations]:
    """What an installed torch has registered, read from its dumps.

    `modules` are imported first, for the operators that they register. Raises Refused if torch
    or a module cannot be imported, or if torch has keys that no table knows.
    """
    try:
        return list(_registrations(modules))
    except ModuleNotFoundError:
        raise Refused(Diagnostic("TG011", "PyTorch is not installed")) from None
    except ImportError as error:
        raise Refused(Diagnostic("TG012", str(error))) from None


def _registrations(modules: Iterable[str]) -> Iterator[Registrations]:
    from torchgen_lite.key_tables import dispatch_keys, table_of
    from torchgen_lite.loader.importing.torch_registry import registered_kernels
    from torchgen_lite.loader.torch_files import import_torch
    from torchgen_lite.loader.versions import parse_version

    torch = import_torch()
    for module in modules:
        try:
            import_module(module)
        except Exception as error:  # Whatever a user's module raises is reported to its author.
            raise ImportError(f"cannot import `{module}`: {error}") from error
    keys = table_of(parse_version(torch.__version__))
    known = dispatch_keys(keys)
    fallbacks = _fallbacks_of_torch()
    for name in sorted(torch._C._dispatch_get_all_op_names()):
        kernels = {}
        for one in registered_kernels(torch, name):
            kernels[one.key] = ("fallthrough " if one.is_fallthrough else "") + one.place
        for key in (*kernels, *fallbacks):
            if key not in known:
                release = f"PyTorch {torch.__version__}"
                raise ImportError(f"{release} has a dispatch key `{key}`, which is unknown here")
        yield Registrations(name, kernels, fallbacks, keys)


def _fallbacks_of_torch() -> dict[str, str]:
    """The computed table of an operator without kernels is the table of fallbacks."""
    import torch

    library = torch.library.Library("torchgen_lite_table", "DEF")  # type: ignore[no-untyped-call]
    library.define("nothing() -> ()")  # type: ignore[no-untyped-call]
    cells = torch._C._dispatch_dump_table("torchgen_lite_table::nothing").splitlines()
    return {key: cell.rpartition(" [")[0] for key, cell in (line.split(": ", 1) for line in cells)}
