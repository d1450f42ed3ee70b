"""Derivative formulas: a frozen model of the expressions, and their parser.

    grad * other.conj()
    grads[0].defined() ? where(self >= 0, grads[0], weight) : zeros_like(self)

One grammar reads the formulas of PyTorch's `derivatives.yaml`, which are C++ expressions, and the
formulas of `derivatives:` in our own entries, which may also have keyword arguments and lists in
square brackets.
"""
