from io import BytesIO

import mylib
import torch
from torch import nn
from torch.testing import assert_close

X = torch.arange(6.0).reshape(2, 3)


def test_tensors_get_there_and_back() -> None:
    x = X.to("mylib")
    assert x.device == torch.device("mylib:0") and x.is_mylib
    assert_close(x.cpu(), X)
    assert_close(x.t().contiguous().view(-1).double().cpu(), X.t().reshape(-1).double())
    assert x[1, 2].item() == 5.0
    assert repr(x) == "tensor([[0., 1., 2.],\n        [3., 4., 5.]], device='mylib:0')"


def test_every_variant_runs_the_kernel_of_the_out_variant() -> None:
    x, y = X.to("mylib"), X[0].to("mylib")
    out, before = torch.empty(0, device="mylib"), mylib.fell_back()
    results = [x + y, x.clone().add_(y), torch.add(x, y, out=out), torch.add(x, X[0, 0] + 1)]
    assert mylib.fell_back() == before
    for result, expected in zip(results, [X + X[0]] * 3 + [X + 1], strict=True):
        assert_close(result.cpu(), expected)
    assert_close((x.int() + y).cpu(), X.int() + X[0])


def test_what_falls_back_is_counted() -> None:
    before = mylib.fell_back().get("aten::exp.out", 0)
    assert_close(X.to("mylib").exp().cpu(), X.exp())
    assert mylib.fell_back()["aten::exp.out"] == before + 1


def test_a_network_has_the_gradients_that_it_has_on_the_cpu() -> None:
    torch.manual_seed(0)
    layers = [nn.Conv2d(1, 2, 3), nn.ReLU(), nn.ConvTranspose2d(2, 4, 3, groups=2), nn.Flatten()]
    network = nn.Sequential(*layers, nn.Linear(64, 3))
    images, gradients = torch.randn(2, 1, 4, 4), []
    for device in ("cpu", "mylib"):
        network.to(device).zero_grad()
        network(images.to(device)).square().mean().backward()
        gradients.append([parameter.grad.cpu() for parameter in network.parameters()])
    assert all(parameter.is_mylib for parameter in network.parameters())
    assert_close(gradients[1], gradients[0])


def test_torch_compile() -> None:
    def function(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return ((x @ w).relu() * 2 + x.sum()).sum()

    results = []
    for run in (function, torch.compile(function, backend="aot_eager", fullgraph=True)):
        w = torch.eye(3).to("mylib").requires_grad_()
        run(X.to("mylib"), w).backward()
        results.append(w.grad.cpu())
    assert_close(results[1], results[0])


def test_storages() -> None:
    x, file = X.to("mylib"), BytesIO()
    torch.save(x, file)
    file.seek(0)
    loaded = torch.load(file)
    assert loaded.device == x.device
    assert_close(loaded.cpu(), X)
    assert_close(x.unfold(1, 2, 1).cpu(), X.unfold(1, 2, 1))
    assert x.resize_(4, 3).shape == (4, 3)
    torch.accelerator.synchronize()
