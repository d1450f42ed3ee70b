"""The fields of an entry of native_functions.yaml: what each is for and what it takes.

The one table behind the loader, `fmt` (its order is the canonical order) and the JSON Schema.
"""

from __future__ import annotations

from typing import NamedTuple

VARIANTS = ("function", "method")
AUTOCAST_RULES = ("float32", "lower_precision")
DEVICE_CHECKS = ("NoCheck", "ExactSame")
UFUNC_KEYS = (
    "CUDAFunctor",
    "CUDAFunctorOnOther",
    "CUDAFunctorOnSelf",
    "CPUScalar",
    "CPUVector",
    "ScalarOnly",
    "Generic",
)
UFUNC_DISPATCH_KEYS = ("CUDA", "CPU")
_INTEGRAL = ("Byte", "Char", "Int", "Long", "Short")
_FLOATING = ("Float", "Double")
_COMPLEX = ("ComplexFloat", "ComplexDouble")
# Words of `ufunc_inner_loop` that stand for several element types (torchgen `ScalarType`).
UFUNC_TYPE_CLASSES = {
    "Integral": _INTEGRAL,
    "Floating": _FLOATING,
    "Complex": _COMPLEX,
    "All": _INTEGRAL + _FLOATING,
    "AllAndComplex": _INTEGRAL + _FLOATING + _COMPLEX,
    "FloatingAndComplex": _FLOATING + _COMPLEX,
}


class Field(NamedTuple):
    """A field. `shape` is bool, text, words, mapping, list, name, any; `retired` says since when."""

    name: str
    shape: str
    description: str
    retired: str = ""
    ours: bool = False


_FIELDS = (
    Field("func", "text", "The schema: name, arguments, returns."),
    Field("doc", "text", "What the operator does; goes to docstrings and stubs.", ours=True),
    Field("torch", "text", "PyTorch versions that the operator is for: `>=2.6,<2.9`.", ours=True),
    Field("guard", "text", "A preprocessor condition around generated C++.", ours=True),
    Field("variants", "words", "Whether there is a function, a Tensor method, or both."),
    Field(
        "device_check", "words", "Whether arguments have to be on one device: NoCheck or ExactSame."
    ),
    Field("device_guard", "bool", "Whether generated C++ sets the current device."),
    Field("structured", "bool", "Whether kernels are split into a meta and an impl function."),
    Field("structured_delegate", "name", "The structured out variant that this variant uses."),
    Field("structured_inherits", "text", "The C++ class that the structured kernel derives from."),
    Field("precomputed", "list", "Arguments that the meta function replaces: `dim -> int dim`."),
    Field("ufunc_inner_loop", "any", "The inner loop of an element-wise kernel, by key."),
    Field("python_module", "text", "The Python module the function is put into, instead of torch."),
    Field("category_override", "text", "The category used in tracing and static runtime."),
    Field("manual_kernel_registration", "bool", "Kernels are registered by hand."),
    Field("manual_cpp_binding", "bool", "The C++ API function is written by hand."),
    Field("cpp_no_default_args", "list", "Arguments whose default the C++ API leaves out."),
    Field("dispatch", "mapping", "Kernels by dispatch key; several keys share one with commas."),
    Field("autogen", "words", "Operators that PyTorch's generator derives from this one."),
    Field("tags", "words", "Names from tags.yaml."),
    Field("fake", "any", "Shapes of the results, by a rule or a Python function.", ours=True),
    Field("vmap", "text", "The Python function that runs the operator under vmap.", ours=True),
    Field("autocast", "text", "Precision under autocast: float32, lower_precision.", ours=True),
    Field("derivatives", "any", "Derivative formulas by argument.", ours=True),
    Field("samples", "list", "Example arguments for tests.", ours=True),
    Field(
        "use_const_ref_for_mutable_tensors", "bool", "C++ takes written tensors by const reference."
    ),
    Field("use_c10_dispatcher", "any", "How the kernel was called.", retired="1.10"),
    Field("hacky_wrapper_for_legacy_signatures", "bool", "Adapted the kernel's signature.", "1.10"),
    Field("matches_jit_signature", "any", "Whether the schema was the JIT's.", retired="1.3"),
    Field("supports_named_tensor", "bool", "Whether names of dimensions were kept.", "1.6"),
    Field("named_guard", "bool", "Whether names of dimensions were refused.", retired="1.6"),
    Field("requires_tensor", "bool", "Whether one argument had to be a tensor.", retired="1.8"),
    Field("manual_kernel", "bool", "Kernels were registered by hand.", retired="1.8"),
    Field("abstract", "bool", "Whether there was no default kernel.", retired="1.8"),
    Field("deprecated", "bool", "Whether calling it gave a warning.", retired="1.8"),
    Field("device_init", "bool", "Whether the device was initialised first.", retired="1.10"),
    Field("zero_dim_dispatch_when_scalar", "any", "Legacy dispatch on zero dimensions.", "1.8"),
    Field("cpu_half", "bool", "Legacy kernels for half precision on CPU.", retired="1.8"),
    Field("cpu_bool", "bool", "Legacy kernels for bool on CPU.", retired="1.8"),
    Field("cuda_bool", "bool", "Legacy kernels for bool on CUDA.", retired="1.8"),
)
FIELDS: dict[str, Field] = {field.name: field for field in _FIELDS}
FIELD_ORDER: dict[str, int] = {field.name: index for index, field in enumerate(_FIELDS)}
