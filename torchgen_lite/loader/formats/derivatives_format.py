"""The format of derivatives.yaml: formulas for operators that are declared elsewhere.

    - name: mul.Tensor(Tensor self, Tensor other) -> Tensor
      self: mul_tensor_backward(grad, other, self.scalar_type())
      other: mul_tensor_backward(grad, self, other.scalar_type())

In a vendor's file the list may be under `backward`, beside `all_version`, and an entry may have a
`version`. Formulas for a PyTorch operator apply to the vendor's backend; other backends use
PyTorch's formulas.
"""

from __future__ import annotations

from dataclasses import replace

from torchgen_lite.diagnostics import did_you_mean, meant
from torchgen_lite.loader.entry.derivatives import DEFAULT, read_derivatives
from torchgen_lite.loader.entry.reader import EntryReader
from torchgen_lite.loader.formats.earlier import Earlier
from torchgen_lite.loader.formats.vendor_versions import VendorVersions
from torchgen_lite.loader.yaml.nodes import ListNode, MapNode, Node, is_text
from torchgen_lite.schema import FunctionSchema, parse_schema
from torchgen_lite.schema.grouped import names_of

# Fields of a file that is not a list of entries.
_FIELDS = ("all_version", "backward")


def load_derivatives_file(reader: EntryReader, node: Node, earlier: Earlier) -> None:
    """Give the functions their formulas."""
    reader.check_names("field", reader.fields, (*_FIELDS, *reader.dialect.extra_fields))
    versions = VendorVersions(reader)
    plain = node.items if isinstance(node, ListNode) else None
    for item in plain or reader.items("backward", "a list of entries"):
        entry = EntryReader(reader.source, reader.diagnostics, reader.dialect, item)
        _load_item(entry, item, earlier, versions)


def _argument_names(schema: FunctionSchema) -> list[str]:
    return names_of(schema.arguments)


def _load_item(reader: EntryReader, node: Node, earlier: Earlier, versions: VendorVersions) -> None:
    if not isinstance(node, MapNode):
        reader.report(
            "TG101",
            "an entry must be a mapping",
            node,
            "here",
            "begin the entry with `- name: ...`",
        )
        return
    version = reader.fields.pop("version", None)
    releases = versions.every if version is None else versions.read("version", version[1])
    pair = reader.fields.pop("name", None)
    name = pair[1] if pair else None
    if not is_text(name):
        near = next((field for field in reader.fields if did_you_mean(field, ("name",))), "")
        reader.report(
            "TG104",
            "an entry without `name`",
            reader.fields[near][0] if near else node,
            "here",
            meant(near, "name") if near else None,
        )
        return
    reader.head = name
    schema, problems = parse_schema(name.value, locate=reader.locator(name))
    reader.diagnostics += problems
    derivatives = read_derivatives(reader, list(reader.fields.values()), reader.span(node))
    if schema is None or not (versions.has(releases) or earlier.has(schema.full_name)):
        return
    position = earlier.find(reader, schema.full_name, name)
    if position is None:
        return
    functions = earlier.functions
    names = _argument_names(schema)
    function = functions[position]
    every = earlier.positions(function.name)
    same = [at for at in every if _argument_names(functions[at].func) == names]
    if not same:
        reader.report(
            "TG307",
            f"the arguments of `{schema.full_name}` are named differently where it is declared",
            name,
            "formulas use these names",
            other=(function.func.span, "declared here"),
        )
        return
    if earlier.is_native(function.name):
        variants = dict(derivatives.variants)
        if DEFAULT in variants:
            variants["AutogradPrivateUse1"] = variants.pop(DEFAULT)
        derivatives = replace(derivatives, variants=tuple(variants.items()))
    for at in same:
        entry = functions[at]
        known = versions.of(entry.torch)
        rest = known - releases
        covered = known & releases
        if covered and rest:
            # The operator has the formulas in some of its releases.
            functions[at] = entry._replace(torch=versions.text(rest, entry.torch))
            entry = entry._replace(torch=versions.text(covered, entry.torch))
            at = len(functions)
            functions.append(entry)
        if covered:
            functions[at] = entry._replace(derivatives=derivatives)
