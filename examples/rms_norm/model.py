"""A small transformer whose normalizations are calls of one operator."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional

WORDS, WIDTH, HEADS, BLOCKS = 64, 32, 4, 2

Operator = Callable[[Tensor, Tensor, Tensor], tuple[Tensor, Tensor, Tensor]]


class AddRMSNorm(nn.Module):
    """The normalized sum of two tensors, and the sum, which is the residual of the next one."""

    def __init__(self, operator: Operator) -> None:
        super().__init__()
        self.operator, self.weight = operator, nn.Parameter(torch.ones(WIDTH))

    def forward(self, x: Tensor, residual: Tensor) -> tuple[Tensor, Tensor]:
        out, total, _ = self.operator(x, residual, self.weight)
        return out, total


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.q, self.k, self.v, self.out = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(4))

    def forward(self, x: Tensor) -> Tensor:
        # Each process of a tensor parallel model has some of the heads.
        parts = [part(x).unflatten(-1, (-1, WIDTH // HEADS)) for part in (self.q, self.k, self.v)]
        q, k, v = (part.transpose(1, 2) for part in parts)
        found = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(found.transpose(1, 2).flatten(2))


class MLP(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.up = nn.Linear(WIDTH, 4 * WIDTH, bias=False)
        self.down = nn.Linear(4 * WIDTH, WIDTH, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.down(functional.gelu(self.up(x)))


class Block(nn.Module):
    def __init__(self, operator: Operator) -> None:
        super().__init__()
        self.norm1, self.attention = AddRMSNorm(operator), Attention()
        self.norm2, self.mlp = AddRMSNorm(operator), MLP()

    def forward(self, x: Tensor, residual: Tensor) -> tuple[Tensor, Tensor]:
        x, residual = self.norm1(x, residual)
        x, residual = self.norm2(self.attention(x), residual)
        return self.mlp(x), residual


class Model(nn.Module):
    def __init__(self, operator: Operator) -> None:
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.blocks = nn.ModuleList(Block(operator) for _ in range(BLOCKS))
        self.norm, self.head = AddRMSNorm(operator), nn.Linear(WIDTH, WORDS, bias=False)

    def forward(self, words: Tensor) -> Tensor:
        x = self.words(words)
        residual = torch.zeros_like(x)
        for block in self.blocks:
            x, residual = block(x, residual)
        return self.head(self.norm(x, residual)[0])
