"""Codes 0xx (configuration, command line, files), 5xx (templates and targets), 9xx (internal)."""

from __future__ import annotations

from torchgen_lite.diagnostics.code import Code

RUN_CODES = (
    Code(
        "TG001",
        "the configuration cannot be read",
        "error",
        "The configuration file does not exist, is not readable, or is not TOML.",
    ),
    Code(
        "TG002",
        "unknown configuration key",
        "error",
        "A key of `[tool.torchgen_lite]` that means nothing is a mistake and not a comment: a typing "
        "error would otherwise be ignored in silence.",
        '[tool.torchgen_lite]\noutput_dirs = "generated"',
        '[tool.torchgen_lite]\noutput-dir = "generated"',
    ),
    Code(
        "TG003",
        "wrong type of a configuration value",
        "error",
        "The value of a configuration key has another type than the key takes.",
        "[tool.torchgen_lite]\nschema = 3",
        '[tool.torchgen_lite]\nschema = ["native_functions.yaml"]',
    ),
    Code(
        "TG004",
        "two configurations",
        "error",
        "A folder has both `torchgen_lite.toml` and a `[tool.torchgen_lite]` table in its "
        "pyproject.toml. Which one is meant cannot be known; remove one of them.",
    ),
    Code(
        "TG005",
        "required version not met",
        "error",
        "`required-version` in the configuration does not admit the installed torchgen-lite.",
    ),
    Code(
        "TG006",
        "the file cannot be read",
        "error",
        "A schema file does not exist, is a folder, or may not be read.",
    ),
    Code(
        "TG007",
        "no schema file",
        "error",
        "Neither the configuration nor the command line names a schema file, and there is no "
        "native_functions.yaml beside the configuration.",
    ),
    Code(
        "TG008",
        "unknown target",
        "error",
        "The name is not the name of a target; `torchgen-lite list targets` lists them.",
    ),
    Code(
        "TG009",
        "the output cannot be written",
        "error",
        "The output folder, or a file in it, cannot be written. Nothing was written.",
    ),
    Code(
        "TG010",
        "a file that was not generated is in the way",
        "error",
        "A file that would be written exists and does not carry the marker of generated files, so "
        "somebody may have written it by hand. It is never overwritten; move or delete it.",
    ),
    Code(
        "TG011",
        "PyTorch's files were not found",
        "error",
        "`--torch` takes native_functions.yaml, tags.yaml and derivatives.yaml from the installed "
        "PyTorch, and none is installed in this environment (or it does not ship them).",
    ),
    Code(
        "TG012",
        "unknown name on the command line",
        "error",
        "The operator, dispatch key, code or template that was asked for does not exist.",
    ),
    Code(
        "TG013",
        "the output path leaves the output folder",
        "error",
        "A target gave a path that is absolute, contains `..`, or is given by two targets.",
    ),
    Code(
        "TG014",
        "the comparison base cannot be read",
        "error",
        "`breaking --against` takes a path or a git revision in which the schema files exist.",
    ),
    Code(
        "TG500",
        "a template failed",
        "error",
        "A template could not be found, parsed or rendered. With the built-in templates that is a "
        "fault of torchgen-lite; with `template-dirs` look at the line that is shown.",
    ),
    Code(
        "TG501",
        "the template is made for another version",
        "error",
        "Each template declares the `template-api` it was written for. Export the built-in template "
        "again and carry your changes over.",
    ),
    Code(
        "TG502",
        "unknown template",
        "warning",
        "A file in `template-dirs` has the name of no built-in template, so nothing uses it unless another "
        "template includes it.",
    ),
    Code(
        "TG510",
        "wrong target option",
        "error",
        "An option under `[tool.torchgen_lite.target.NAME]` is unknown or has a value that the "
        "target cannot take.",
    ),
    Code(
        "TG511",
        "the target cannot express this operator",
        "warning",
        "The language of the target has no form for a type or default of this operator, or its name is one "
        "that the generated code needs itself; the operator is left out of its output.",
    ),
    Code(
        "TG512",
        "schema that PyTorch's dispatcher cannot take",
        "error",
        "Operators of one's own are read by the dispatcher's parser, and that takes less than torchgen: no "
        "infinite numbers, no lists of lists or of texts, no default but `None` for an optional list or "
        "device, of layouts and memory formats only `strided` and `contiguous_format`. The library would "
        "abort when it is loaded.",
        "- func: mylib::clip(Tensor x, float limit=inf) -> Tensor",
        "- func: mylib::clip(Tensor x, float? limit=None) -> Tensor",
    ),
    Code(
        "TG513",
        "name that is taken in generated C++",
        "error",
        "A keyword of C++ gets an underscore, which can make it the name of another argument. A kernel "
        "without a namespace is in that of the library, where generated namespaces such as `ops` and "
        "`functions` are, too.",
        "- func: mylib::ops(Tensor x) -> Tensor",
        "- func: mylib::ops(Tensor x) -> Tensor\n  dispatch:\n    CompositeImplicitAutograd: ops_kernel",
    ),
    Code(
        "TG900",
        "internal error",
        "error",
        "torchgen-lite failed in a way it should not. Please report it with the entry that is named; "
        "`-v` prints the traceback.",
    ),
)
