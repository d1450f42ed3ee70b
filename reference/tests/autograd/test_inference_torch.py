"""Inference mode: each program gives what it gives in PyTorch, or is refused for the same reason."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch")

import torch

import torchgen_lite_reference as tl
from autograd.inference_programs import PROGRAMS, Program
from torchgen_lite_runtime import local_state

pytestmark = pytest.mark.torch


def outcome(program: Program, lib: Any) -> Any:
    """What a program gives; of a message only the beginning, which says what is refused."""
    try:
        return program(lib)
    except RuntimeError as error:
        return str(error)[:45]


@pytest.mark.parametrize("name", PROGRAMS)
def test_both_say_the_same(name: str) -> None:
    assert outcome(PROGRAMS[name], tl) == outcome(PROGRAMS[name], torch)


def keys_of_ours(keyset: Any) -> set[str]:
    return {key.name for key in keyset}


def keys_of_theirs(keyset: Any) -> set[str]:
    text = str(keyset).removeprefix("DispatchKeySet(").removesuffix(")")
    return set(text.split(", ")) if text else set()


def test_keys_of_tensors_and_of_the_local_state() -> None:
    with tl.inference_mode(), torch.inference_mode():
        included = torch._C._dispatch_tls_local_include_set()
        assert keys_of_ours(local_state().included) == keys_of_theirs(included)
        for device in ("cpu", "meta"):
            mine, its = tl.ones([2], device=tl.device(device)), torch.ones([2], device=device)
            keys = keys_of_theirs(torch._C._dispatch_keys(its))
            assert keys_of_ours(mine._dispatch_keyset) == keys
            assert keys_of_ours(mine[0]._dispatch_keyset) == keys
        mine, its = tl.ones([2]).to_sparse(), torch.ones([2]).to_sparse()
        assert keys_of_ours(mine._dispatch_keyset) == keys_of_theirs(torch._C._dispatch_keys(its))
