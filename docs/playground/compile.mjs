// Writes the byte code of what the page imports: `node compile.mjs FOLDER`, after the rest of the folder is there.
// It must be that of Pyodide's Python, so Pyodide compiles it. Compiling takes a fifth of the time to the first output.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadPyodide } from "pyodide";

const folder = process.argv[2];
const read = (name) => new Uint8Array(readFileSync(join(folder, name)));
const python = await loadPyodide();
const packages = python.runPython("import site; site.getsitepackages()[0]");
for (const name of ["packages.zip", "torchgen_lite.whl"]) python.unpackArchive(read(name), "zip", { extractDir: packages });
python.FS.mkdirTree("/project");
python.FS.writeFile("/project/aten.yaml", read("aten.yaml"));
python.FS.writeFile(`${packages}/playground.py`, read("playground.py"));
python.globals.set("text", JSON.parse(readFileSync(join(folder, "examples", "operators.json"), "utf-8")).text);
python.globals.set("packages", packages);
python.runPython(`
import json, py_compile, sys, zipfile
from pathlib import Path

import playground

project = playground.Playground("/project")
for name in playground.TARGETS:
    for view in ("files", "dispatch"):
        asked = {"text": text, "target": name, "view": view, "operator": "", "keys": ["CPU"]}
        project.answer(json.dumps(asked))

mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
with zipfile.ZipFile("/bytecode.zip", "w", zipfile.ZIP_DEFLATED) as archive:
    for module in list(sys.modules.values()):
        path = getattr(module, "__file__", None) or ""
        if path.startswith(packages):
            made = py_compile.compile(path, doraise=True, invalidation_mode=mode)
            archive.write(made, Path(made).relative_to(packages))
`);
writeFileSync(join(folder, "bytecode.zip"), python.FS.readFile("/bytecode.zip"));
