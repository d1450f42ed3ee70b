"""Kernels with one mistake each, in place of the device's own."""

import sim  # noqa: F401
import torch
from _device_samples import Samples, call, sample_tests
from _device_tests import device_tests

library = torch.library.Library("aten", "IMPL")


def view(x, size):  # A copy: what is written to it is lost.
    return x.cpu().clone().view(size).to(x.device)


def relu(x):  # It takes any tensor to be contiguous.
    return x.as_strided(x.shape, x.contiguous().stride()).cpu().relu().to(x.device)


def sigmoid_backward(grad, result):  # Of the exponential function.
    return (grad.cpu() * result.cpu()).to(grad.device)


for name, kernel in {"view": view, "relu": relu, "sigmoid_backward": sigmoid_backward}.items():
    library.impl(name, kernel, "PrivateUse1", allow_override=True)


class Probes:
    def test_reading(self, device):
        return torch.ones(2, 2).to(device).view(4).sum()

    def test_writing(self, device):
        x = torch.ones(2, 2).to(device)
        x.view(4).zero_()
        return x


KERNELS = dict.fromkeys(["aten::view", "aten::relu", "aten::sigmoid_backward"], "float32")
SAMPLES = {
    "aten::relu": Samples([lambda: call(torch.randn(2, 3).t())]),
    "aten::view": Samples([lambda: call(torch.arange(6.0), [2, 3])]),
}
MORE = sample_tests(SAMPLES, KERNELS)
device_tests(globals(), "privateuse1", KERNELS, Probes, {"test_negated_*": ""}, MORE)
