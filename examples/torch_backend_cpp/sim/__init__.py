"""A device for PyTorch. Importing this registers it: torch.ones(2, device="sim")."""

import atexit
import sys
from collections.abc import Iterable
from functools import partial
from pathlib import Path

import torch
from torch import accelerator
from torch.autograd import Variable

torch.utils.rename_privateuse1_backend("sim")
torch.ops.load_library(str(Path(__file__).with_name("libsim.so")))

# PyTorch uses this module as `torch.sim`, and expects these functions and those below.
current_device, set_device = accelerator.current_device_index, accelerator.set_device_index
current_stream, set_stream = accelerator.current_stream, accelerator.set_stream
synchronize = accelerator.synchronize
if hasattr(accelerator, "get_device_capability"):  # PyTorch 2.10 and later.
    get_device_capability = accelerator.get_device_capability
memory_allocated, empty_cache = accelerator.memory_allocated, accelerator.empty_cache
max_memory_allocated, memory_stats = accelerator.max_memory_allocated, accelerator.memory_stats
memory_reserved, max_memory_reserved = accelerator.memory_reserved, accelerator.max_memory_reserved
reset_peak_memory_stats = accelerator.reset_peak_memory_stats
if hasattr(accelerator, "get_memory_info"):  # PyTorch 2.10 and later.
    mem_get_info = accelerator.get_memory_info
Stream, Event = partial(torch.Stream, device="sim"), partial(torch.Event, device="sim")


def fell_back() -> dict[str, int]:
    """How often each operator has run on the CPU so far because the device has no kernel for it."""
    return torch.ops.sim.fell_back()


class device(accelerator.device_index):
    """A context in which this device is the current one."""

    def __init__(self, of: torch.device | str | int | None) -> None:
        super().__init__(_index(of))


def device_count() -> int:
    return torch._C._accelerator_hooks_device_count()


def is_available() -> bool:
    return device_count() > 0


# PyTorch asks for the function in some places, and in others for the variable: `torch.utils.checkpoint` keeps the random
# numbers of the device only where the variable says so.
_initialized = True


def is_initialized() -> bool:
    return _initialized


def init() -> None:
    """Nothing is left to do."""


_lazy_init = init


def _is_in_bad_fork() -> bool:
    return False


def stream(stream: torch.Stream) -> torch.Stream:
    """Streams are contexts themselves."""
    return stream


def get_amp_supported_dtype() -> list[torch.dtype]:
    return [torch.bfloat16, torch.float16]


# Where random numbers come from, for each device.
default_generators = tuple(
    torch.Generator(device=f"sim:{index}") for index in range(device_count())
)
for _generator in default_generators:
    torch.ops.sim.set_default_generator(_generator)


def _index(of: torch.device | str | int | None) -> int:
    index = of if isinstance(of, int) else None if of is None else torch.device(of).index
    return current_device() if index is None else index


def get_rng_state(device: torch.device | str | int | None = None) -> torch.Tensor:
    return default_generators[_index(device)].get_state()


def set_rng_state(state: torch.Tensor, device: torch.device | str | int | None = None) -> None:
    default_generators[_index(device)].set_state(state)


def manual_seed(seed: int) -> None:
    default_generators[current_device()].manual_seed(seed)


def manual_seed_all(seed: int) -> None:
    for generator in default_generators:
        generator.manual_seed(seed)


def get_rng_state_all() -> list[torch.Tensor]:
    return [generator.get_state() for generator in default_generators]


def set_rng_state_all(states: Iterable[torch.Tensor]) -> None:
    for generator, state in zip(default_generators, states):
        generator.set_state(state)


def seed() -> None:
    """Begin anywhere."""
    default_generators[current_device()].seed()


def seed_all() -> None:
    """Begin anywhere, and on each device at the same place."""
    manual_seed_all(default_generators[current_device()].seed())


def initial_seed() -> int:
    return default_generators[current_device()].initial_seed()


class _NoInductor:
    """What inductor generates code with: nothing, which it says instead of failing somewhere."""

    supports_caching = False

    def __init__(self, *_: object) -> None:
        hint = 'torch.compile(..., backend="aot_eager") runs the device\'s kernels'
        raise NotImplementedError(f"inductor generates no code for `sim`: {hint}")

    @classmethod
    def create(cls, *_: object) -> "_NoInductor":
        return cls()


def __getattr__(name: str) -> type[_NoInductor]:
    """Inductor asks for these when it begins to compile."""
    if not name.endswith(("Scheduling", "WrapperCodegen", "WrapperFxCodegen")):
        raise AttributeError(name)
    from torch._inductor.codegen import common, cpu_device_op_overrides

    common.register_device_op_overrides("sim", cpu_device_op_overrides.CpuDeviceOpOverrides())
    return _NoInductor


torch._register_device_module("sim", sys.modules[__name__])


@atexit.register
def _let_go_of_python() -> None:
    """Have the threads that ran backward drop what they hold of Python, which aborts the program once Python is gone.

    A thread drops the graph that it ran when it takes the next one, and this one holds nothing of Python.
    """
    for index in range(device_count()):
        x = torch.empty((), device=f"sim:{index}", requires_grad=True)
        Variable._execution_engine.run_backward((x,), (x.detach(),), False, False, (), True, True)


# Tensors, modules and storages get `x.sim()` and `x.is_sim`.
torch.utils.generate_methods_for_privateuse1_backend(for_storage=True)
