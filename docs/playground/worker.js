// Runs the generator, so that typing never waits for it. A message is a request of the page, and its answer.
import { loadPyodide } from "./pyodide/pyodide.mjs";

const bytes = async (name) => {
  const response = await fetch(name);
  if (!response.ok) throw new Error(`${name}: ${response.status}`);
  return response.arrayBuffer();
};
const text = async (name) => new TextDecoder().decode(await bytes(name));

async function start() {
  const [python, wheel, packages, bytecode, code, native] = await Promise.all([
    loadPyodide(),
    bytes("torchgen_lite.whl"),
    bytes("packages.zip"),
    bytes("bytecode.zip"),
    text("playground.py"),
    text("aten.yaml"),
  ]);
  const folder = python.runPython("import site; site.getsitepackages()[0]");
  for (const archive of [packages, wheel, bytecode]) python.unpackArchive(archive, "zip", { extractDir: folder });
  python.FS.mkdirTree("/project");
  python.FS.writeFile("/project/aten.yaml", native);
  python.FS.writeFile(`${folder}/playground.py`, code);
  const module = python.pyimport("playground");
  postMessage({ targets: JSON.parse(module.targets()) });
  return module.Playground("/project");
}

const playground = start();
playground.catch((error) => postMessage({ failed: String(error.message ?? error) }));

addEventListener("message", async ({ data }) => {
  const project = await playground;
  try {
    postMessage({ answer: JSON.parse(project.answer(JSON.stringify(data))), of: data });
  } catch (error) {
    postMessage({ answer: { crashed: String(error.message ?? error) }, of: data });
  }
});
