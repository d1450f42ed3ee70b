"""Codes of `import`, TG601 to TG608: what a schema file can't express about existing libraries."""

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
        "a registration that was not understood",
        "error",
        "`import` reads C++ without compiling it. Define a macro that no file defines, or that "
        "several files define differently, with `--macro 'NAME(a, b)=...'`. Registrations in a loop "
        "or in a called function, computed strings, and keys in variables are known only once the "
        "library is loaded: use `import --module`.",
        _cpp("TORCH_LIBRARY(TORCH_EXTENSION_NAME, m) {\n" + _F + "\n}"),
        _cpp(
            "TORCH_LIBRARY(TORCH_EXTENSION_NAME, m) {\n" + _F + "\n}",
            " --macro TORCH_EXTENSION_NAME=mylib",
        ),
    ),
    Code(
        "TG602",
        "a kernel without a name",
        "error",
        "`dispatch:` takes the name of a function, and a lambda has none; boxed kernels and "
        "fallthroughs have to be registered by hand. The entry is written without the kernel.",
        _cpp(f'{_HEAD}\n{_F}\n  m.impl("f", [](const at::Tensor& x) {{ return x + 1; }});\n}}'),
        _cpp(f'{_KERNEL}\n{_HEAD}\n{_F}\n  m.impl("f", &mylib::f_cpu);\n}}'),
    ),
    Code(
        "TG603",
        "conditions that do not fit one entry",
        "error",
        "The `guard` of an entry applies to the whole entry. If an operator is defined differently "
        "under two conditions, has two kernels for one key, or has a kernel with a separate "
        "condition, write two files, of which each build uses one, or give the operator a single "
        "condition.",
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
        "The text is not a schema; or the schema is inferred from the type of the kernel "
        '(`m.def("f", &f)`), and the files do not declare that kernel, or declare it with an unknown '
        "type. The operator is left out.",
        _cpp(f'{_HEAD}\n  m.def("f", &mylib::f_cpu);\n}}'),
        _cpp(f'{_KERNEL}\n{_HEAD}\n  m.def("f", &mylib::f_cpu);\n}}'),
    ),
    Code(
        "TG605",
        "a kernel for an operator that nothing defines",
        "error",
        "None of the given files defines the operator. Many libraries define operators in one file "
        "and implement them in others: pass the folder. Operators of PyTorch need no definition.",
        _cpp(f'{_KERNEL}\n{_IMPL}\n  m.impl("f", &mylib::f_cpu);\n}}'),
        _cpp(f'{_KERNEL}\n{_HEAD}\n{_F}\n}}\n{_IMPL}\n  m.impl("f", &mylib::f_cpu);\n}}'),
    ),
    Code(
        "TG606",
        "something that remains handwritten",
        "warning",
        "A class, a fallback or the name of a Python module is not an operator: keep that line next "
        "to the generated code. A kernel in an unnamed namespace cannot be called from generated "
        "code, which is in another file.",
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
        "a registration in Python that YAML cannot express",
        "error",
        "In YAML, a gradient is a formula, and a kernel, a fake or a rule for vmap is the name of a "
        "module-level function. Until you have written one, keep the call in Python.",
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
        "PyTorch does not keep the names of C++ kernels, so the kernels are named after the operator "
        "and the key, in the namespace of the registration. `import --module mylib csrc` takes the "
        "names from the sources.",
        _cpp(f'{_HEAD}\n{_F}\n  m.impl("f", torch::kCPU, &mylib::f_cpu);\n}}'),
        _cpp(f'{_KERNEL}\n{_HEAD}\n{_F}\n  m.impl("f", torch::kCPU, &mylib::f_cpu);\n}}'),
    ),
)
