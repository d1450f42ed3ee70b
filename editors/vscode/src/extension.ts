// Starts `torchgen-lite lsp` for YAML files. Which of them are schema files is for the server to say.
import * as vscode from "vscode";
import { LanguageClient, type LanguageClientOptions } from "vscode-languageclient/node";

const HELP = "https://github.com/OWNER/torchgen_lite/blob/main/docs/editor.md#vs-code";
const OPTIONS: LanguageClientOptions = {
  documentSelector: [{ scheme: "file", language: "yaml" }],
  // What the server reads beside open schema files: configurations and modules of kernels.
  synchronize: {
    fileEvents: vscode.workspace.createFileSystemWatcher("**/{*.py,*.yaml,*.yml,pyproject.toml,torchgen_lite.toml}"),
  },
};
let client: LanguageClient | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  context.subscriptions.push(
    vscode.commands.registerCommand("torchgenLite.restart", restart),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("torchgenLite.command")) void restart();
    }),
  );
  await restart();
}

export async function deactivate(): Promise<void> {
  const running = client;
  client = undefined;
  if (running?.isRunning()) await running.stop();
}

async function restart(): Promise<void> {
  await deactivate();
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? ".";
  const given = vscode.workspace.getConfiguration("torchgenLite").get<string[]>("command", []);
  const [command = "torchgen-lite", ...args] = given.map((part) => part.replaceAll("${workspaceFolder}", folder));
  client = new LanguageClient("torchgenLite", "torchgen_lite", { command, args }, OPTIONS);
  try {
    await client.start();
  } catch (error) {
    const said = `\`${[command, ...args].join(" ")}\` does not start: ${error}`;
    const chosen = await vscode.window.showErrorMessage(said, "How to install it", "Settings");
    if (chosen === "Settings") {
      await vscode.commands.executeCommand("workbench.action.openSettings", "torchgenLite.command");
    } else if (chosen !== undefined) {
      await vscode.env.openExternal(vscode.Uri.parse(HELP));
    }
  }
}
