"""Codes of derivative formulas: TG219 is about their syntax, TG320 and up about their meaning."""

from __future__ import annotations

from .code import Code

DERIVATIVE_CODES = (
    Code(
        "TG219",
        "invalid formula",
        "error",
        "A formula is an expression: names, numbers, calls, methods, `+ - * /`, comparisons, "
        "`test ? yes : no`, lists.",
        """\
- func: mul(Tensor self, Tensor other) -> Tensor
  dispatch:
    CPU, Meta: mul
  derivatives:
    self: grad * (other
    other: grad * self""",
        """\
- func: mul(Tensor self, Tensor other) -> Tensor
  dispatch:
    CPU, Meta: mul
  derivatives:
    self: grad * other
    other: grad * self""",
    ),
    Code(
        "TG320",
        "unknown name in a formula",
        "error",
        "A formula can use the operator's arguments, `grad` (with several results `grads[0]` or "
        "`grad_NAME`), `result` (`result0`, or the name of a result), and `grad_input_mask`. In C++, formulas "
        "may also use the constants of `<cmath>`, such as `M_PI`; those of PyTorch's operators may use "
        "members of its nodes, `retain_variables` and, in `_foreach_` operators, the index `i`.",
        """\
- func: mul(Tensor self, Tensor other) -> Tensor
  dispatch:
    CPU, Meta: mul
  derivatives:
    self: grad * othr
    other: grad * self""",
        """\
- func: mul(Tensor self, Tensor other) -> Tensor
  dispatch:
    CPU, Meta: mul
  derivatives:
    self: grad * other
    other: grad * self""",
    ),
    Code(
        "TG321",
        "formula for something without a derivative",
        "error",
        "The keys of `derivatives:` are arguments that are tensors or lists of them, results (for "
        "forward mode), `output_differentiability` and `dispatch`.",
        "- func: f(Tensor self, int dim) -> Tensor\n  derivatives:\n    self: grad\n    dim: grad",
        "- func: f(Tensor self, int dim) -> Tensor\n  derivatives:\n    self: grad",
    ),
    Code(
        "TG322",
        "formula calls an unknown operator",
        "error",
        "The functions of a formula are the operators of the schema file, by base name, and the "
        "functions of the modules in `formulas`; its methods are the operators that are methods too. "
        "Numbers have neither methods nor attributes.",
        """\
-- torchgen_lite.toml --
[target.python]
package = "ops"
kernels = ["kernels"]
-- native_functions.yaml --
- func: mul(Tensor self, Tensor other) -> Tensor
  dispatch:
    CPU, Meta: mul
  derivatives:
    self: grad * halve(other)
    other: grad * self
-- kernels.py --
def mul(self, other): ...""",
        """\
-- torchgen_lite.toml --
[target.python]
package = "ops"
framework = "torchgen_lite_reference.framework"
kernels = ["kernels"]
-- native_functions.yaml --
- func: mul(Tensor self, Tensor other) -> Tensor
  dispatch:
    CPU, Meta: mul
  derivatives:
    self: grad * other
    other: grad * self
-- kernels.py --
def mul(self, other): ...""",
    ),
    Code(
        "TG323",
        "formula calls an operator with the wrong arguments",
        "error",
        "No overload of the operator takes this number of arguments, or these keywords; or an argument is of the wrong "
        "kind: a tensor, a number, a list, a string. For C++, the number is checked for functions and methods of PyTorch, "
        "too.",
        """\
- func: mul(Tensor self, Tensor other) -> Tensor
  dispatch:
    CPU, Meta: mul
  derivatives:
    self: mul(grad)
    other: grad * self""",
        """\
- func: mul(Tensor self, Tensor other) -> Tensor
  dispatch:
    CPU, Meta: mul
  derivatives:
    self: mul(grad, other)
    other: grad * self""",
    ),
    Code(
        "TG324",
        "argument without a formula",
        "warning",
        "If one argument has a formula, every other tensor needs one too, or the word "
        "`not_differentiable`. Without either, a call raises an error if the tensor requires a gradient, as in "
        "PyTorch, since the gradient would silently be missing. As in PyTorch, lists of tensors are not checked "
        "at run time.",
        """\
- func: mul(Tensor self, Tensor other) -> Tensor
  dispatch:
    CPU, Meta: mul
  derivatives:
    self: grad * other""",
        """\
- func: mul(Tensor self, Tensor other) -> Tensor
  dispatch:
    CPU, Meta: mul
  derivatives:
    self: grad * other
    other: grad * self""",
    ),
    Code(
        "TG325",
        "formula for an operator that has no derivative",
        "error",
        "A formula needs a result that is a tensor. An out variant is never differentiable, and an "
        "operator with a CompositeImplicitAutograd kernel is differentiated through what it calls.",
        """\
- func: square(Tensor self) -> Tensor
  dispatch:
    CompositeImplicitAutograd: square
  derivatives:
    self: 2 * grad * self""",
        """\
- func: square(Tensor self) -> Tensor
  dispatch:
    CPU, Meta: square
  derivatives:
    self: 2 * grad * self""",
    ),
    Code(
        "TG326",
        "formula without a gradient to start from",
        "error",
        "`output_differentiability` is False for every result that is a tensor, or each result is "
        "`not_differentiable`. So no gradient ever arrives, and the formulas never run.",
        """\
- func: sign_of(Tensor self) -> Tensor
  dispatch:
    CPU, Meta: sign_of
  derivatives:
    output_differentiability: [False]
    self: grad""",
        """\
- func: sign_of(Tensor self) -> Tensor
  dispatch:
    CPU, Meta: sign_of
  derivatives:
    output_differentiability: [False]""",
    ),
    Code(
        "TG327",
        "wrong use of gradients in a formula",
        "error",
        "With one differentiable result its gradient is `grad`. With several they are `grads[0]`, "
        "`grads[1]` ..., or `grad_NAME`; the formulas of one operator use one of these forms, and "
        "its arguments have none of these names.",
        """\
- func: halves(Tensor self) -> (Tensor low, Tensor high)
  dispatch:
    CPU, Meta: halves
  derivatives:
    self: grads[0] + grad""",
        """\
- func: halves(Tensor self) -> (Tensor low, Tensor high)
  dispatch:
    CPU, Meta: halves
  derivatives:
    self: grads[0] + grads[1]""",
    ),
    Code(
        "TG328",
        "output_differentiability doesn't fit the results",
        "error",
        "It is a list of True or False for each result, or of one condition for the only result.",
        """\
- func: sort(Tensor self) -> (Tensor values, Tensor indices)
  dispatch:
    CPU, Meta: sort
  derivatives:
    output_differentiability: [True]
    self: grad""",
        """\
- func: sort(Tensor self) -> (Tensor values, Tensor indices)
  dispatch:
    CPU, Meta: sort
  derivatives:
    output_differentiability: [True, False]
    self: grad""",
    ),
    Code(
        "TG329",
        "forward formula that doesn't fit",
        "error",
        "`auto_element_wise` needs one differentiable argument, with a formula, and one result; "
        "`auto_linear` needs one result. Other forward formulas use `ARGUMENT_p` and `ARGUMENT_t`.",
        """\
- func: mul(Tensor self, Tensor other) -> Tensor
  dispatch:
    CPU, Meta: mul
  derivatives:
    self: grad * other
    other: grad * self
    result: auto_element_wise""",
        """\
- func: exp(Tensor self) -> Tensor
  dispatch:
    CPU, Meta: exp
  derivatives:
    self: grad * result
    result: auto_element_wise""",
    ),
    Code(
        "TG342",
        "formula of the wrong kind",
        "error",
        "The formula for a `Tensor[]` gives a list with a gradient for each tensor, the formula for a `Tensor` gives one "
        "gradient, and the formula for several arguments gives as many results. The kinds of arguments, gradients and "
        "declared operators are known; results of helper functions are not checked.",
        """\
- func: total(Tensor[] parts) -> Tensor
  dispatch:
    CPU, Meta: total
  derivatives:
    parts: grad""",
        """\
- func: total(Tensor[] parts) -> Tensor
  dispatch:
    CPU, Meta: total
  derivatives:
    parts: total_backward(grad, parts)""",
    ),
)
