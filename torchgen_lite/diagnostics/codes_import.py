"""Codes of `import`: TG601 to TG608, libraries that exist and what a schema file cannot say of them."""

from __future__ import annotations

from .code import Code


def _cpp(text: str, options: str = "") -> str:
    return f"-- ops.cpp --\n{text}\n$ torchgen-lite import ops.cpp{options}"


def _python(text: str) -> str:
    return f"-- mylib.py --\n{text}\n$ torchgen-lite import --module mylib"


_HEAD = "TORCH_LIBRARY(mylib, m) {"
_F = '  m.def("f(Tensor x) -> Tensor");'
_KERNEL = "namespace mylib {\nat::Tensor f_cpu(const at::Tensor& x) {\n  return x + 1;\n}\n}"
_IMPL = "TORCH_LIBRARY_IMPL(mylib, CPU, m) {"

IMPORT_CODES = (
    Code(
        "TG601",
        "a registration that is not understood",
        "error",
        "`import` reads C++ and compiles nothing. A macro that no file defines, or that files define in several ways, is "
        "given with `--macro 'NAME(a, b)=...'`. Registrations in a loop or in a function that is called, computed strings, "
        "and keys in variables are known only to the loaded library: use `import --module`.",
        _cpp("TORCH_LIBRARY(TORCH_EXTENSION_NAME, m) {\n" + _F + "\n}"),
        _cpp(
            "TORCH_LIBRARY(TORCH_EXTENSION_NAME, m) {\n" + _F + "\n}",
            " --macro TORCH_EXTENSION_NAME=mylib",
        ),
    ),
    Code(
        "TG602",
        "a kernel that has no name",
        "error",
        "`dispatch:` names a function. A lambda has no name; boxed kernels and fallthroughs are registered by hand. "
        "The kernel is left out of the entry.",
        _cpp(f'{_HEAD}\n{_F}\n  m.impl("f", [](const at::Tensor& x) {{ return x + 1; }});\n}}'),
        _cpp(f'{_KERNEL}\n{_HEAD}\n{_F}\n  m.impl("f", &mylib::f_cpu);\n}}'),
    ),
    Code(
        "TG603",
        "conditions that do not fit one entry",
        "error",
        "The `guard` of an entry applies to all of it. Decide what is meant where an operator is defined differently under "
        "two conditions, has two kernels for one key, or has a kernel with a condition of its own: write two files of "
        "which a build takes one, or give the operator one condition.",
        _cpp(
            f'{_KERNEL}\n{_HEAD}\n{_F}\n#ifdef FAST\n  m.impl("f", torch::kCPU, &mylib::f_cpu);\n#endif\n}}'
        ),
        _cpp(
            f'{_KERNEL}\n{_HEAD}\n#ifdef FAST\n{_F}\n  m.impl("f", torch::kCPU, &mylib::f_cpu);\n#endif\n}}'
        ),
    ),
    Code(
        "TG604",
        "a schema that cannot be known",
        "error",
        'The text is not a schema; or the schema follows from the type of the kernel (`m.def("f", &f)`), and the files do '
        "not declare that kernel, or declare it with an unknown type. The operator is left out.",
        _cpp(f'{_HEAD}\n  m.def("f", &mylib::f_cpu);\n}}'),
        _cpp(f'{_KERNEL}\n{_HEAD}\n  m.def("f", &mylib::f_cpu);\n}}'),
    ),
    Code(
        "TG605",
        "a kernel for an operator that nothing defines",
        "error",
        "None of the given files defines the operator. Many libraries define operators in one file and implement them in "
        "others: give the folder. Operators of PyTorch need no definition.",
        _cpp(f'{_KERNEL}\n{_IMPL}\n  m.impl("f", &mylib::f_cpu);\n}}'),
        _cpp(f'{_KERNEL}\n{_HEAD}\n{_F}\n}}\n{_IMPL}\n  m.impl("f", &mylib::f_cpu);\n}}'),
    ),
    Code(
        "TG606",
        "something that stays by hand",
        "warning",
        "A class, a fallback or the name of a Python module is not an operator: keep its line beside the generated code, "
        "which cannot reach a kernel in an unnamed namespace either, as that is in another file.",
        _cpp(
            "namespace mylib {\nnamespace {\nat::Tensor f_cpu(const at::Tensor& x) {\n  return x;\n}\n}\n"
            f'{_HEAD}\n{_F}\n  m.impl("f", torch::kCPU, &f_cpu);\n}}\n}}'
        ),
        _cpp(
            "namespace mylib {\nat::Tensor f_cpu(const at::Tensor& x) {\n  return x;\n}\n"
            f'{_HEAD}\n{_F}\n  m.impl("f", torch::kCPU, &f_cpu);\n}}\n}}'
        ),
    ),
    Code(
        "TG607",
        "a registration in Python that YAML cannot say",
        "error",
        "A gradient is a formula in YAML, and a kernel, a fake or a rule for vmap is the name of a function at the top of "
        "a module. Until there is one, keep the call in Python.",
        _python(
            'import torch\ntorch.library.define("mylib::f", "(Tensor x) -> Tensor")\n'
            'torch.library.impl("mylib::f", "CPU", lambda x: x + 1)'
        ),
        _python(
            'import torch\ntorch.library.define("mylib::f", "(Tensor x) -> Tensor")\n\n\n'
            'def f_cpu(x):\n    return x + 1\n\n\ntorch.library.impl("mylib::f", "CPU", f_cpu)'
        ),
        "where PyTorch is installed",
    ),
    Code(
        "TG608",
        "kernels whose names are not known",
        "warning",
        "PyTorch does not keep the names of C++ kernels, so they are named here after the operator and the key, or after "
        "the namespace of the registration. `import --module mylib csrc` takes the names from the sources.",
        _cpp(f'{_HEAD}\n{_F}\n  m.impl("f", torch::kCPU, &mylib::f_cpu);\n}}'),
        _cpp(f'{_KERNEL}\n{_HEAD}\n{_F}\n  m.impl("f", torch::kCPU, &mylib::f_cpu);\n}}'),
    ),
)
