"""Codes 1xx: the YAML, its fields, its keys."""

from __future__ import annotations

from .code import Code

YAML_CODES = (
    Code(
        "TG100",
        "invalid YAML",
        "error",
        "The file is not YAML. What follows the place shown was not read.",
        """\
- func: relu(Tensor self) -> Tensor
 dispatch:
    CPU, Meta: relu""",
        """\
- func: relu(Tensor self) -> Tensor
  dispatch:
    CPU, Meta: relu""",
    ),
    Code(
        "TG101",
        "not a list of entries",
        "error",
        "The file has to be a list whose items are mappings with a `func:` field.",
        "func: relu(Tensor self) -> Tensor",
        "- func: relu(Tensor self) -> Tensor",
    ),
    Code(
        "TG102",
        "unknown field",
        "error",
        "An entry has a field that no release of PyTorch and no extension of ours knows. Fields of a "
        "vendor can be declared with `extra-fields` in the configuration.",
        "- func: relu(Tensor self) -> Tensor\n  varians: method",
        "- func: relu(Tensor self) -> Tensor\n  variants: method",
    ),
    Code(
        "TG103",
        "unknown dispatch key",
        "error",
        "A key of a `dispatch:` table is not a dispatch key; `torchgen-lite list keys` lists them.",
        """\
- func: relu(Tensor self) -> Tensor
  dispatch:
    CPUU, Meta: relu""",
        """\
- func: relu(Tensor self) -> Tensor
  dispatch:
    CPU, Meta: relu""",
    ),
    Code(
        "TG104",
        "an entry without `func`",
        "error",
        "Every entry declares its operator with `func:` and a schema string.",
        "- variants: method",
        "- func: relu(Tensor self) -> Tensor\n  variants: method",
    ),
    Code(
        "TG105",
        "a key is written twice",
        "error",
        "YAML leaves open which of two equal keys counts, and most readers silently take the last one.",
        "- func: relu(Tensor self) -> Tensor\n  variants: method\n  variants: function",
        "- func: relu(Tensor self) -> Tensor\n  variants: function, method",
    ),
    Code(
        "TG106",
        "wrong type of a field's value",
        "error",
        "The field takes another kind of value: a string where a list stands, a list where a mapping "
        "stands, and so on.",
        """\
- func: relu(Tensor self) -> Tensor
  device_guard: maybe""",
        """\
- func: relu(Tensor self) -> Tensor
  device_guard: False""",
    ),
    Code(
        "TG107",
        "a value the field does not take",
        "error",
        "The field takes one of a few words, and this is none of them.",
        "- func: relu(Tensor self) -> Tensor\n  variants: methd",
        "- func: relu(Tensor self) -> Tensor\n  variants: method",
    ),
    Code(
        "TG108",
        "not the name of a kernel",
        "error",
        "A kernel is named by an identifier, or by identifiers joined with `.` or `::`; `::f` is in the global "
        "namespace of C++. Text that is anything else never reaches generated code. An instance of a template "
        "is registered by way of a function that calls it.",
        """\
- func: relu(Tensor self) -> Tensor
  dispatch:
    CPU, Meta: relu-cpu""",
        """\
- func: relu(Tensor self) -> Tensor
  dispatch:
    CPU, Meta: relu_cpu""",
    ),
    Code(
        "TG109",
        "a feature of YAML that is not read",
        "error",
        "Operator files are plain data: no tags such as `!!python/object`, no merge keys, no second "
        "document. Anchors and aliases are read.",
        "- func: !!python/name:os.system relu(Tensor self) -> Tensor",
        "- func: relu(Tensor self) -> Tensor",
    ),
    Code(
        "TG110",
        "the file goes beyond a limit",
        "error",
        "The file is too large, nested too deeply, has too many errors, or its aliases expand to too "
        "much. The limits are "
        "far beyond what PyTorch's own file needs.",
        """\
$ yes '[' | head -n 999 > native_functions.yaml
$ torchgen-lite lint""",
        "- func: relu(Tensor self) -> Tensor",
    ),
    Code(
        "TG111",
        "unknown tag",
        "warning",
        "Tags are the names in tags.yaml. torchgen refuses a tag that is not there, and every other "
        "reader ignores it. Declare tags of your own with `tags` in the configuration.",
        "- func: relu(Tensor self) -> Tensor\n  tags: pointwize",
        "- func: relu(Tensor self) -> Tensor\n  tags: pointwise",
    ),
    Code(
        "TG112",
        "retired field",
        "warning",
        "An earlier release of PyTorch had this field. It is read as what it was.",
        "- func: relu(Tensor self) -> Tensor\n  use_c10_dispatcher: full",
        "- func: relu(Tensor self) -> Tensor",
    ),
    Code(
        "TG113",
        "former name of a dispatch key",
        "warning",
        "An earlier release of PyTorch had this name for the key. It is read as what it was.",
        "- func: relu(Tensor self) -> Tensor\n  dispatch:\n    DefaultBackend: relu",
        "- func: relu(Tensor self) -> Tensor\n  dispatch:\n    CompositeExplicitAutograd: relu",
    ),
    Code(
        "TG114",
        "empty value",
        "error",
        "The field is there and has no value. Leave the field out, or give the value.",
        """\
- func: relu(Tensor self) -> Tensor
  dispatch:""",
        """\
- func: relu(Tensor self) -> Tensor
  dispatch:
    CPU, Meta: relu""",
    ),
    Code(
        "TG115",
        "a dispatch key in the table twice",
        "error",
        "A key can have one kernel. The same key stands in two lists of this `dispatch:` table.",
        """\
- func: relu(Tensor self) -> Tensor
  dispatch:
    CPU, CUDA, Meta: relu
    CUDA: relu_cuda""",
        """\
- func: relu(Tensor self) -> Tensor
  dispatch:
    CPU, Meta: relu
    CUDA: relu_cuda""",
    ),
    Code(
        "TG116",
        "fields that exclude each other",
        "error",
        "Two fields of the entry contradict each other, or one needs another that is not there.",
        """\
- func: relu(Tensor self) -> Tensor
  manual_kernel_registration: True
  dispatch:
    CPU, Meta: relu""",
        """\
- func: relu(Tensor self) -> Tensor
  dispatch:
    CPU, Meta: relu""",
    ),
    Code(
        "TG117",
        "a character that YAML forbids",
        "error",
        "The file is not UTF-8 text, or has a control character such as NUL in it.",
        """\
$ printf '%s\\0' '- func: relu(Tensor self) -> Tensor' > native_functions.yaml
$ torchgen-lite lint""",
        "- func: relu(Tensor self) -> Tensor",
    ),
    Code(
        "TG118",
        "malformed `precomputed`",
        "error",
        "Each line of `precomputed` is `argument -> type name, type name ...`, where the argument is "
        "one of the schema's; the last line may be a list of new parameters alone.",
        """\
- func: f(Tensor self, int dim) -> Tensor
  structured_delegate: f.out
- func: f.out(Tensor self, int dim, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  precomputed:
  - dimm -> int dim""",
        """\
- func: f(Tensor self, int dim) -> Tensor
  structured_delegate: f.out
- func: f.out(Tensor self, int dim, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  precomputed:
  - dim -> int dim""",
    ),
    Code(
        "TG119",
        "malformed version range",
        "error",
        "`torch:` takes version comparisons joined by commas.",
        '- func: relu(Tensor self) -> Tensor\n  torch: "2.6 or later"',
        '- func: relu(Tensor self) -> Tensor\n  torch: ">=2.6,<2.9"',
    ),
    Code(
        "TG120",
        "wrong suppression comment",
        "warning",
        "A `# torchgen-lite: ignore[...]` comment names a code that does not exist.",
        "- func: relu(Tensor self) -> Tensor  # torchgen-lite: ignore[TG40]",
        "- func: relu_(Tensor self) -> Tensor  # torchgen-lite: ignore[TG402] the name is historic",
    ),
    Code(
        "TG121",
        "a key that is not a name",
        "error",
        "The keys of an entry are names; a list, a mapping or an empty key is not.",
        """\
- func: relu(Tensor self) -> Tensor
  ? [variants]
  : method""",
        """\
- func: relu(Tensor self) -> Tensor
  variants: method""",
    ),
    Code(
        "TG122",
        "malformed build guard",
        "error",
        "`guard:` takes one preprocessor condition on one line, `#if`, `#ifdef` or `#ifndef`, or a list of them. "
        "Behind `#if` stands one whole expression; a comment behind that begins with `//`.",
        '- func: relu(Tensor self) -> Tensor\n  guard: "USE_ROCM"',
        '- func: relu(Tensor self) -> Tensor\n  guard: "#ifndef USE_ROCM"',
    ),
    Code(
        "TG123",
        "malformed operator name",
        "error",
        "The field takes the name of an operator, with its overload: `add.out`, `aten::relu`.",
        """\
- func: add(Tensor self) -> Tensor
  structured_delegate: add out
- func: add.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  structured: True""",
        """\
- func: add(Tensor self) -> Tensor
  structured_delegate: add.out
- func: add.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  structured: True""",
    ),
    Code(
        "TG124",
        "malformed `ufunc_inner_loop`",
        "error",
        "An inner loop is the name of a function and the element types that it serves: "
        "`add (AllAndComplex, Half)`. Types have the names of `ScalarType` in C++; `Integral`, `Floating`, "
        "`Complex`, `All`, `AllAndComplex` and `FloatingAndComplex` stand for several.",
        "- func: neg(Tensor self) -> Tensor\n  structured_delegate: neg.out\n"
        "- func: neg.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  structured: True\n"
        "  ufunc_inner_loop:\n    Generic: neg (float32)",
        "- func: neg(Tensor self) -> Tensor\n  structured_delegate: neg.out\n"
        "- func: neg.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  structured: True\n"
        "  ufunc_inner_loop:\n    Generic: neg (Float)",
    ),
    Code(
        "TG125",
        "method that cannot be one",
        "error",
        "A method is called on the argument `self`, by position. PyTorch binds no method with out arguments.",
        "- func: relu(Tensor input) -> Tensor\n  variants: method",
        "- func: relu(Tensor self) -> Tensor\n  variants: method",
    ),
    Code(
        "TG126",
        "tag that the entry cannot have",
        "error",
        "`generated` marks the operators that PyTorch's generator derives, so no entry has it. `inplace_view` "
        "is for an operator that changes the sizes, strides or storage of `self`: its name ends in an "
        "underscore, and `self` is written.",
        "- func: row(Tensor(a) self, int i) -> Tensor(a)\n  tags: inplace_view",
        "- func: turn_(Tensor(a!) self) -> Tensor(a!)\n  tags: inplace_view",
    ),
    Code(
        "TG127",
        "random operator without its tag",
        "warning",
        "An operator that takes a generator gives another result at each call. Without the tag "
        "`nondeterministic_seeded` compilers run it again where they need its result twice; PyTorch's "
        "generator refuses the entry.",
        "- func: noise(Tensor self, *, Generator? generator=None) -> Tensor",
        "- func: noise(Tensor self, *, Generator? generator=None) -> Tensor\n"
        "  tags: nondeterministic_seeded",
    ),
    Code(
        "TG128",
        "tag that is not a name",
        "error",
        "A tag is a name, since generated C++ has it behind `at::Tag::`.",
        '- func: relu(Tensor self) -> Tensor\n  tags: "core}"',
        "- func: relu(Tensor self) -> Tensor\n  tags: core",
    ),
)
