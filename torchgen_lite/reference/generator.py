"""Random number generators: `Generator(device="cpu")`, `manual_seed(n)`, `default_generator`.

`generator.random` is the NumPy generator that kernels draw from. The numbers are NumPy's, not
torch's.
"""

from __future__ import annotations

import numpy as np

from torchgen_lite.reference.device import as_device, device
from torchgen_lite.runtime import DispatchKey, DispatchKeySet


class Generator:
    """A source of random numbers on a device; it takes part in dispatch as c10's generator does."""

    __slots__ = ("_dispatch_keyset", "_seed", "device", "random")

    def __init__(self, device: device | str | None = None) -> None:
        self.device = as_device(device)
        # The backend's key alone, as in c10: a generator has no gradient.
        self._dispatch_keyset = DispatchKeySet(getattr(DispatchKey, self.device.backend))
        self.manual_seed(0)

    def manual_seed(self, seed: int) -> Generator:
        self._seed = seed
        self.random = np.random.default_rng(seed % 2**64)
        return self

    def initial_seed(self) -> int:
        return self._seed


default_generator = Generator()


def manual_seed(seed: int) -> Generator:
    """Seed the generator that is used where none is given."""
    return default_generator.manual_seed(seed)
