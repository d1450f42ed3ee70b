"""The corpus: formulas of `self`, each with the gradient that it gives.

`value` is what PyTorch's own autograd differentiates with respect to `self`; where no function has such a gradient,
`gradient` is the gradient itself, as an expression of torch. `let` are values with names. A row that `raises` has a complex `alpha`. `cpp` and `python` are the codes under which
C++ or the Python targets refuse a formula that the other has.
"""

from __future__ import annotations

from typing import NamedTuple

# The arguments that no function of the stable ABI can have, and those that calls leave absent.
SCALARS = "Scalar alpha, Scalar? beta, "
_ABSENT = "int? gone, SymInt? unknown, float? vague, bool? unset, str? unsaid, int[]? none"
ONE = (
    "(Tensor self, Tensor other, Tensor? weight, Tensor[] xs, int n, int? m, float s, bool flag, "
    f"{SCALARS}int[] dims, str mode, SymInt k, SymInt[] sz, float[] fs, {_ABSENT}) -> Tensor"
)
ABSENT = ("gone", "unknown", "vague", "unset", "unsaid", "none")
TWO = "(Tensor self, Tensor other) -> (Tensor low, Tensor high)"
WRITES = "(Tensor(a!) self, Tensor other) -> Tensor(a!)"


class Row(NamedTuple):
    """A formula and what it gives; `used` are the results that the gradient comes through. One that `is_torchs`
    calls a function that the reference operators do not have."""

    formula: str
    value: str = ""
    gradient: str = ""
    schema: str = ONE
    used: tuple[int, ...] = (0,)
    of: str = "self"
    is_complex: bool = False
    raises: bool = False
    let: tuple[tuple[str, str], ...] = ()
    cpp: str = ""
    python: str = ""
    is_torchs: bool = False

    def is_refused(self, target: str) -> bool:
        """Whether a target does not have the row; no `Scalar` crosses the stable ABI."""
        if target == "cpp-torch-stable" and ("alpha" in self.formula or "beta" in self.formula):
            return True
        if target == "python" and self.is_torchs:
            return True
        return bool(self.cpp if target == "cpp-torch" else self.python)


def _of(formula: str, factor: str) -> Row:
    """A formula that is the gradient times a number."""
    return Row(f"grad * {formula}", f"self * {factor}")


ROWS = (
    # Numbers, as C++ computes them: 7 is n, 3 is m.
    _of("2", "2"),
    _of("2.5e0", "2.5"),
    _of(".5", ".5"),
    _of("-n", "-7"),
    _of("+n", "7"),
    _of("(n + 2 - 3)", "6"),
    _of("(-n % 3)", "math.fmod(-7, 3)"),
    _of("(n % -3)", "math.fmod(7, -3)"),
    _of("(-n % m)", "math.fmod(-7, 3)"),
    _of("(-self.size(1) % 2)", "math.fmod(-3, 2)"),
    _of("(n / 2)", "3.5"),
    _of("(n / m)", "(7 / 3)"),
    _of("(n / s)", "14"),
    _of("(1 / (n - 7))", "math.inf"),
    _of("(-1 / (s - s))", "-math.inf"),
    _of("(n & 5)", "5"),
    _of("(n | 8)", "15"),
    _of("(n ^ 2)", "5"),
    _of("(~n)", "-8"),
    _of("(flag + flag)", "2"),
    # Products of literals, too, have 64 bits.
    _of("(70000 * 70000)", "4900000000"),
    _of("(flag * 70000 * 70000)", "4900000000"),
    _of("((flag ? 70000 : 2) * -70000)", "-4900000000"),
    _of("((65535 | 1) * 70000)", "4587450000"),
    _of("(70000 % 60001 * 700000)", "6999300000"),
    _of("(flag & true)", "1"),
    _of("alpha", "1.5"),
    _of("-alpha", "-1.5"),
    _of("(alpha * n - alpha / 2)", "9.75"),
    _of("alpha.conj()", "1.5"),
    # A complex `Scalar` has no common meaning in arithmetic of numbers.
    Row("grad * (alpha + 1)", gradient="None", raises=True),
    Row("grad * (n / alpha)", gradient="None", raises=True),
    Row("grad * (alpha == s)", gradient="None", raises=True),
    Row("grad * (flag && alpha)", gradient="None", raises=True),
    Row("grad * !alpha", gradient="None", raises=True),
    Row("alpha ? grad : grad * 2", gradient="None", raises=True),
    # Comparisons bind as in C++, and are booleans of their own.
    _of("(n == 7)", "1"),
    _of("(n != 7)", "0"),
    _of("(n < 7)", "0"),
    _of("(n <= 7)", "1"),
    _of("(n > s)", "1"),
    _of("(n >= alpha)", "1"),
    _of("(3 > 2 > 1)", "0"),
    _of("(n & 5 == 5)", "1"),
    _of('(mode == "mean")', "1"),
    _of("(mode != 'mean')", "0"),
    _of("(n > 3 && flag)", "1"),
    _of("(n < 3 || !flag)", "0"),
    _of("((n && s) + (n - 7 || n))", "2"),
    _of("!s", "0"),
    _of("(s || n)", "1"),
    _of("(n && alpha)", "1"),
    _of("(flag && n && s - s)", "0"),
    # Lengths have a sign, and 64 bits.
    _of("-xs.size()", "-2"),
    _of("(n - 5 - xs.size() - dims.size())", "-2"),
    Row("n - 9 < xs.size() - 3 ? grad : grad * 2", "self"),
    _of("(1 / -dims.size())", "-.5"),
    _of("(-7 % xs.size())", "-1"),
    _of("(-sz.size() * fs.size() * 70000 * 70000)", "-19600000000"),
    _of("(flag ? xs.size() - 3 : n)", "-1"),
    _of("(xs.size() - 3 > 0)", "0"),
    _of("(n & xs.size() | ~dims.size())", "(7 & 2 | ~2)"),
    # Symbolic integers: k is 2, sz is [2, 3].
    _of("(+k - -k + self.size(1))", "7"),
    _of("(k * n % 3 - k % n + flag * k)", "2"),
    _of("(k / 4 + n / k - 1 / self.numel())", "(4 - 1 / 6)"),
    _of("(-(k / 4) * +(n / k))", "-1.75"),
    _of("(1.5 + self.numel() * s - alpha * k)", "1.5"),
    _of("(xs.size() / (1.5 + other.numel()))", "(2 / 7.5)"),
    _of("((k - 2) / 1 - 1 / (k - 2))", "-math.inf"),
    _of("(!k + !(k - 2) + !(k / 2 - 1))", "2"),
    _of("((k && flag) + (k - 2 || n) + (k / 2 && s))", "3"),
    Row("k ? grad : grad * 2", "self"),
    Row("k - 2 ? grad : k / 2 ? grad * 3 : None", "self * 3"),
    Row("self.shape[1] / 7 < n && n > k / 7 ? grad : None", "self"),
    _of("((k / 2 == 1) + (k == 2) + (k < 2.5) + (s <= k) + (alpha != k / 2))", "5"),
    _of("(flag ? k : n)", "2"),
    _of("(flag ? k / 4 : k)", ".5"),
    _of("(flag ? n : k / 4)", "7"),
    _of("(flag ? s : k / 4)", ".5"),
    _of("(flag ? k / 4 : alpha)", ".5"),
    _of("(flag ? k : alpha)", "2"),
    _of("(dims[k - 1] * sz[k - 1] * fs[-1] * fs[k - 2])", "-60"),
    Row("grad * xs[k - 1] * sz[-1]", "self * 15"),
    Row("grad[k - 1].expand({k, 3})", gradient="grad[1].expand(2, 3)"),
    # Where PyTorch's functions take numbers that are symbolic, and where they do not.
    Row("grad * pow(other, k) * other.pow(k / 2)", "self * other ** 3"),
    Row(
        "where(self > 0, grad, grad * k) + where(self > 0, other, k) * 0",
        "where(self > 0, self, self * 2)",
    ),
    Row("grad * full_like(other, k) * zeros_like(other).fill_(k / 4)", "self"),
    Row("grad * other.clamp(-k, k) * other.clamp(k)", "self * other.clamp(-2, 2) * other.clamp(2)"),
    Row("grad * arange(k).sum().item()", "self"),
    Row("grad * arange(1, k + 2).sum()", "self * 6"),
    Row("grad * full({k, 3}, k)", "self * 2"),
    Row("grad.sum({k - 2}, true).expand(sz)", gradient="grad.sum(0, True).expand(2, 3)"),
    Row("grad.sum(k - 1, true).expand({k, 3})", gradient="grad.sum(1, True).expand(2, 3)"),
    Row("grad.cumsum(k - 1)", gradient="grad.cumsum(1)"),
    Row("grad.flip({k - 1}).roll(k - 1, {k - 1})", gradient="grad.flip([1]).roll(1, [1])"),
    Row("grad.transpose(0, k - 1).reshape(sz)", gradient="grad.t().reshape(2, 3)"),
    Row(
        "grad * zeros({k, 3}) + grad.narrow(0, k - 2, k).select(k - 2, 0)",
        gradient="grad[0].expand(2, 3)",
    ),
    Row("grad.as_strided(sz, {3, 1}) + grad.as_strided(sz, {3, k - 1}) * 0", "self"),
    Row("grad * other.masked_fill(other > 0, k) * other.eq(k)", "self * (other == 2) * 2"),
    Row("grad * other.remainder(k) + grad * remainder(k, other)", "self * (other % 2 + 2 % other)"),
    Row("grad * other.softmax(k - 1)", "self * other.softmax(1)"),
    Row("grad * other.norm(k)", "self * other.norm()"),
    Row("grad * other.sum(sz.size() - 1).select(0, k - 2)", "self * other[0].sum()"),
    Row("grad * linspace(0, k, k + 1)", "self * torch.tensor([0.0, 1, 2])"),
    Row("grad * other.max(k - 2)[0]", "self * other.amax(0)"),
    # What is given by position is keyword-only in Python.
    Row("add(grad, other, n) - other * n", "self"),
    Row("grad.sub(other, 2).add(other, k) + sub(grad, other, s) * 0", "self"),
    Row("addcmul(grad, other, other, 2) - other * other * 2", "self"),
    Row("grad.addcdiv(other, other, s) - s", "self"),
    Row(
        'grad * self.div(other, "floor")', "self * self.detach().div(other, rounding_mode='floor')"
    ),
    Row("grad * std(other, {0, 1}, true, true)", "self * other.std()"),
    Row("grad * other.var(true)", "self * other.var()"),
    Row("grad * zeros({k, 3}, other.scalar_type()) + grad", "self"),
    # Functions, of which some are no methods.
    Row("grad * real(other) * conj(other)", "self * other * other", is_torchs=True),
    Row(
        "grad * special_xlog1py(other * other, other * other)",
        "self * torch.special.xlog1py(other ** 2, other ** 2)",
        python="TG341",
        is_torchs=True,
    ),
    # What may be absent equals what is there, or not.
    _of("((m == 3) + (n != m) + (m == k))", "2"),
    _of("((gone == n) + (n == gone) + (unknown == k) + (vague == s) + (unset == flag))", "0"),
    _of("((gone != n) + (k != unknown) + (vague != k / 2) + (unset != true))", "4"),
    _of("((beta == alpha) + (beta == n) + (beta != k) + (alpha == beta))", "1"),
    _of('((unsaid == "mean") + (unsaid == mode) + (unsaid != "x"))', "1"),
    _of("((gone == unknown) + (gone == gone) + (m == gone))", "2"),
    _of("(flag ? n : gone)", "7"),
    _of("(flag ? s : gone)", ".5"),
    _of("(flag ? m : s)", "3"),
    _of("(flag ? m : k)", "3"),
    Row("none.defined() ? grad * none[0] * none.size() : grad", "self"),
    Row("gone.defined() || unsaid.defined() ? grad : grad * 2", "self * 2"),
    # Conditions.
    Row("flag ? grad : grad * 2", "self"),
    Row("n - 7 ? grad : alpha ? grad * 3 : grad", "self * 3"),
    _of("(flag ? n : s)", "7"),
    _of("(flag ? 2 : 3) / 4", ".5"),
    _of("(flag ? 1 : self.size(0))", "1"),
    Row("flag ? None : grad", gradient="None"),
    Row("weight.defined() ? grad * weight : grad", "self * weight"),
    Row("m.defined() ? grad * m : grad", "self * 3"),
    Row("grad.defined() && !(n < 0) ? grad : None", "self"),
    # Tensors.
    Row("grad + other - 2", gradient="grad + other - 2"),
    Row("-grad / other", "-self / other"),
    Row("grad % 2", gradient="grad.remainder(2)"),
    Row("-grad % other", gradient="(-grad).remainder(other)"),
    Row("2 - grad", gradient="2 - grad"),
    Row("1 / other - grad", gradient="1 / other - grad"),
    Row("s / other - (2 / grad - alpha)", gradient="0.5 / other - (2 / grad - 1.5)"),
    Row("n % other - s % other", gradient="7 % other - 0.5 % other"),
    # Before integers and booleans, a number keeps its dtype.
    Row("grad * (2.5 - (self > 0) * 2)", "self * (2.5 - (self > 0) * 2)"),
    Row("grad * (alpha - ((self > 0) + 2))", "self * (1.5 - ((self > 0) + 2))"),
    Row("grad * (1 / ((self > 0) + 3))", gradient="grad * (1 / ((self > 0) + 3))"),
    Row("grad * (s / (self > 5))", gradient="grad * (0.5 / (self > 5))"),
    Row("grad * (7.5 % ((self > 0) + 2))", "self * (7.5 % ((self > 0) + 2))"),
    Row("grad * (n % ((self > 0) + 2))", "self * (7 % ((self > 0) + 2))"),
    Row("grad * (self > 0)", "self * (self > 0)"),
    Row(
        "grad * ((self > 0) & (other > 0) | (self < -1) ^ ~(other >= 1))",
        "self * ((self > 0) & (other > 0) | (self < -1) ^ ~(other >= 1))",
    ),
    Row("grad * (self == other) + grad * (self != 0)", "self"),
    Row("grad * (self <= other)", "self * (self <= other)"),
    Row("grad * result", gradient="grad * self * other"),
    Row("where(self > 0, grad, grad * 2)", "where(self > 0, self, self * 2)"),
    Row("at::where(self > 0, grad, grad * 2)", "where(self > 0, self, self * 2)"),
    Row("mul(grad, other).neg()", "-self * other"),
    Row("(self > 0).logical_or_(other > 0) * grad", "self * ((self > 0) | (other > 0))"),
    Row("sum(grad, {0}, true).expand(self.sizes())", gradient="grad.sum(0, True).expand(2, 3)"),
    Row(
        "grad.sum([0], keepdim=True).expand(self.shape)",
        gradient="grad.sum(0, True).expand(2, 3)",
        cpp="TG540",
    ),
    Row("grad * other.conj()", "self * other"),
    Row("grad * other.conj()", "self * other", is_complex=True),
    Row("grad.T.T", "self"),
    # Items.
    Row("grad * xs[0] + grad * xs[-1]", "self * xs[0] + self * xs[1]"),
    Row("grad * xs[n - 8]", "self * xs[1]"),
    Row("grad * xs.size() * dims.size()", "self * 4"),
    _of("dims[1]", "20"),
    _of("dims[n - 8]", "20"),
    _of("grad_input_mask[0]", "1"),
    Row("grad[0].expand(self.shape)", gradient="grad[0].expand(2, 3)"),
    Row("grad[-1].expand(self.shape)", gradient="grad[1].expand(2, 3)"),
    Row("cat({grad, other}, 0).narrow(0, 0, 2)", "self"),
    Row("grad.reshape([3, 2]).reshape({2, 3})", "self"),
    Row(
        "grad.sum(at::IntArrayRef{0}, true).expand({2, 3})",
        gradient="grad.sum(0, True).expand(2, 3)",
    ),
    # Facts.
    _of("self.size(0)", "2"),
    _of("self.size(-1)", "3"),
    _of("(self.shape[1] - self.ndim + self.dim())", "3"),
    _of("(1 / self.numel())", "(1 / 6)"),
    _of("(self.sym_size(0) + self.sym_sizes()[1] + self.sym_numel())", "11"),
    _of("(self.stride(0) + self.sym_strides()[1] + self.storage_offset())", "4"),
    _of("other.sum().item()", "6.25"),
    Row("zeros_like(self) + grad", "self"),
    Row("self.scalar_type() == other.scalar_type() ? grad * 2 : grad", "self * 2"),
    Row("self.device == other.device && self.layout() == other.layout ? grad : None", "self"),
    Row("other.is_floating_point() && !other.is_conj() ? grad : None", "self"),
    Row("other.requires_grad ? None : grad", "self"),
    Row("self.dtype == other.dtype ? grad * 2 : grad", "self * 2"),
    Row("other.is_complex() ? grad * 2 : grad * 3", "self * 3"),
    # Results that nobody asks for a gradient of are zeros, unless the formula asks.
    Row("grad_low * other + grad_high", "self * other + self", schema=TWO, used=(0, 1)),
    Row("grad_low * other + grad_high", "self", schema=TWO, used=(1,)),
    Row("grads[0] * other + grads[1] * 2", "self * 2", schema=TWO, used=(1,)),
    Row("grad_low.defined() ? grad_low * 2 : grad_high * 3", "self * 3", schema=TWO, used=(1,)),
    Row("grads[1].defined() ? grads[1] : grads[0] * 3", "self * 3", schema=TWO, used=(0,)),
    # An in-place operator saves what `self` was, and as its result what it has become.
    Row("grad * self", gradient="grad * self", schema=WRITES),
    Row("grad * other", "self * other", schema=WRITES),
    Row("grad * result", gradient="grad * self * other", schema=WRITES),
    # Lists have a gradient for each tensor.
    Row("{grad * 2, None}", gradient="(grad * 2).sum().reshape(1, 1)", of="xs"),
    Row("[grad * other, grad]", gradient="(grad * other).sum().reshape(1, 1)", of="xs"),
    # Values with names, and parts that are equal: each is computed once.
    Row(
        "grad * whole + grad * half",
        "self * other * 3",
        let=(("whole", "half * 2"), ("half", "other.abs() * other.sign()")),
    ),
    Row("grad * share", "self * 3", let=(("share", "m"),)),
    Row(
        "{half, half * 2}",
        gradient="(grad * other).sum().reshape(1, 1)",
        of="xs",
        let=(("half", "grad * other"),),
    ),
    Row("grad * other.exp() + grad * other.exp() * s", "self * other.exp() * 1.5"),
    Row("flag ? grad * other.exp() : grad * other.exp() * 2", "self * other.exp()"),
    Row("n && other.defined() ? grad * other + grad * other : None", "self * other * 2"),
    Row("(grad * other).mul_(2) + grad * other", "self * other * 3"),
    Row("grad_low * other + grad_low * other", "self * other * 2", schema=TWO),
    Row("grad * self.abs() + grad * self.abs()", gradient="grad * self.abs() * 2", schema=WRITES),
    # What only C++ has.
    Row("grad * M_PI", "self * math.pi", python="TG540"),
    Row("grad.contiguous(at::MemoryFormat::Contiguous)", "self", python="TG540"),
    Row("[](const at::Tensor& x) { return x * 2; }(grad)", "self * 2", python="TG540"),
    Row("grad * std::get<0>(at::max(xs[0], 0, true))", "self * xs[0].max()", python="TG540"),
    Row("grad * *m", "self * 3", python="TG540"),
    Row("grad.unsafeGetTensorImpl()->dim() ? grad : None", "self", python="TG540"),
)
