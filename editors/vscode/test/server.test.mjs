// The server that the packaged extension starts, spoken to as it speaks: EXTENSION is where a .vsix is unpacked.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import rpc from "vscode-jsonrpc/node";

const root = process.env.EXTENSION ?? fileURLToPath(new URL("..", import.meta.url));
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const TEXT = "- func: mylib::f(Tensr self) -> Tensor\n  dispatch:\n    CPU, Meta: f_any\n";

test("the command of the settings starts a server", { timeout: 120_000 }, async (context) => {
  const [command, ...args] = manifest.contributes.configuration.properties["torchgenLite.command"].default;
  const folder = mkdtempSync(join(tmpdir(), "vscode-"));
  const path = join(folder, "ops.yaml");
  writeFileSync(path, TEXT);
  const child = spawn(command, args, { cwd: folder, stdio: "pipe" });
  context.after(() => child.kill());
  const exited = new Promise((resolve) => child.once("exit", resolve));
  const connection = rpc.createMessageConnection(
    new rpc.StreamMessageReader(child.stdout),
    new rpc.StreamMessageWriter(child.stdin),
  );
  let heard;
  connection.onNotification("textDocument/publishDiagnostics", (params) => heard?.(params));
  const next = () => new Promise((resolve) => (heard = resolve));
  connection.listen();

  const uri = pathToFileURL(path).href;
  const found = await connection.sendRequest("initialize", {
    processId: process.pid,
    rootUri: pathToFileURL(folder).href,
    capabilities: { textDocument: { publishDiagnostics: {} } },
  });
  assert.equal(found.serverInfo.name, "torchgen-lite");
  await connection.sendNotification("initialized", {});
  let told = next();
  await connection.sendNotification("textDocument/didOpen", {
    textDocument: { uri, languageId: "yaml", version: 1, text: TEXT },
  });
  const { diagnostics } = await told;
  assert.deepEqual(diagnostics.map((one) => [one.code, one.range.start]), [["TG202", { line: 0, character: 17 }]]);

  const actions = await connection.sendRequest("textDocument/codeAction", {
    textDocument: { uri },
    range: diagnostics[0].range,
    context: { diagnostics },
  });
  assert.equal(actions[0].edit.changes[uri][0].newText, "Tensor");
  told = next();
  await connection.sendNotification("textDocument/didChange", {
    textDocument: { uri, version: 2 },
    contentChanges: [{ text: TEXT.replace("Tensr", "Tensor") }],
  });
  assert.deepEqual((await told).diagnostics, []);
  await connection.sendRequest("shutdown");
  await connection.sendNotification("exit");
  assert.equal(await exited, 0);
  connection.dispose();
});

test("what the manifest names is in the package", () => {
  const { grammars, yamlValidation, tomlValidation } = manifest.contributes;
  for (const { url } of [...yamlValidation, ...tomlValidation]) {
    assert.equal(JSON.parse(readFileSync(join(root, url), "utf8")).$schema, "http://json-schema.org/draft-07/schema#");
  }
  for (const { path, scopeName } of grammars) {
    assert.equal(JSON.parse(readFileSync(join(root, path), "utf8")).scopeName, scopeName);
  }
  assert.match(readFileSync(join(root, manifest.main), "utf8"), /torchgenLite\.command/);
});
