// Runs pytest in Pyodide, CPython for WebAssembly: `node tests/pyodide.mjs FOLDER[:FOLDER]... -- ARGUMENT...`.
// The folders are those of installed packages; what is an extension module in them is not there for Pyodide.
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const require = createRequire(new URL("../docs/playground/package.json", import.meta.url));
const { loadPyodide } = require("pyodide");
const [folders, , ...options] = process.argv.slice(2);
const python = await loadPyodide({ env: { HOME: "/tmp", PYTHONDONTWRITEBYTECODE: "1", PYTEST_DISABLE_PLUGIN_AUTOLOAD: "1" } });
python.mountNodeFS("/repo", fileURLToPath(new URL("..", import.meta.url)));
const packages = folders.split(":").map((folder, index) => {
  python.mountNodeFS(`/packages${index}`, folder);
  return `/packages${index}`;
});
python.globals.set("packages", python.toPy(packages));
python.globals.set("options", python.toPy(options));
process.exitCode = python.runPython(`
import os, sys
os.chdir("/repo")
sys.path[:0] = ["/repo"]
sys.path += packages
from tests.in_pyodide import main
main(options)
`);
