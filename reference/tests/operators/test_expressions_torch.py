"""Expressions that a person who types torch code types, with what torch answers: value, layout, or class of the error.

Numbers that don't fit, conversions, expanded tensors, memory formats, and what the Python bindings take beyond operators.
"""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("torch")

import torch

import torchgen_lite_reference as tl
from operators.exceptions import title_of
from operators.opinfo import attempt, difference

pytestmark = pytest.mark.torch

EXPRESSIONS = """
lib.full_like(u,300)
lib.full_like(u,-1)
lib.full_like(u,256)
lib.full_like(u,-300)
lib.full_like(u,1.7)
lib.full_like(u,float('nan'))
lib.full_like(f16,1e6)
lib.full_like(f16,float('inf'))
lib.full_like(b,2j)
lib.full_like(i64,2j)
lib.full_like(f16,1j)
lib.full_like(i64,1e30)
lib.full_like(lib.ones(1),1e300)
lib.full_like(i64,2**63)
lib.full((2,),300,dtype=lib.uint8)
lib.full((2,),1e300,dtype=lib.float32)
i8.clone().clamp(max=300)
i8.clone().clamp(min=-300)
u.clamp(min=-1)
u.clamp(min=1.5)
i8.clone().clamp_(max=300)
i8.clamp(max=lib.tensor(300))
i8.clamp_max(300)
f16.clamp(max=1e6)
f16.clamp(max=1e300)
lib.clamp(lib.tensor([1,2]),max=1e30)
lib.clamp(lib.ones(1),max=1e300)
u.clone().fill_(300)
u.clone().fill_(lib.tensor(300))
u.clone().fill_(lib.tensor(1.5))
u.clone().fill_(-1)
u.clone().fill_(float('inf'))
u.clone().fill_(2j)
b.clone().fill_(2j)
b.clone().fill_(0.5)
f16.clone().fill_(1e6)
i8.clone().fill_(lib.tensor(float('nan')))
i64.clone().fill_(1+0j)
u.clone().__setitem__(0,300)
u.clone().__setitem__(slice(None),300)
u.clone().__setitem__([0],300)
u.clone().__setitem__(u>1,300)
u.clone().__setitem__(0,-1)
u.clone().__setitem__(0,1.5)
u.clone().__setitem__(0,2j)
f16.clone().__setitem__(0,1e6)
i64.clone().__setitem__(0,float('nan'))
b.clone().__setitem__(0,2)
b.clone().__setitem__(0,2j)
u.clone().__setitem__([0],-1)
u.clone().__setitem__([0],1.5)
lib.where(b,u,300)
lib.where(b,300,u)
lib.where(b,u,-1)
lib.where(b,f16,1e6)
lib.where(b,lib.ones(2),1e300)
u.pow(300)
u**-1
i8**300
u.pow(lib.tensor(300))
lib.pow(300,u)
lib.pow(-1,u)
i8.pow(2.5)
f16.pow(1e6)
lib.pow(1e6,f16)
f16**-1e6
lib.ones(1)**1e300
lib.pow(1e300,lib.ones(1))
u**256
i64**2**63
b**2
b**True
u.add(300)
u+300
u-300
u*300
u.add(u,alpha=300)
u.add(u,alpha=-1)
i8.sub(i8,alpha=300)
u.eq(300)
i8.eq(300)
u>300
i8<300
lib.eq(f16,1e6)
u==-1
u//300
u%300
u&300
i8|300
lib.addcmul(u,u,u,value=300)
lib.addcdiv(f16,f16,f16,value=1e6)
lib.lerp(f16,f16,1e6)
lib.threshold(i8,300,1)
lib.threshold(i8,1,300)
lib.hardtanh(i8,-300,300)
lib.pad(u,(1,1),value=300)
lib.constant_pad_nd(u,(1,1),300)
u.masked_fill(b,300)
u.masked_fill(b,lib.tensor(300))
b.masked_fill(b,2j)
i64.masked_fill(b,2j)
u.masked_fill(b,lib.tensor(1.5))
u.index_fill(0,lib.tensor([0]),300)
u.index_fill(0,lib.tensor([0]),lib.tensor(300))
b.index_fill(0,lib.tensor([0]),1j)
u.scatter(0,lib.tensor([0]),300)
b.scatter(0,lib.tensor([0]),1j)
u.index_add(0,lib.tensor([0]),u[:1],alpha=300)
lib.scalar_tensor(300,dtype=lib.uint8)
lib.tensor(300,dtype=lib.uint8)
lib.tensor([-1],dtype=lib.uint8)
lib.tensor(1e300,dtype=lib.float32)
lib.tensor(2j,dtype=lib.float32)
lib.tensor([float('nan')],dtype=lib.int64)
lib.tensor([1.5],dtype=lib.int64)
lib.arange(300,dtype=lib.uint8)[-1]
lib.arange(0,300,100,dtype=lib.int8)
lib.arange(300,302,dtype=lib.uint8)
lib.linspace(0,300,3,dtype=lib.uint8)
lib.celu(f16,1e6)
lib.leaky_relu(f16,1e6)
lib.elu(f16,1e6)
lib.hardshrink(f16,1e6)
lib.softplus(f16,1e6)
lib.rsub(u,300)
lib.remainder(300,u)
lib.bitwise_and(300,u)
lib.dot(u,u)
lib.addmm(u[None],u[:,None],u[None],beta=300)
lib.addmm(lib.ones(2,2,dtype=lib.uint8),lib.ones(2,2,dtype=lib.uint8),lib.ones(2,2,dtype=lib.uint8),alpha=300)
u.new_full((1,),300)
lib.eye(2,dtype=lib.bool)
lib.tensor([.5j,0]).to(lib.bool)
lib.tensor([.5j,0]).bool()
lib.zeros(2,dtype=lib.bool).copy_(lib.tensor([.5j,0]))
lib.zeros(2,3,5,5).T[None,[0,-1,-4],[-1,-4,2],-3].stride()
lib.tensor([0.])%-3
lib.tensor([-0.])%3
lib.tensor([-3.])%3
lib.tensor([3.])%-3
lib.remainder(lib.tensor([0.,-0.,6.,-6.]),lib.tensor([-3.,3.,-3.,3.]))
lib.fmod(lib.tensor([0.,-0.,6.,-6.]),lib.tensor([-3.,3.,-3.,3.]))
lib.exp2(lib.tensor([complex('inf'),complex('-inf'),complex(float('-inf'),3), complex(1,float('inf')),complex('nan')]))
f16.clone().fill_(1e300)
lib.full_like(f16,1e300)
u.clone().fill_(lib.tensor(2j))
b.clone().fill_(lib.tensor(2j))
f16.clone().fill_(lib.tensor(1e300,dtype=lib.double))
lib.full_like(c,1e300)
lib.full_like(c,complex(1e300,0))
c.clamp(max=1)
lib.zeros(2).fill_(lib.tensor(2j))
b.masked_fill(b,lib.tensor(2j))
f16.masked_fill(b[:1],1e6)
f16.index_fill(0,lib.tensor([0]),1e6)
f16.scatter(0,lib.tensor([0]),1e6)
f16.add(f16,alpha=1e6)
i64.index_fill(0,lib.tensor([0]),1+0j)
c.index_fill(0,lib.tensor([0]),1j)
lib.zeros(1).expand(3).fill_(2)
lib.threshold_(lib.zeros(1).expand(3),1,5.)
lib.zeros(1).expand(3).masked_fill_(lib.tensor([True,False,False]),3.)
lib.zeros(1).expand(3).index_put_((lib.tensor([0]),),lib.tensor(3.))
lib.zeros(1,1).expand(3,3).tril_()
lib.ones(1,1).expand(3,3).triu_()
lib.zeros(1).expand(3).copy_(lib.ones(3))
lib.zeros(1).expand(3).add_(1)
lib.zeros(1).expand(3).zero_()
lib.zeros(1).expand(3).clamp_(1)
lib.zeros(1).expand(3).relu_()
lib.zeros(1).expand(3).masked_fill_(lib.tensor([True,False,False]),lib.tensor(3.))
lib.zeros(1).expand(3).scatter_(0,lib.tensor([0]),1.)
lib.zeros(1).expand(3).index_fill_(0,lib.tensor([0]),1.)
lib.zeros(1).expand(3).index_copy_(0,lib.tensor([0]),lib.ones(1))
lib.zeros(1).expand(3).index_add_(0,lib.tensor([0]),lib.ones(1))
lib.zeros(1).expand(3).__setitem__(0,1.)
lib.zeros(1).expand(3).__setitem__(slice(0,2),1.)
lib.zeros(1).expand(3).exp_()
lib.arange(3,out=lib.zeros(1,dtype=lib.int64).expand(3))
lib.hardtanh_(lib.zeros(1).expand(3))
lib.zeros(1).expand(3).lerp_(lib.ones(3),1.)
lib.zeros(1).expand(3).cumsum_(0)
lib.zeros(1).expand(3).logical_not_()
lib.take_along_dim(lib.arange(6).view(2,3),lib.tensor([[-1],[0]]),1)
lib.range(0,2,dtype=lib.bool)
lib.arange(0,2,dtype=lib.bool)
lib.linspace(0,2,3,dtype=lib.bool)
lib.logspace(0,2,3,dtype=lib.bool)
lib.zeros(3,dtype=lib.int64)[1:]._is_view()
lib.zeros(3,dtype=lib.int64)[1:]._base is not None
i64.view(2)._is_view()
lib.zeros(3,dtype=lib.int64).split(1)[0]._is_view()
copy.deepcopy(lib.ones(2).requires_grad_())
pickle.loads(pickle.dumps(lib.ones(2).requires_grad_()))
copy.deepcopy(lib.ones(2).requires_grad_()*2)
pickle.loads(pickle.dumps(lib.ones(2).requires_grad_()*2))
copy.copy(lib.ones(2).requires_grad_())
copy.copy(lib.ones(2).requires_grad_()*2)
lib.cat([])
lib.mm(lib.ones(1,2,dtype=lib.bool),lib.ones(2,3,dtype=lib.bool))
lib.max(lib.ones(2,2),lib.tensor(1))
lib.ones(4).tensor_split(lib.tensor(2))
lib.isclose(lib.ones(1),lib.ones(1),rtol=-1)
lib.where(lib.tensor(True))
lib.nonzero(lib.tensor(5),as_tuple=True)
lib.nonzero(lib.ones(2,2),as_tuple=True)
lib.zeros(2,requires_grad=True)
lib.ones(2,dtype=lib.int64,requires_grad=True)
lib.zeros(2,out=lib.ones(3),requires_grad=True)
lib.zeros(2,out=lib.ones(3),dtype=lib.float64)
lib.zeros(2,out=lib.ones(3),dtype=lib.float32,device='cpu')
lib.zeros(2,out=lib.ones(3),device='meta')
lib.zeros(2,out=lib.ones(3),layout=lib.sparse_coo)
lib.full((2,),3,out=lib.zeros(2),requires_grad=True)
lib.arange(3,out=lib.zeros(3),requires_grad=True)
lib.arange(3,out=lib.zeros(3),dtype=lib.int64)
lib.zeros_like(lib.ones(2),requires_grad=True)
lib.eye(2,requires_grad=True)
lib.ones(2).new_zeros(2,requires_grad=True)
lib.add(1,2)
lib.add(1,lib.ones(1))
lib.add(lib.ones(1),1,out=lib.zeros(1))
lib.add(1,2,out=lib.zeros(()))
lib.mul(2,i64,out=lib.zeros(2))
lib.div(1,2)
lib.sub(3,i64)
lib.floor_divide(7,2)
lib.true_divide(7,2)
lib.pow(2,3)
lib.remainder(7,2)
lib.maximum(1,2)
lib.bitwise_and(1,2)
lib.copysign(1,2)
lib.add(1,2,alpha=3)
lib.add(lib.ones(1),2,alpha=2,out=lib.zeros(1))
lib.eq(1,lib.ones(1))
lib.atan2(1,lib.ones(1))
lib.fmod(7,2)
i64<<2
i64>>1
2<<i64
i64.__lshift__(lib.tensor(2))
u<<8
i8<<7
i64<<64
i64<<-1
i64>>64
(-i64)>>64
i64>>-1
u>>9
lib.ones(2)<<1
lib.ones(2)>>1
b<<1
i64<<1.5
lib.bitwise_left_shift(i64,2)
lib.bitwise_left_shift(2,i64)
lib.ones(2).__lshift__(i64)
i64.data
i64.data._is_view()
lib.ones(2).requires_grad_().data.requires_grad
lib.zeros(2,3,4).mT.shape
lib.zeros(3).mT
lib.zeros(2,3).mT.shape
lib.zeros(2,3,4,5).is_contiguous(memory_format=lib.channels_last)
lib.zeros(2,3,4,5,).contiguous(memory_format=lib.channels_last).is_contiguous(memory_format=lib.channels_last)
lib.zeros(2,3).is_contiguous(memory_format=lib.channels_last)
lib.zeros(2,3).is_contiguous(memory_format=lib.preserve_format)
lib.zeros(1,1,1,1).is_contiguous(memory_format=lib.channels_last)
lib.max(lib.ones(2,2),0)
lib.ones(2,2).sort()
lib.topk(lib.ones(3),2)
lib.ones(3).min(0).indices
lib.ops.aten.max.dim(lib.ones(2,2),0)
lib.any(lib.ones(2,3),dim=(0,1))
lib.any(lib.ones(2,3),dim=[])
lib.any(lib.ones(2,3),dim=None,keepdim=True)
lib.all(lib.ones(2,3),dim=())
lib.tensordot(lib.ones(2,3),lib.ones(3,2),dims=1)
lib.tensordot(lib.ones(2),lib.ones(3),dims=0)
lib.tensordot(lib.ones(2,3),lib.ones(2,3),dims=([0,1],[0,1]))
lib.tensordot(lib.ones(2,3),lib.ones(2,3),2)
lib.tensordot(lib.ones(2,3),lib.ones(3,3),-1)
lib.tensordot(lib.ones(2,3),lib.ones(3,3),[[1],[0]])
lib.meshgrid(lib.ones(2),lib.ones(3))[0].shape
lib.meshgrid([lib.ones(2),lib.ones(3)],indexing='xy')[0].shape
lib.meshgrid()
lib.atleast_1d(lib.tensor(1.))
lib.atleast_1d(lib.tensor(1.),lib.ones(2))
lib.atleast_2d([lib.tensor(1.),lib.ones(2)])
lib.atleast_2d()
lib.atleast_2d(lib.ones(2),1)
i64.to(memory_format=lib.channels_last)
lib.zeros(2,3,4,5).to(memory_format=lib.channels_last).stride()
lib.zeros(2,3,4,5).to(lib.float32,memory_format=lib.channels_last).stride()
lib.zeros(2,3).T.to(memory_format=lib.contiguous_format).stride()
lib.zeros(2,3).T.to(memory_format=lib.preserve_format).stride()
lib.zeros(2,3,4,5).float(memory_format=lib.channels_last).stride()
lib.norm(lib.ones(2,2),'fro')
lib.norm(lib.ones(2,2),p='inf')
lib.ones(2,2).norm('fro',1)
lib.gather(lib.ones(2),0,lib.tensor([5]))
lib.ones(2).scatter_(0,lib.tensor([5]),1.)
lib.ones(2).index_select(0,lib.tensor([5]))
lib.ones(2).index_add(0,lib.tensor([5]),lib.ones(1))
lib.ones(2).index_copy(0,lib.tensor([5]),lib.ones(1))
lib.ones(2).index_fill(0,lib.tensor([5]),1.)
lib.ones(2).index_select(0,lib.tensor([-1]))
lib.ones(2).gather(0,lib.tensor([-1]))
lib.ones(2).index_fill(0,lib.tensor([-1]),2.)
lib.ones(2).index_add(0,lib.tensor([-1]),lib.ones(1))
lib.ones(2).index_copy(0,lib.tensor([-1]),lib.ones(1))
lib.ones(2).scatter_add(0,lib.tensor([5]),lib.ones(1))
lib.ones(2).take(lib.tensor([5]))
lib.take_along_dim(lib.ones(2),lib.tensor([5]),0)
lib.take_along_dim(lib.ones(2),lib.tensor([-3]),0)
lib.take_along_dim(lib.ones(2),lib.tensor([-1]))
lib.take_along_dim(lib.ones(2),lib.tensor([1],dtype=lib.int32))
lib.take_along_dim(lib.ones(2),lib.tensor([1],dtype=lib.int32),0)
lib.take_along_dim(lib.empty(0),lib.tensor([],dtype=lib.int64),0)
lib.tensor([],dtype=lib.int64)//0
lib.tensor([],dtype=lib.int64)%lib.tensor([[0],[1]])
lib.fmod(lib.tensor([],dtype=lib.int64),0)
lib.div(lib.tensor([],dtype=lib.int64),0,rounding_mode='trunc')
lib.fmod(lib.tensor([1]),0)
lib.index_put(lib.ones(3),(lib.tensor([0,1]),),lib.ones(3))
lib.index_put(lib.ones(3),(lib.tensor([True,False,True]),),lib.ones(3),True)
lib.nonzero(lib.ones(1),as_tuple=True,out=lib.empty(0,dtype=lib.int64))
lib.nonzero(lib.ones(1),out=lib.empty(0,dtype=lib.int64))
lib.ones(1).nonzero(out=lib.empty(0,dtype=lib.int64))
lib.ones(2,3).norm(1,0,False,lib.float64)
lib.norm(lib.ones(2,3),1,0,False,lib.empty(3))
lib.meshgrid(lib.ones(1),indexing=None)
lib.tensordot(lib.ones(2,3),lib.ones(3,2),lib.tensor([1]))
lib.tensordot(lib.ones(2,3),lib.ones(3,2),(1,0))
lib.tensordot(lib.ones(2,3),lib.ones(3,2),1.5)
lib.relu(lib.ones(1,dtype=lib.complex64))
lib.relu(lib.ones(1,dtype=lib.bool))
lib.signbit(lib.ones(1,dtype=lib.complex64))
lib.lerp(i64,i64,1)
b.clamp(max=1)
c.sort()
lib.max(lib.ones(2),lib.tensor(1.),out=lib.zeros(2))
lib.arange(0,1,0)
lib.range(0,1,0)
lib.arange(0,-1)
lib.arange(0,float('inf'))
lib.hardtanh(lib.ones(1),2,1)
lib.linalg_vector_norm(i64)
lib.mean(i64)
lib.std(i64)
lib.round(lib.ones(1),decimals=1)
lib.round(i64,decimals=1)
i64.round(decimals=0)
lib.narrow(lib.ones(3),0,lib.tensor(1),1)
lib.mm(i64[:,None],lib.ones(1,2))
c.floor()
lib.cumsum(f16,0,out=lib.zeros(1,dtype=lib.int64))
"""


class Torch:
    """torch, with the operators that it keeps in `nn.functional` and `linalg` beside the others."""

    def __getattr__(self, name: str) -> Any:
        if name == "linalg_vector_norm":
            return torch.linalg.vector_norm
        functional = torch.nn.functional
        own = name in _FUNCTIONAL or not hasattr(torch, name)
        return getattr(functional if own else torch, name)


_FUNCTIONAL = {"threshold", "threshold_", "hardtanh", "hardtanh_", "celu", "hardshrink", "softplus"}


def names(lib: Any) -> dict[str, Any]:
    return {
        "lib": lib,
        "copy": copy,
        "pickle": pickle,
        "b": lib.tensor([True, False]),
        "u": lib.tensor([1, 2], dtype=lib.uint8),
        "i8": lib.tensor([1, 100], dtype=lib.int8),
        "i64": lib.tensor([1, 2]),
        "f16": lib.tensor([1.0], dtype=lib.float16),
        "c": lib.tensor([1j, 2]),
    }


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("expression", EXPRESSIONS.strip().splitlines())
def test_expression(expression: str) -> None:
    expected = attempt(eval, expression, names(Torch()))
    assert not isinstance(expected, AttributeError)
    found = difference(attempt(eval, expression, names(tl)), expected)
    name = expression.removeprefix("lib.").partition("(")[0]
    assert found is None or title_of(name, "error", found), found


def leaf(lib: Any, *shape: int) -> Any:
    return lib.ones(*shape, requires_grad=True)


def refused_first(lib: Any) -> Any:
    """An operator in place without a formula changes nothing that it refuses to change."""
    x = lib.full((2,), 2.5).requires_grad_()
    before = x._version
    error = attempt(x.floor_divide_, 2)
    return [type(error).__name__, x.detach().tolist(), x._version - before]


def copied_with_gradient(lib: Any) -> Any:
    x = leaf(lib, 2)
    (x * 3).sum().backward()
    twin = copy.deepcopy(x)
    twin.grad.add_(1)
    return [twin.requires_grad, twin.is_leaf, twin.grad.tolist(), x.grad.tolist()]


def shared_in_a_copy(lib: Any) -> Any:
    x = leaf(lib, 2)
    first, second = copy.deepcopy([x, x])
    return first is second and first is not x


def pickled(lib: Any) -> Any:
    made = pickle.loads(pickle.dumps(leaf(lib, 2) * 2))
    return [made.requires_grad, made.is_leaf, made.tolist()]


def layout_of_gradients(lib: Any) -> Any:
    x, y, z = leaf(lib, 2, 3), lib.ones(2, 3).T.requires_grad_(), lib.ones(4, 6)[:, ::2]
    z.requires_grad_()
    (x.T * 2).sum().backward()
    (y.T * 2).sum().backward()
    (z.T * 2).sum().backward()
    return [x.grad.stride(), y.grad.stride(), z.grad.stride()]


def hooks_after_accumulation(lib: Any) -> Any:
    x, seen = leaf(lib, 2), []
    handle = x.register_post_accumulate_grad_hook(lambda t: seen.append(t.grad.tolist()))
    x.sum().backward()
    (x * 2).sum().backward()
    handle.remove()
    x.sum().backward()
    return [seen, type(attempt((x * 2).register_post_accumulate_grad_hook, print)).__name__]


def data_of_a_leaf(lib: Any) -> Any:
    x = leaf(lib, 2)
    y = x * x
    x.data.mul_(2)
    y.sum().backward()
    x.data = lib.zeros(3)
    return [x.tolist(), x.requires_grad, x.data.requires_grad]


def replaced_data(lib: Any) -> Any:
    x, y = leaf(lib, 2), lib.ones(2, dtype=lib.float64)
    x.data = y
    y.add_(1)
    found = [x.tolist(), x._version, y._version, x.dtype == lib.float64]
    wrong = [lib.ones(2, dtype=lib.int64), lib.ones(2, device="meta"), lib.ones(2).to_sparse(), 3]
    return found + [type(attempt(setattr, x, "data", w)).__name__ for w in wrong]


def versions_of_factories(lib: Any) -> Any:
    made = [lib.zeros(2), lib.full((2,), 3), lib.arange(3), lib.eye(2), lib.rand(2)]
    values = leaf(lib, 1)
    sparse = lib.sparse_coo_tensor(lib.tensor([[0]]), values, (2,))
    return [*[x._version for x in made], lib.ones(2, out=lib.empty(2))._version, sparse.is_leaf]


def views_of_integers(lib: Any) -> Any:
    x = lib.zeros(3, dtype=lib.int64)
    return [x[1:]._is_view(), x[1:]._base is x, x.split(1)[0]._is_view(), x.clone()._is_view()]


def named_results(lib: Any) -> Any:
    x = lib.tensor([3.0, 1.0, 2.0])
    found = [x.max(0), lib.min(x, 0), x.sort(), lib.topk(x, 2), lib.sort(x, stable=True)]
    return [[type(f).__name__, f.values.tolist(), f.indices.tolist()] for f in found]


def in_place_shifts(lib: Any) -> Any:
    x = same = lib.tensor([1, 2])
    x <<= 3
    x >>= 1
    x <<= lib.tensor([0, 1])
    return x.tolist(), x is same


def formats_of_joined(lib: Any) -> Any:
    x = lib.zeros(2, 3, 4, 5).contiguous(memory_format=lib.channels_last)
    y = lib.zeros(2, 3, 4, 5)
    joined = [lib.cat([x, x], 1), lib.cat([x, y], 1), lib.cat([y, x]), lib.concat([x, x], -1)]
    return [made.stride() for made in joined]


PROGRAMS: list[Callable[[Any], Any]] = [
    refused_first,
    copied_with_gradient,
    shared_in_a_copy,
    pickled,
    layout_of_gradients,
    hooks_after_accumulation,
    data_of_a_leaf,
    replaced_data,
    versions_of_factories,
    views_of_integers,
    named_results,
    in_place_shifts,
    formats_of_joined,
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("program", PROGRAMS)
def test_program(program: Callable[[Any], Any]) -> None:
    expected = program(torch)
    assert program(tl) == expected
