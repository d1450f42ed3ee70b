"""Codes 1xx: the YAML, its fields, its keys."""

from __future__ import annotations

from .code import Code

YAML_CODES = (
    Code(
        "TG100",
        "invalid YAML",
        "error",
        "The file is not valid YAML. Nothing after the place shown was read.",
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
        "An entry has a field that neither PyTorch, in any release, nor this project knows. Fields of a "
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
        "duplicate key",
        "error",
        "YAML does not define which of two equal keys counts, and most parsers silently take the last one.",
        "- func: relu(Tensor self) -> Tensor\n  variants: method\n  variants: function",
        "- func: relu(Tensor self) -> Tensor\n  variants: function, method",
    ),
    Code(
        "TG106",
        "wrong type of value",
        "error",
        "The field takes another kind of value: a string and not a list, a list and not a mapping, "
        "and so on.",
        """\
- func: relu(Tensor self) -> Tensor
  device_guard: maybe""",
        """\
- func: relu(Tensor self) -> Tensor
  device_guard: False""",
    ),
    Code(
        "TG107",
        "invalid value",
        "error",
        "The field takes one of a fixed set of words, and this is not among them.",
        "- func: relu(Tensor self) -> Tensor\n  variants: methd",
        "- func: relu(Tensor self) -> Tensor\n  variants: method",
    ),
    Code(
        "TG108",
        "invalid kernel name",
        "error",
        "A kernel is named by an identifier, or by identifiers joined with `.` or `::`; `::f` is in the global "
        "namespace of C++. Other text never reaches generated code. To register an instance of a template, "
        "write a function that calls it.",
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
        "unsupported YAML feature",
        "error",
        "Schema files are plain data: tags such as `!!python/object`, merge keys and a second document "
        "are not supported. Anchors and aliases are.",
        "- func: !!python/name:os.system relu(Tensor self) -> Tensor",
        "- func: relu(Tensor self) -> Tensor",
    ),
    Code(
        "TG110",
        "limit exceeded",
        "error",
        "The file is too large, nested too deeply, has too many errors, or its aliases expand to too many "
        "nodes. The limits are far beyond what PyTorch's own file needs.",
        """\
$ yes '[' | head -n 999 > native_functions.yaml
$ torchgen-lite lint""",
        "- func: relu(Tensor self) -> Tensor",
    ),
    Code(
        "TG111",
        "unknown tag",
        "warning",
        "Tags are the names in PyTorch's tags.yaml. torchgen refuses any other tag, and other tools "
        "ignore it. Declare your own tags with `tags` in the configuration.",
        "- func: relu(Tensor self) -> Tensor\n  tags: pointwize",
        "- func: relu(Tensor self) -> Tensor\n  tags: pointwise",
    ),
    Code(
        "TG112",
        "retired field",
        "warning",
        "An earlier release of PyTorch had this field. It is still accepted.",
        "- func: relu(Tensor self) -> Tensor\n  use_c10_dispatcher: full",
        "- func: relu(Tensor self) -> Tensor",
    ),
    Code(
        "TG113",
        "former name of a dispatch key",
        "warning",
        "An earlier release of PyTorch used this name for the key. It is still accepted.",
        "- func: relu(Tensor self) -> Tensor\n  dispatch:\n    DefaultBackend: relu",
        "- func: relu(Tensor self) -> Tensor\n  dispatch:\n    CompositeExplicitAutograd: relu",
    ),
    Code(
        "TG114",
        "empty value",
        "error",
        "The field has no value. Remove the field, or give it a value.",
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
        "duplicate dispatch key",
        "error",
        "A key can have only one kernel, and this key occurs twice in the `dispatch:` table.",
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
        "conflicting fields",
        "error",
        "Two fields of the entry contradict each other, or one requires another that is missing.",
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
        "The file is not UTF-8, or contains a control character such as NUL.",
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
        "in the schema; the last line may be just a list of new parameters.",
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
        "`torch:` takes version comparisons, separated by commas.",
        '- func: relu(Tensor self) -> Tensor\n  torch: "2.6 or later"',
        '- func: relu(Tensor self) -> Tensor\n  torch: ">=2.6,<2.9"',
    ),
    Code(
        "TG120",
        "invalid suppression comment",
        "warning",
        "A `# torchgen-lite: ignore[...]` comment names a code that does not exist.",
        "- func: relu(Tensor self) -> Tensor  # torchgen-lite: ignore[TG40]",
        "- func: relu_(Tensor self) -> Tensor  # torchgen-lite: ignore[TG402] the name is historic",
    ),
    Code(
        "TG121",
        "invalid key",
        "error",
        "The keys of an entry are names, not lists or mappings, and not empty.",
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
        "`#if` is followed by one complete expression; a comment after it begins with `//`.",
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
        "`Complex`, `All`, `AllAndComplex` and `FloatingAndComplex` are groups of types.",
        "- func: neg(Tensor self) -> Tensor\n  structured_delegate: neg.out\n"
        "- func: neg.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  structured: True\n"
        "  ufunc_inner_loop:\n    Generic: neg (float32)",
        "- func: neg(Tensor self) -> Tensor\n  structured_delegate: neg.out\n"
        "- func: neg.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  structured: True\n"
        "  ufunc_inner_loop:\n    Generic: neg (Float)",
    ),
    Code(
        "TG125",
        "operator that cannot be a method",
        "error",
        "A method is called on its positional argument `self`. PyTorch does not bind methods with out arguments.",
        "- func: relu(Tensor input) -> Tensor\n  variants: method",
        "- func: relu(Tensor self) -> Tensor\n  variants: method",
    ),
    Code(
        "TG126",
        "tag that the entry cannot have",
        "error",
        "`generated` marks the operators that PyTorch's generator derives, so entries cannot have it. `inplace_view` "
        "is for operators that change the sizes, strides or storage of `self`: their names end in an "
        "underscore, and they write to `self`.",
        "- func: row(Tensor(a) self, int i) -> Tensor(a)\n  tags: inplace_view",
        "- func: turn_(Tensor(a!) self) -> Tensor(a!)\n  tags: inplace_view",
    ),
    Code(
        "TG127",
        "random operator without its tag",
        "warning",
        "An operator that takes a generator returns a different result for each call. Without the tag "
        "`nondeterministic_seeded`, compilers may run it again where they need its result twice; PyTorch's "
        "generator refuses the entry.",
        "- func: noise(Tensor self, *, Generator? generator=None) -> Tensor",
        "- func: noise(Tensor self, *, Generator? generator=None) -> Tensor\n"
        "  tags: nondeterministic_seeded",
    ),
    Code(
        "TG128",
        "tag that is not a name",
        "error",
        "A tag has to be an identifier: generated C++ contains `at::Tag::` followed by its name.",
        '- func: relu(Tensor self) -> Tensor\n  tags: "core}"',
        "- func: relu(Tensor self) -> Tensor\n  tags: core",
    ),
)
