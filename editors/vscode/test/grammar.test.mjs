// The colors of a schema, as VS Code computes them: the grammar is injected into one for YAML, here a line of text.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import oniguruma from "vscode-oniguruma";
import textmate from "vscode-textmate";

const root = process.env.EXTENSION ?? fileURLToPath(new URL("..", import.meta.url));
const OURS = "torchgen-lite.schema";
const YAML = { scopeName: "source.yaml", patterns: [{ match: "#.*", name: "comment.line" }, { match: "\\b[\\w]+(?=:\\s)", name: "entity.name.tag.yaml" }] };

await oniguruma.loadWASM(readFileSync(createRequire(import.meta.url).resolve("vscode-oniguruma/release/onig.wasm")));
const registry = new textmate.Registry({
  onigLib: Promise.resolve({
    createOnigScanner: (sources) => new oniguruma.OnigScanner(sources),
    createOnigString: (text) => new oniguruma.OnigString(text),
  }),
  loadGrammar: async (scope) =>
    scope === OURS
      ? textmate.parseRawGrammar(readFileSync(join(root, "syntaxes/schema.tmLanguage.json"), "utf8"), "schema.json")
      : YAML,
  getInjections: (scope) => (scope === "source.yaml" ? [OURS] : undefined),
});
const grammar = await registry.loadGrammar("source.yaml");

// `text kind`, for the parts that the grammar knows.
function parts(line) {
  const { tokens } = grammar.tokenizeLine(line, textmate.INITIAL);
  return tokens
    .map(({ startIndex, endIndex, scopes }) => [line.slice(startIndex, endIndex), scopes.at(-1)])
    .filter(([, scope]) => scope.endsWith(".torchgen-lite") && !scope.startsWith("meta."))
    .map(([text, scope]) => `${text} ${scope.split(".").slice(0, 2).join(".")}`);
}

test("a schema", () => {
  const line = "- func: my::add_.out(Tensor(a!) self, int[2]? dim=None, *, float s=1.5) -> Tensor(a!) # why";
  assert.deepEqual(parts(line), [
    "my:: entity.name",
    "add_ entity.name",
    ".out entity.name",
    "Tensor support.type",
    "(a!) storage.modifier",
    "self variable.parameter",
    "int support.type",
    "? keyword.operator",
    "dim variable.parameter",
    "= keyword.operator",
    "None constant.language",
    "* keyword.operator",
    "float support.type",
    "s variable.parameter",
    "= keyword.operator",
    "1.5 constant.numeric",
    "-> keyword.operator",
    "Tensor support.type",
    "(a!) storage.modifier",
  ]);
});

test("names of types are names of arguments, too", () => {
  const [, ...found] = parts("- func: 'f(Device device, str layout=\"x\", MemoryFormat? Layout=strided) -> (Tensor values, int)'");
  assert.deepEqual(found.map((one) => one.split(" ")[0]), [
    "Device", "device", "str", "layout", "\"x\"", "MemoryFormat", "?", "Layout", "=", "strided", "->", "Tensor", "values", "int",
  ]);
  assert.equal(found[7], "Layout variable.parameter");
  assert.equal(found[13], "int support.type");
});

test("other values are left to YAML", () => {
  assert.deepEqual(parts("  doc: f(Tensor x) -> Tensor"), []);
  assert.deepEqual(parts("# - func: f(Tensor x) -> Tensor"), []);
});
