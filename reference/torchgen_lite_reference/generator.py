"""Random number generators: `Generator(device="cpu")`, `manual_seed(n)`, `default_generator`.

`generator.random` is the NumPy generator that kernels draw from. It is created on first use, because importing
`numpy.random` takes a tenth of the time that the whole library takes. The numbers are NumPy's, not torch's.
"""

from __future__ import annotations

import threading
from operator import index

import numpy as np

from torchgen_lite_reference.device import as_device, device
from torchgen_lite_runtime import DispatchKey, DispatchKeySet

_first_draw = threading.Lock()


class Generator:
    """A source of random numbers on a device; it takes part in dispatch as c10's generator does."""

    __slots__ = ("_dispatch_keyset", "_random", "_seed", "device")

    def __init__(self, device: device | str | None = None) -> None:
        self.device = as_device(device)
        # The backend's key alone, as in c10: a generator has no gradient.
        self._dispatch_keyset = DispatchKeySet(getattr(DispatchKey, self.device.backend))
        self.manual_seed(0)

    def manual_seed(self, seed: int) -> Generator:
        self._seed = index(seed)
        self._random: np.random.Generator | None = None
        return self

    @property
    def random(self) -> np.random.Generator:
        random = self._random
        if random is None:
            with _first_draw:
                random = self._random = self._random or np.random.default_rng(self._seed % 2**64)
        return random

    def initial_seed(self) -> int:
        return self._seed


default_generator = Generator()


def manual_seed(seed: int) -> Generator:
    """Seed the generator that is used if none is given."""
    return default_generator.manual_seed(seed)
