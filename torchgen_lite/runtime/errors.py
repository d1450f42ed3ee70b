"""The exceptions of the dispatcher. Their classes are those that PyTorch raises for the same mistakes."""

from __future__ import annotations


class DispatcherError(RuntimeError):
    """A registration or a look-up that breaks a rule of the dispatcher."""


class MissingKernelError(NotImplementedError):
    """A call whose keys lead to a slot without a kernel. PyTorch raises NotImplementedError here too."""


class AmbiguousKernelError(DispatcherError):
    """AutogradOther cannot choose between a backend's kernel and a CompositeImplicitAutograd one."""


def fallthrough_kernel(*arguments: object, **keywords: object) -> None:
    """The kernel that means: nothing to do at this key, continue with the next one.

    Register it with `Library.impl` or `Library.fallback`. It is never run: calls mask its keys out. A call that has no
    other key left, or a redispatch that names its key directly, ends up here and raises an error.
    """
    raise DispatcherError(
        "a fallthrough kernel was executed: no other key was left, or a redispatch named its key; "
        "mask the keyset with the keys below the kernel that redispatches"
    )
