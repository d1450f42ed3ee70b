"""`why` and `table`, computed from names of keys and from a live dispatcher."""

from __future__ import annotations

import pytest

from tests.unit.runtime.helpers import operator_with, registrations_of, says
from torchgen_lite.analysis.computed_table import Registrations, table
from torchgen_lite.cli.tables.explain import render_table, render_why, why
from torchgen_lite.runtime import fallthrough_kernel

ADD = Registrations(
    "ns::add",
    {"CPU": "add_cpu", "CompositeImplicitAutograd": "add", "Autograd": "add_autograd"},
    {"ADInplaceOrView": "fallthrough", "Tracer": "trace"},
)


def test_render_table() -> None:
    assert render_table(ADD) == (
        "ns::add\n"
        "  Undefined                                  CompositeImplicitAutograd  add\n"
        "  CPU                                        kernel                     add_cpu\n"
        "  CUDA .. NestedTensorMeta (84)              CompositeImplicitAutograd  add\n"
        "  ADInplaceOrView                            backend fallback           fallthrough\n"
        "  AutogradOther                              CompositeImplicitAutograd  add\n"
        "  AutogradCPU                                autograd kernel            add_autograd  [Autograd]\n"
        "  AutogradCUDA .. AutogradNestedTensor (16)  CompositeImplicitAutograd  add\n"
        "  Tracer                                     backend fallback           trace\n"
        "  nothing serves 31 keys\n"
    )


def test_render_table_of_all_keys() -> None:
    lines = render_table(ADD, ADD.sets.slots).splitlines()
    assert lines[4] == "  BackendSelect .. ZeroTensor (8)            missing"
    assert lines[-1] == "  AutocastCPU .. PythonDispatcher (23)       missing"


def test_render_table_of_an_operator_of_pytorch_with_kernels_over_it() -> None:
    own = frozenset({"PrivateUse1", "AutogradPrivateUse1"})
    over = {**ADD.kernels, "PrivateUse1": "add_mine", "AutogradPrivateUse1": "add_mine_too"}
    assert render_table(ADD._replace(kernels=over, own=own), ["CPU", "Fake", *own]) == (
        "ns::add\n"
        "  yours\n"
        "    PrivateUse1          kernel   add_mine\n"
        "    AutogradPrivateUse1  kernel   add_mine_too\n"
        "  PyTorch's\n"
        "    CPU                  kernel   add_cpu\n"
        "  nothing\n"
        "    Fake                 missing\n"
    )


def test_render_table_of_some_keys() -> None:
    assert render_table(ADD, ["AutogradCPU", "CPUTensorId"]) == (
        "ns::add\n"
        "  CPU          kernel           add_cpu\n"
        "  AutogradCPU  autograd kernel  add_autograd  [Autograd]\n"
    )


def test_render_why() -> None:
    assert render_why(ADD, why(ADD, ["CPU", "AutogradCPU"])) == (
        "ns::add called with CPU, AutogradCPU\n"
        "  included by the local state: BackendSelect, ADInplaceOrView\n"
        "  skipped, as there is nothing to do: BackendSelect, ADInplaceOrView\n"
        "\n"
        "call with DispatchKeySet(CPU, AutogradCPU)\n"
        "  highest key: AutogradCPU\n"
        "   no  1. a kernel is registered at this key itself\n"
        "   no  2. CompositeExplicitAutogradNonFunctional has a kernel and serves this key\n"
        "   no  3. CompositeExplicitAutograd has a kernel and serves this key\n"
        "   no  4. CompositeImplicitAutogradNestedTensor has a kernel and serves this key\n"
        "   no  5. CompositeImplicitAutograd has a kernel, serves this key, and no backend below it has its "
        "own\n"
        "  yes  6. Autograd has a kernel and serves this key\n"
        "  => autograd kernel: add_autograd, registered at Autograd\n"
        "\n"
        "redispatch with DispatchKeySet(CPU)\n"
        "  highest key: CPU\n"
        "  yes  1. a kernel is registered at this key itself\n"
        "  => kernel: add_cpu\n"
        "\n"
        "end: no keys are left below this kernel\n"
    )


@pytest.mark.parametrize(
    ("kernels", "keys", "slots", "end"),
    [
        ({"CPU": "k"}, ["CPU"], ["CPU"], "no keys are left"),
        ({"CPU": "k"}, [], ["Undefined"], "no kernel serves this key"),
        (
            {"Autograd": "a"},
            ["CPU", "AutogradCPU"],
            ["AutogradCPU", "CPU"],
            "no kernel serves this key",
        ),
        (
            {"Undefined": "i"},
            ["CPU", "AutogradCPU"],
            ["AutogradCPU"],
            "a composite kernel calls other",
        ),
        (
            {"CompositeImplicitAutograd": "i", "SparseCPU": "s"},
            ["SparseCPU", "AutogradOther"],
            ["AutogradOther"],
            "two kernels could serve this key",
        ),
        (
            {"CPU": "k", "AutogradCPU": "fallthrough"},
            ["CPU", "AutogradCPU"],
            ["CPU"],
            "no keys are left",
        ),
        (
            {"CPU": "k", "Tracer": "t", "AutogradCPU": "a"},
            ["CPU", "AutogradCPU", "Tracer"],
            ["Tracer", "AutogradCPU", "CPU"],
            "no keys are left",
        ),
    ],
)
def test_chains(kernels: dict[str, str], keys: list[str], slots: list[str], end: str) -> None:
    answer = why(Registrations("ns::op", kernels, {}), keys)
    assert [step.cell.key for step in answer.steps] == slots
    assert answer.end.startswith(end)


def test_the_python_dispatcher_is_not_below_itself() -> None:
    registrations = Registrations("ns::op", {"CPU": "k", "PythonDispatcher": "p"}, {})
    answer = why(registrations, ["CPU", "PythonDispatcher"])
    assert [step.cell.label for step in answer.steps] == ["p", "k"]


def test_unknown_keys() -> None:
    with pytest.raises(ValueError, match="^could not parse dispatch key: CPUU$"):
        why(ADD, ["CPUU"])
    with pytest.raises(ValueError, match="^could not parse dispatch key: CPUU$"):
        table(Registrations("ns::op", {"CPUU": "k"}, {}))


def test_a_live_operator_says_the_same() -> None:
    operator, dispatcher, keep = operator_with(
        "CPU", "CompositeImplicitAutograd", fallbacks=("Tracer",)
    )
    keep[0].impl("op", fallthrough_kernel, "AutogradCPU", debug="here")
    keep[0].impl("op", says(1), "SparseCPU", debug="sparse")
    registrations = registrations_of(operator)
    assert registrations == Registrations(
        "ns::op",
        {
            "CPU": "CPU",
            "CompositeImplicitAutograd": "CompositeImplicitAutograd",
            "AutogradCPU": "fallthrough here",
            "SparseCPU": "sparse",
        },
        {"Tracer": "fallback"},
    )
    filled = {cell.key: cell.origin for cell in table(registrations) if cell.origin != "missing"}
    assert filled == {key: cell.origin for key, cell in operator.computed_table().items()}
