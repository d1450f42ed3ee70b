import subprocess
import sys
from io import BytesIO
from itertools import pairwise

import sim
import torch
from pytest import raises
from torch import nn
from torch.nn import functional as F
from torch.testing import assert_close
from torch.utils import dlpack
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, TensorDataset

X = torch.arange(6.0).reshape(2, 3)


def test_tensors_get_there_and_back() -> None:
    x = X.to("sim")
    assert x.device == torch.device("sim:0") and x.is_sim
    assert_close(x.cpu(), X)
    assert_close(x.t().contiguous().view(-1).double().cpu(), X.t().reshape(-1).double())
    assert x[1, 2].item() == 5.0
    assert repr(x) == "tensor([[0., 1., 2.],\n        [3., 4., 5.]], device='sim:0')"


def test_every_variant_runs_the_kernel_of_the_out_variant() -> None:
    x, y = X.to("sim"), X[0].to("sim")
    out, before = torch.empty(0, device="sim"), sim.fell_back()
    results = [x + y, x.clone().add_(y), torch.add(x, y, out=out), torch.add(x, X[0, 0] + 1)]
    assert sim.fell_back() == before
    for result, expected in zip(results, [X + X[0]] * 3 + [X + 1], strict=True):
        assert_close(result.cpu(), expected)
    assert_close((x.int() + y).cpu(), X.int() + X[0])


def test_what_falls_back_is_counted() -> None:
    before = sim.fell_back().get("aten::trace", 0)
    assert_close(X.to("sim").trace().cpu(), X.trace())
    assert sim.fell_back()["aten::trace"] == before + 1


def test_what_cannot_fall_back_is_refused_by_name() -> None:
    x, sizes = X.to("sim"), torch.tensor([[6]])
    with raises(NotImplementedError, match="aten::_cudnn_rnn_flatten_weight cannot fall"):
        torch.ops.aten._cudnn_rnn_flatten_weight([x], 1, 2, 0, 3, 0, 1, False, False)
    with raises(NotImplementedError, match="_nested_view_from_buffer returns a view"):
        torch.ops.aten._nested_view_from_buffer(x.view(-1), sizes, sizes, sizes[0])


def test_views_share_memory() -> None:
    z = torch.complex(X, X + 1)
    x = z.to("sim")
    assert_close(x.conj().cpu(), z.conj())
    assert_close((x.conj().imag + 1).cpu(), z.conj().imag + 1)
    x.conj().copy_(z)
    assert_close(x.cpu(), z.conj())
    x.real.zero_()
    torch.view_as_real(x)[..., 1] += 1
    assert_close(x.cpu(), torch.complex(torch.zeros(2, 3), -X))
    x.conj_physical_().set_()
    assert x.numel() == 0 and x.is_sim


def test_two_devices() -> None:
    x = X.to("sim:1")
    assert x.device == torch.device("sim:1") and x.exp().device == x.device
    assert torch.empty_like(x).device == (x + x).device == x.relu().device == x.device
    assert_close(x.to("sim:0").cpu(), X)
    with sim.device(1):
        assert torch.ones(2, device="sim").device == x.device
        taken = sim.memory_allocated()
    assert sim.current_device() == 0 and sim.memory_allocated(1) == taken > 0
    torch.manual_seed(0)
    assert_close(torch.rand(2, device="sim:1").cpu(), torch.rand(2, device="sim:0").cpu())


def test_devices_do_not_mix() -> None:
    x = X.to("sim")
    for function in (torch.cat, torch.hstack):
        with raises(RuntimeError, match="on the same device.*sim:0 and cpu"):
            function([x, X])
    with raises(RuntimeError, match="on the same device"):
        torch.sin(x, out=torch.empty(2, 3))
    with raises(RuntimeError, match="on the same device"):
        torch.atan2(x, X.to("sim:1"))
    assert_close(torch.atan2(x, torch.tensor(2.0)).cpu(), torch.atan2(X, torch.tensor(2.0)))
    assert_close(x[torch.tensor([1])].cpu(), X[1:])


def test_memory_without_values() -> None:
    torch.use_deterministic_algorithms(True)
    try:
        empty = torch.empty(2, device="sim")
        strided = torch.empty_strided((2,), (1,), dtype=torch.int64, device="sim")
    finally:
        torch.use_deterministic_algorithms(False)
    assert empty.isnan().all() and strided.tolist() == [2**63 - 1] * 2
    if hasattr(sim, "mem_get_info"):
        free, total = sim.mem_get_info()
        assert total - free == sim.memory_allocated() > 0


def test_a_normalization_of_images_with_channels_last() -> None:
    norm = nn.GroupNorm(2, 4)
    image = torch.rand(2, 4, 3, 3).to(memory_format=torch.channels_last)
    expected = norm(image)
    assert_close(norm.to("sim")(image.to("sim")).cpu(), expected)


def test_a_network_has_the_gradients_that_it_has_on_the_cpu() -> None:
    torch.manual_seed(0)
    layers = [nn.Conv2d(1, 2, 3), nn.ReLU(), nn.ConvTranspose2d(2, 4, 3, groups=2), nn.Flatten()]
    network = nn.Sequential(*layers, nn.Linear(64, 3))
    images, gradients = torch.randn(2, 1, 4, 4), []
    for device in ("cpu", "sim"):
        network.to(device).zero_grad()
        network(images.to(device)).square().mean().backward()
        gradients.append([parameter.grad.cpu() for parameter in network.parameters()])
    assert all(parameter.is_sim for parameter in network.parameters())
    assert_close(gradients[1], gradients[0])


def test_recurrent_networks() -> None:
    torch.manual_seed(0)
    x = torch.randn(5, 2, 3)
    for network in (nn.LSTM(3, 4, 2), nn.GRU(3, 4, bias=False), nn.GRU(3, 4), nn.RNN(3, 4)):
        gradients = []
        for device in ("cpu", "sim"):
            network.to(device).zero_grad()
            results, _ = network(x.to(device))
            results.square().sum().backward()
            gradients.append([parameter.grad.cpu() for parameter in network.parameters()])
        assert_close(gradients[1], gradients[0])


class Network(nn.Module):
    """Images to numbers, by convolution, normalization, attention, dropout and a linear layer."""

    def __init__(self, dropout: float) -> None:
        super().__init__()
        self.image = nn.Sequential(nn.Conv2d(1, 8, 3), nn.BatchNorm2d(8), nn.ReLU())
        self.attention = nn.TransformerEncoderLayer(8, 2, 16, dropout, batch_first=True)
        self.last = nn.Linear(8, 2)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        sequence = self.image(images).flatten(2).transpose(1, 2)
        attended = checkpoint(self.attention, sequence, use_reentrant=False)
        return self.last(attended.mean(1))


def train(device: str, dtype: torch.dtype, dropout: float = 0.0) -> list[float]:
    """The losses of a training script."""
    torch.manual_seed(0)
    images, network = torch.randn(64, 1, 5, 5), Network(dropout).to(device)
    labels = (images.mean((1, 2, 3)) > 0).long()
    loader = DataLoader(TensorDataset(images, labels), batch_size=16, pin_memory=True)
    optimizer = torch.optim.AdamW(network.parameters(), lr=0.01)
    losses = []
    for _ in range(10):
        for batch, label in loader:
            assert batch.is_pinned()
            with torch.autocast(device, dtype=dtype, enabled=dtype != torch.float32):
                results = network(batch.to(device, non_blocking=True))
                assert results.dtype == dtype
                loss = F.cross_entropy(results, label.to(device, non_blocking=True))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    return losses


def test_a_training_script() -> None:
    """It learns what it learns on the CPU, and learns with autocast and dropout, too."""
    assert_close(train("sim", torch.float32), train("cpu", torch.float32))
    for dtype in (torch.bfloat16, torch.float16):
        losses = train("sim", dtype, dropout=0.1)
        assert losses[0] > 0.5 and sum(losses[-4:]) / 4 < 0.3


def test_autocast() -> None:
    x = X.to("sim")
    with torch.autocast("sim", dtype=torch.float16):
        low = x.t() @ x
        assert (low.dtype, low.exp().dtype, low.sum().dtype) == (
            torch.float16,
            torch.float32,
            torch.float32,
        )
        with raises(RuntimeError, match="aten::binary_cross_entropy is not safe"):
            F.binary_cross_entropy(x, x)
    kernels = [
        {
            name
            for name in torch._C._dispatch_get_all_op_names()
            if torch._C._dispatch_has_kernel_for_dispatch_key(name, key) and "cudnn" not in name
        }
        for key in ("AutocastCUDA", "AutocastPrivateUse1")
    ]
    # PyTorch 2.14 has one rule that is in none of the lists of its header.
    kernels[0].discard("aten::linalg_matrix_sqrth")
    assert kernels[1] == kernels[0] and len(kernels[0]) > 100
    scaler, weight = torch.amp.GradScaler("sim"), torch.eye(3, device="sim", requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=1.0)
    scaler.scale((x @ weight).sum()).backward()
    scaler.step(optimizer)
    assert_close(weight.detach().cpu(), torch.eye(3) - X.sum(0)[:, None])


def test_random_numbers() -> None:
    own = torch.Generator(device="sim").manual_seed(1)
    expected = torch.rand(3, generator=torch.Generator().manual_seed(1))
    assert_close(torch.rand(3, generator=own, device="sim").cpu(), expected)
    with raises(RuntimeError, match="aten::uniform_ was given a generator of cpu"):
        torch.rand(3, generator=torch.Generator(), device="sim")
    draws = []
    for seed in (torch.manual_seed, torch.sim.manual_seed):
        seed(2)
        with torch.random.fork_rng(device_type="sim"):
            draws.append(torch.rand(3, device="sim"))
        draws += [torch.rand(3, device="sim"), F.dropout(torch.ones(100, device="sim"))]
    assert_close([draws[0], *draws[3:]], [draws[1], *draws[:3]])
    assert not draws[2].equal(F.dropout(torch.ones(100, device="sim")))


def test_streams_and_events() -> None:
    streams = [torch.Stream(device="sim"), torch.sim.Stream()]
    with streams[0]:
        assert torch.accelerator.current_stream() == streams[0] != streams[1]
        x = X.to("sim") + 1
    x.record_stream(streams[0])
    streams[1].wait_stream(streams[0])
    events = [torch.Event(device="sim", enable_timing=True) for _ in range(2)]
    for event, stream in zip(events, streams, strict=True):
        event.record(stream)
    assert events[1].query() and events[0].elapsed_time(events[1]) >= 0
    assert torch.accelerator.current_stream() not in streams
    with torch.sim.device("sim:0"):
        torch.accelerator.synchronize()
    with raises(RuntimeError, match="there is no device sim:2: there are 2"):
        torch.ones(1, device="sim:2")


def test_memory() -> None:
    before = torch.accelerator.memory_allocated()
    x = torch.ones(1000, device="sim")
    assert torch.accelerator.memory_allocated() == before + 4000
    del x
    assert torch.sim.memory_allocated() == before
    assert torch.sim.max_memory_allocated() >= before + 4000
    pinned = X.pin_memory()
    assert pinned[1:].is_pinned() and not X.is_pinned()
    x = pinned.to("sim", non_blocking=True)
    dlpack.from_dlpack(dlpack.to_dlpack(x)).zero_()
    assert_close(x.cpu(), torch.zeros(2, 3))
    with raises(RuntimeError, match="only memory of the CPU can be pinned"):
        torch.empty(1, device="sim", pin_memory=True)


def test_torch_compile() -> None:
    def function(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return ((x @ w).relu() * 2 + x.sum()).sum()

    results = []
    compiled = [torch.compile(function, backend=name) for name in ("eager", "aot_eager")]
    for run in (function, *compiled):
        w = torch.eye(3).to("sim").requires_grad_()
        run(X.to("sim"), w).backward()
        results.append(w.grad.cpu())
    for one, other in pairwise(results):
        assert_close(one, other)
    for refused in (lambda x: x + 1, lambda x: x.sum()):
        with raises(RuntimeError, match="inductor generates no code for `sim`"):
            torch.compile(refused)(X.to("sim"))


def test_a_program_may_end_with_backward() -> None:
    """Several at once, so that the threads that ran backward have to wait for a core."""
    program = """import sim, torch
torch.ones(1, device="sim", requires_grad=True).sum().backward()
"""
    programs = [subprocess.Popen([sys.executable, "-c", program]) for _ in range(4)]
    assert [one.wait() for one in programs] == [0] * 4


def test_storages() -> None:
    x, file = X.to("sim"), BytesIO()
    torch.save(x, file)
    file.seek(0)
    loaded = torch.load(file)
    assert loaded.device == x.device
    assert_close(loaded.cpu(), X)
    assert_close(x.unfold(1, 2, 1).cpu(), X.unfold(1, 2, 1))
    assert x.resize_(4, 3).shape == (4, 3)
    loaded.untyped_storage().resize_(48)
    assert_close(loaded.cpu(), X)
    torch.accelerator.synchronize()
